package access

import (
	"slices"

	"github.com/parley-run/parley"
)

// Sender says who speaks in a request that declares a sender, or none (""). Without
// one it is the caller. A channel may name any account of its namespace, everybody
// else only their own: also an owner does not speak for others.
// [parley.CodeForbidden] if it is somebody else, [parley.CodeInvalid] if it cannot
// be an identity.
func (c Caller) Sender(declared parley.IdentityID) (parley.IdentityID, error) {
	if err := c.known(); err != nil {
		return "", err
	}
	if declared == "" {
		return c.principal.Identity, nil
	}
	if err := declared.Validate(); err != nil {
		return "", err
	}
	switch {
	case c.namespace != "" && !within(c.namespace, declared):
		return "", otherSender(c.namespace)
	case c.namespace == "" && !slices.Contains(c.identities, declared):
		return "", parley.Errorf(parley.CodeForbidden, "this credential does not speak for %q; leave the sender out", declared)
	}
	return declared, nil
}

// As gives the caller that speaks for p under the same credential, by the rule of
// [Caller.Sender]. For a channel, p is the account it named, with the user and the
// role that this account has, and the identities are those of that user. For others
// p's identity alone counts: whichever of their accounts they name, they remain who
// they are.
func (c Caller) As(p parley.Principal, identities ...parley.IdentityID) (Caller, error) {
	id, err := c.Sender(p.Identity)
	switch {
	case err != nil:
		return Caller{}, err
	case c.namespace != "" && p.Identity != "":
		return NewChannel(c.namespace, p, identities...)
	}
	c.principal.Identity = id
	return c, nil
}

func otherSender(namespace string) error {
	return parley.Errorf(parley.CodeForbidden, "this credential speaks for senders of %s: alone", namespace)
}
