package access

import (
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// Caller is who asks, and with which credential. It does not change; the zero value
// is somebody without a credential, who may do nothing.
//
// What a credential adds to a principal is not stored with what the principal says:
// it counts while a request is decided, and a turn goes on with the principal alone.
type Caller struct {
	principal  parley.Principal
	identities []parley.IdentityID // the principal's, each once
	namespace  string              // of a channel's credential
}

// NewCaller makes the caller of a principal whose credential is its own: a token, a
// cookie, the local user. The identities are those of the principal's user; its own
// need not be among them.
func NewCaller(p parley.Principal, identities ...parley.IdentityID) Caller {
	all := make([]parley.IdentityID, 0, len(identities)+1)
	if p.Identity != "" { // else it is nobody's, whatever comes with it
		all = append(append(all, p.Identity), identities...)
		slices.Sort(all)
		all = slices.Compact(all)
	}
	return Caller{principal: p, identities: all}
}

// NewChannel makes the caller of a channel's credential, such as the token of a
// chat adapter. Its rights end at the namespace, which is the name of the channel.
// The principal is the one the channel speaks for, or the account of the channel
// itself, and is of the namespace either way: [parley.CodeForbidden] if it is not.
// A namespace that cannot be is [parley.CodeInvalid].
func NewChannel(namespace string, p parley.Principal, identities ...parley.IdentityID) (Caller, error) {
	if err := parley.SessionID(namespace + ":x").Validate(); err != nil || strings.Contains(namespace, ":") {
		return Caller{}, parley.Errorf(parley.CodeInvalid, "namespace %q cannot be one; it is the name of a channel, such as telegram", namespace)
	}
	if !within(namespace, p.Identity) {
		return Caller{}, otherSender(namespace)
	}
	c := NewCaller(p, identities...)
	c.namespace = namespace
	return c, nil
}

// Principal gives who asks.
func (c Caller) Principal() parley.Principal { return c.principal }

// Namespace gives the namespace of a channel's credential, or "". What a channel
// starts has an id in it.
func (c Caller) Namespace() string { return c.namespace }

// Person gives the person alone, without the channel that carried their words. What
// somebody asks for by name in a chat, such as to go on with another session, is the
// person's wish: the channel knows which chat they are in, and vouches for no more.
func (c Caller) Person() Caller {
	c.namespace = ""
	return c
}

// Is reports whether p is the caller: the principal of a turn or an input, as it was
// stored. An account that has since gone over to another user is not.
func (c Caller) Is(p parley.Principal) bool {
	return c.In([]parley.IdentityID{p.Identity}) && (p.User == "" || p.User == c.principal.User)
}

// In reports whether one of the caller's identities is among the participants.
func (c Caller) In(participants []parley.IdentityID) bool {
	return slices.ContainsFunc(c.identities, func(id parley.IdentityID) bool { return slices.Contains(participants, id) })
}

// known refuses who has no credential, and who has no role.
func (c Caller) known() error {
	if c.principal.Identity == "" {
		return parley.Errorf(parley.CodeUnauthorized, "a credential is needed; sign in, or send a token")
	}
	switch c.principal.Role {
	case parley.RoleOwner, parley.RoleUser, parley.RoleGuest:
		return nil
	}
	return parley.Errorf(parley.CodeForbidden, "role %q is not known, and has no rights", c.principal.Role)
}

// owner reports whether the caller may do everything.
func (c Caller) owner() bool { return c.principal.Role == parley.RoleOwner }

// Together reports whether what two principals say may be in one turn: the same
// user with the same role, or, where no user is known, the same account. Otherwise
// one would act with the rights of the other.
func Together(a, b parley.Principal) bool {
	if a.Role != b.Role || a.User != b.User {
		return false
	}
	return a.User != "" || a.Identity == b.Identity && a.Identity != ""
}

// within reports whether an id is in a namespace, which ends at a colon.
func within[ID ~string](namespace string, id ID) bool {
	return strings.HasPrefix(string(id), namespace+":")
}
