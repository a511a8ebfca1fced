package access

import "github.com/parley-run/parley"

// Door is what strangers get from an agent. What is not one of these counts as
// private.
type Door string

// The doors.
const (
	DoorPrivate   Door = "private"   // nothing: no session, no call of a model
	DoorProtected Door = "protected" // a way in, for who has a token
	DoorPublic    Door = "public"    // the rights of a guest
)

// Enter gives the role with which somebody talks to an agent: the one they have, or,
// where nobody gave them one, that of a guest if the door is public. Otherwise the
// agent is not there for them: [parley.CodeNotFound], after which a channel may
// offer a pairing code.
func Enter(d Door, role parley.Role) (parley.Role, error) {
	switch role {
	case parley.RoleOwner, parley.RoleUser, parley.RoleGuest:
		return role, nil
	}
	if role == "" && d == DoorPublic {
		return parley.RoleGuest, nil
	}
	return "", parley.Errorf(parley.CodeNotFound, "there is no such agent")
}

// Join gives the role of somebody who lets themselves in: a guest where the door is
// public, a user where it is protected and their token is right. Otherwise it is
// [parley.CodeForbidden], in the same words whatever the reason.
func Join(d Door, tokenOK bool) (parley.Role, error) {
	switch {
	case d == DoorPublic:
		return parley.RoleGuest, nil
	case d == DoorProtected && tokenOK:
		return parley.RoleUser, nil
	}
	return "", parley.Errorf(parley.CodeForbidden, "this agent is not open to everybody; ask an owner")
}
