package access

import (
	"slices"

	"github.com/parley-run/parley"
)

// Visible gives what lists, searches and subscriptions show the caller: an owner
// everything, others the sessions that one of their identities takes part in, a
// channel those of its namespace, whoever it speaks for. It sees exactly the
// sessions that [Check] lets the caller read, except those a channel is routed to
// elsewhere; see [VisibleOn].
//
// Who has no credential is [parley.CodeUnauthorized]; the visibility that comes with
// an error sees nothing.
func Visible(c Caller) (parley.Visibility, error) {
	if err := c.known(); err != nil {
		return parley.Visibility{}, err
	}
	switch {
	case c.namespace != "":
		return parley.Visibility{All: true, Namespace: c.namespace}, nil
	case c.owner():
		return parley.SeeAll(), nil
	}
	return parley.SeeAs(slices.Clone(c.identities)...), nil
}

// VisibleIn is [Visible] narrowed to one namespace; "" narrows nothing. Another
// than its own is [parley.CodeForbidden] for a channel.
func VisibleIn(c Caller, namespace string) (parley.Visibility, error) {
	v, err := Visible(c)
	switch {
	case err != nil || namespace == "":
		return v, err
	case c.namespace != "" && namespace != c.namespace:
		return parley.Visibility{}, otherNamespace(c.namespace)
	}
	v.Namespace = namespace
	return v, nil
}

// VisibleOn gives the visibility with which the target, once checked, is read. It
// is that of lists, except for a session that a channel is routed to elsewhere.
func VisibleOn(c Caller, t Target) (parley.Visibility, error) {
	v, err := Visible(c)
	if err == nil && c.namespace != "" && t.Routed && t.Session != nil {
		v.Namespace = t.Session.ID.Namespace()
	}
	return v, err
}
