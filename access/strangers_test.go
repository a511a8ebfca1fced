package access_test

import (
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

func TestEntering(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	w.add("anna", parley.RoleUser, "telegram:7")
	bot := w.bot("telegram")
	stranger, anna := w.speaks(bot, "9", "Nina"), w.speaks(bot, "7", "")
	for _, d := range []access.Door{access.DoorPrivate, access.DoorProtected, ""} {
		_, err := w.People.Enter(t.Context(), stranger, d)
		code(t, "a stranger at "+string(d), parley.CodeNotFound, err)
		known, err := w.People.Enter(t.Context(), anna, d)
		must(t, err)
		if known.Principal() != anna.Principal() {
			t.Errorf("Anna enters as %+v", known.Principal())
		}
	}
	if id, _ := w.userOf("telegram:9"); id != "" {
		t.Errorf("a user %q was made for somebody who is not let in", id)
	}
	_, err := w.People.Enter(t.Context(), access.Caller{}, access.DoorPublic)
	code(t, "nobody", parley.CodeUnauthorized, err)

	var all sync.WaitGroup // messages that come at once make one user
	for range 4 {
		all.Go(func() {
			c, err := w.People.Enter(t.Context(), stranger, access.DoorPublic)
			if err != nil || c.Principal().Role != parley.RoleGuest || c.Principal().User == "" || c.Namespace() != "telegram" {
				t.Errorf("entered as %+v (%v)", c.Principal(), err)
			}
		})
	}
	all.Wait()
	guest := w.speaks(bot, "9", "Nina")
	user, accounts, err := w.User(t.Context(), w.owner, guest.Principal().User)
	must(t, err)
	if user.Name != "Nina" || user.Role != parley.RoleGuest || len(accounts) != 1 {
		t.Errorf("the guest is %+v with %v", user, accounts)
	}
	if n := len(w.actions("user_added")); n != 3 {
		t.Errorf("%d users were added, want the owner, Anna and the guest", n)
	}
}

func TestJoining(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	bot := w.bot("telegram")
	create := func(n access.NewToken) string {
		t.Helper()
		secret, _, err := w.CreateToken(t.Context(), w.owner, n)
		must(t, err)
		return secret
	}
	good := create(access.NewToken{Kind: parley.TokenJoin, Agent: "main"})
	other := create(access.NewToken{Kind: parley.TokenJoin, Agent: "ops"})
	over := create(access.NewToken{Kind: parley.TokenJoin, Agent: "main", TTL: time.Minute})
	w.clock.Advance(time.Minute)
	_, want := access.Join(access.DoorPrivate, false)
	for i, c := range []struct {
		what  string
		door  access.Door
		token string
		role  parley.Role // "": forbidden
	}{
		{"private", access.DoorPrivate, good, ""},
		{"private without", access.DoorPrivate, "", ""},
		{"protected without", access.DoorProtected, "", ""},
		{"protected with a wrong one", access.DoorProtected, good + "x", ""},
		{"protected with another agent's", access.DoorProtected, other, ""},
		{"protected with an old one", access.DoorProtected, over, ""},
		{"protected with one of another kind", access.DoorProtected, w.token, ""},
		{"protected", access.DoorProtected, good, parley.RoleUser},
		{"public", access.DoorPublic, "", parley.RoleGuest},
		{"public with a wrong one", access.DoorPublic, "x", parley.RoleGuest},
	} {
		id := string(rune('a' + i))
		joined, err := w.People.Join(t.Context(), w.speaks(bot, id, "N"), "main", c.door, c.token)
		if c.role == "" {
			if parley.CodeOf(err) != parley.CodeForbidden || err.Error() != want.Error() {
				t.Errorf("%s: got %v, want %v", c.what, err, want)
			}
		} else if err != nil || joined.Principal().Role != c.role {
			t.Errorf("%s: got %+v (%v), want the role %s", c.what, joined.Principal(), err, c.role)
		}
		if _, role := w.userOf(parley.IdentityID("telegram:" + id)); role != c.role {
			t.Errorf("%s: stored with the role %q, want %q", c.what, role, c.role)
		}
	}
	// A guest becomes a user; who has more keeps it.
	guest, err := w.People.Join(t.Context(), w.speaks(bot, "i", ""), "main", access.DoorProtected, good)
	must(t, err)
	if p := guest.Principal(); p.Role != parley.RoleUser || p.User == "" {
		t.Errorf("a guest who joins is %+v", p)
	}
	owner, err := w.People.Join(t.Context(), w.owner, "main", access.DoorProtected, good)
	must(t, err)
	if owner.Principal() != w.owner.Principal() {
		t.Errorf("an owner who joins is %+v", owner.Principal())
	}
	_, err = w.People.Join(t.Context(), access.Caller{}, "main", access.DoorPublic, "")
	code(t, "nobody", parley.CodeUnauthorized, err)
	again := w.speaks(bot, "zz", "")
	for range 6 {
		_, err = w.People.Join(t.Context(), again, "main", access.DoorProtected, "guess")
		code(t, "a guess", parley.CodeForbidden, err)
	}
	_, err = w.People.Join(t.Context(), again, "main", access.DoorProtected, good)
	code(t, "after many guesses", parley.CodeRateLimited, err)
	w.wantNote("joined", "telegram:i", "main")
	if n := len(w.actions("joined")); n != 4 {
		t.Errorf("%d joined, want 4", n)
	}
}
