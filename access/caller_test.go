package access_test

import (
	"slices"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

func TestNewChannel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		namespace string
		identity  parley.IdentityID
		want      parley.Code
	}{
		{"telegram", anna, ""},
		{"telegram", "telegram:bot", ""},
		{"tele", anna, parley.CodeForbidden},
		{"telegram", webA, parley.CodeForbidden},
		{"telegram", "telegram", parley.CodeForbidden},
		{"telegram", "", parley.CodeForbidden},
		{"", ":7", parley.CodeInvalid},
		{"", anna, parley.CodeInvalid},
		{"telegram:7", "telegram:7:1", parley.CodeInvalid},
		{"tele gram", "tele gram:7", parley.CodeInvalid},
	}
	for _, test := range tests {
		c, err := access.NewChannel(test.namespace, parley.Principal{Identity: test.identity, Role: parley.RoleOwner})
		code(t, test.namespace+" with "+string(test.identity), test.want, err)
		if err != nil && (c.Namespace() != "" || c.Principal() != parley.Principal{}) {
			t.Errorf("refused, and got %+v", c)
		}
	}
}

func TestSender(t *testing.T) {
	t.Parallel()
	user, owner, telegram := person(parley.RoleUser), person(parley.RoleOwner), channel(t, parley.RoleGuest)
	tests := []struct {
		name     string
		caller   access.Caller
		declared parley.IdentityID
		sender   parley.IdentityID
		want     parley.Code
	}{
		{"nobody", access.Caller{}, anna, "", parley.CodeUnauthorized},
		{"a user, none", user, "", anna, ""},
		{"a user, the own", user, anna, anna, ""},
		{"a user, another of the own", user, webA, webA, ""},
		{"a user, somebody else", user, bert, "", parley.CodeForbidden},
		{"an owner, somebody else", owner, bert, "", parley.CodeForbidden},
		{"a channel, none", telegram, "", anna, ""},
		{"a channel, one of its people", telegram, bert, bert, ""},
		{"a channel, an account elsewhere", telegram, webA, "", parley.CodeForbidden},
		{"a channel, almost", telegram, "telegrams:7", "", parley.CodeForbidden},
		{"a channel, nothing that can be", telegram, "telegram:", "", parley.CodeInvalid},
		{"a person in a channel, somebody else", telegram.Person(), bert, "", parley.CodeForbidden},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := test.caller.Sender(test.declared)
			code(t, "sender", test.want, err)
			if got != test.sender {
				t.Errorf("got %q, want %q", got, test.sender)
			}
			as, err := test.caller.As(parley.Principal{Identity: test.declared, User: "bert", Role: parley.RoleOwner})
			code(t, "as", test.want, err)
			if as.Principal().Identity != test.sender {
				t.Errorf("speaks as %q, want %q", as.Principal().Identity, test.sender)
			}
		})
	}
}

// TestAs is about whose rights count for whom a caller speaks.
func TestAs(t *testing.T) {
	t.Parallel()
	claim := parley.Principal{Identity: bert, User: "bert", Role: parley.RoleOwner, Via: "channel"}
	c, err := channel(t, parley.RoleGuest).As(claim, "web:bert")
	if err != nil {
		t.Fatal(err)
	}
	if c.Principal() != claim || c.Namespace() != "telegram" || !c.In([]parley.IdentityID{"web:bert"}) || c.In([]parley.IdentityID{anna, webA}) {
		t.Errorf("the channel speaks as %+v", c)
	}
	claim.Identity = webA
	u, err := person(parley.RoleGuest).As(claim, bert)
	if err != nil {
		t.Fatal(err)
	}
	want := person(parley.RoleGuest).Principal()
	want.Identity = webA
	if u.Principal() != want || !u.In([]parley.IdentityID{anna}) || u.In([]parley.IdentityID{bert}) {
		t.Errorf("the guest speaks as %+v", u)
	}
}

// TestPerson: what the channel may, the person it speaks for may not by that.
func TestPerson(t *testing.T) {
	t.Parallel()
	somebodys := at(session(here, parley.SessionDirect))
	telegram := channel(t, parley.RoleGuest)
	code(t, "the channel", "", access.Check(telegram, access.OpResume, somebodys))
	code(t, "the person", parley.CodeNotFound, access.Check(telegram.Person(), access.OpResume, somebodys))
	owners := at(session(away, parley.SessionDirect))
	telegram = channel(t, parley.RoleOwner)
	code(t, "the channel", parley.CodeForbidden, access.Check(telegram, access.OpResume, owners))
	code(t, "the owner", "", access.Check(telegram.Person(), access.OpResume, owners))
}

func TestIs(t *testing.T) {
	t.Parallel()
	c := person(parley.RoleUser)
	for _, test := range []struct {
		name string
		p    parley.Principal
		want bool
	}{
		{"itself", c.Principal(), true},
		{"another account of the same user", parley.Principal{Identity: webA, User: "anna", Role: parley.RoleOwner}, true},
		{"before the account was linked", parley.Principal{Identity: webA}, true},
		{"when the account was somebody else's", parley.Principal{Identity: webA, User: "bert"}, false},
		{"an account that is not linked any more", parley.Principal{Identity: "cli:anna", User: "anna"}, false},
		{"somebody else", parley.Principal{Identity: bert, User: "bert"}, false},
		{"nobody", parley.Principal{}, false},
	} {
		if got := c.Is(test.p); got != test.want {
			t.Errorf("%s: got %t", test.name, got)
		}
	}
}

func TestTogether(t *testing.T) {
	t.Parallel()
	by := func(identity parley.IdentityID, user parley.UserID, role parley.Role) parley.Principal {
		return parley.Principal{Identity: identity, User: user, Role: role}
	}
	for _, test := range []struct {
		name string
		a, b parley.Principal
		want bool
	}{
		{"one user, two accounts", by(anna, "anna", parley.RoleUser), by(webA, "anna", parley.RoleUser), true},
		{"two users", by(anna, "anna", parley.RoleUser), by(bert, "bert", parley.RoleUser), false},
		{"a role that changed", by(anna, "anna", parley.RoleUser), by(anna, "anna", parley.RoleGuest), false},
		{"one account of nobody", by(anna, "", parley.RoleGuest), by(anna, "", parley.RoleGuest), true},
		{"two accounts of nobody", by(anna, "", parley.RoleGuest), by(bert, "", parley.RoleGuest), false},
		{"an account that was claimed meanwhile", by(anna, "", parley.RoleGuest), by(anna, "anna", parley.RoleGuest), false},
		{"nobody at all", parley.Principal{}, parley.Principal{}, false},
	} {
		if access.Together(test.a, test.b) != test.want || access.Together(test.b, test.a) != test.want {
			t.Errorf("%s: want %t both ways", test.name, test.want)
		}
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	user := person(parley.RoleUser)
	see, err := access.Visible(user)
	if err != nil || see.All || see.Namespace != "" || !slices.Equal(see.Identities, []parley.IdentityID{anna, webA}) {
		t.Errorf("a user sees %+v (%v)", see, err)
	}
	see.Identities[0] = bert // a list that was given away changes nothing
	if !user.In([]parley.IdentityID{anna}) || user.In([]parley.IdentityID{bert}) {
		t.Error("the caller changed")
	}
	narrow, err := access.VisibleIn(person(parley.RoleUser), "web")
	if err != nil || narrow.All || !narrow.Allows(away, []parley.IdentityID{anna}) || narrow.Allows(here, []parley.IdentityID{anna}) {
		t.Errorf("a user sees %+v of web (%v)", narrow, err)
	}
	wide, err := access.VisibleIn(person(parley.RoleOwner), "")
	if err != nil || !wide.Allows(here, nil) || !wide.Allows(away, nil) {
		t.Errorf("an owner sees %+v of any namespace (%v)", wide, err)
	}
	for _, namespace := range []string{"web", "tele"} {
		see, err := access.VisibleIn(channel(t, parley.RoleOwner), namespace)
		code(t, "a channel in "+namespace, parley.CodeForbidden, err)
		if !see.Empty() {
			t.Errorf("a channel sees %+v", see)
		}
	}
	for _, namespace := range []string{"telegram", ""} {
		own, err := access.VisibleIn(channel(t, parley.RoleGuest), namespace)
		if err != nil || !own.Allows(here, nil) || own.Allows(away, nil) {
			t.Errorf("a channel sees %+v of %q (%v)", own, namespace, err)
		}
	}
	for _, namespace := range []string{"web", ""} {
		see, err := access.VisibleIn(access.Caller{}, namespace)
		code(t, "nobody", parley.CodeUnauthorized, err)
		if !see.Empty() {
			t.Errorf("nobody sees %+v", see)
		}
	}
}

func TestDoors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		door      access.Door
		stranger  parley.Role // that of who has none; "": not let in
		join      parley.Role
		joinToken parley.Role
	}{
		{access.DoorPrivate, "", "", ""},
		{access.DoorProtected, "", "", parley.RoleUser},
		{access.DoorPublic, parley.RoleGuest, parley.RoleGuest, parley.RoleGuest},
		{"", "", "", ""},
		{"Public", "", "", ""},
	} {
		want := func(role parley.Role, code parley.Code) parley.Code {
			if role != "" {
				return ""
			}
			return code
		}
		got, err := access.Enter(test.door, "")
		code(t, string(test.door)+", a stranger", want(test.stranger, parley.CodeNotFound), err)
		if got != test.stranger {
			t.Errorf("%s: a stranger is %q", test.door, got)
		}
		for ok, role := range map[bool]parley.Role{false: test.join, true: test.joinToken} {
			got, err := access.Join(test.door, ok)
			code(t, string(test.door)+", joining", want(role, parley.CodeForbidden), err)
			if got != role {
				t.Errorf("%s: who joins is %q", test.door, got)
			}
		}
		for _, role := range []parley.Role{parley.RoleOwner, parley.RoleUser, parley.RoleGuest} {
			if got, err := access.Enter(test.door, role); err != nil || got != role {
				t.Errorf("%s: a known %s is %q (%v)", test.door, role, got, err)
			}
		}
		_, err = access.Enter(test.door, "admin")
		code(t, "a role nobody knows", parley.CodeNotFound, err)
	}
}
