package access_test

import (
	"slices"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// linked makes a configuration with one person.
func linked(accounts ...parley.IdentityID) access.PeopleConfig {
	return access.PeopleConfig{Links: map[string][]parley.IdentityID{"anna": accounts}}
}

// wantOwners fails the test unless the accounts belong to these users.
func (w *world) wantOwners(when string, want map[parley.IdentityID]parley.UserID) {
	w.t.Helper()
	for account, user := range want {
		if got, _ := w.userOf(account); got != user {
			w.t.Errorf("%s, %s is of %q, want %q", when, account, got, user)
		}
	}
}

// TestConfiguredLinks are there while they are configured, and leave no trace after.
func TestConfiguredLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	w.add("one", parley.RoleUser, "telegram:7")
	w.add("two", parley.RoleGuest, "slack:U1")
	link(t, w, w.as("slack:U1"), w.speaks(w.bot("irc"), "x", "")) // by proof: irc:x is of two
	before := map[parley.IdentityID]parley.UserID{"telegram:7": "one", "slack:U1": "two", "irc:x": "two", "web:new": ""}
	during := map[parley.IdentityID]parley.UserID{"telegram:7": "one", "slack:U1": "one", "irc:x": "one", "web:new": "one"}
	w.wantOwners("before", before)
	cfg := linked("telegram:7", "slack:U1", "web:new")
	for range 2 { // the second start finds it done
		w.start(cfg)
		w.wantOwners("linked", during)
	}
	if n := len(w.actions("linked")); n != 4 {
		t.Errorf("%d lines about links, want one by proof and three by configuration", n)
	}
	w.start(cfg)
	code(t, "unlink what is configured", parley.CodeConflict, w.Unlink(t.Context(), w.owner, "slack:U1"))
	accounts, err := w.Identities(t.Context(), w.owner, "", 0)
	must(t, err)
	ids := make([]parley.IdentityID, len(accounts))
	for i := range accounts {
		ids[i] = accounts[i].ID
	}
	if want := []parley.IdentityID{"irc:bot", "irc:x", "local:owner", "slack:U1", "telegram:7", "web:new"}; !slices.Equal(ids, want) {
		t.Errorf("the accounts are %v, want %v", ids, want)
	}
	if _, left, err := w.User(t.Context(), w.owner, "two"); err != nil || len(left) > 0 {
		t.Errorf("the user without accounts has %v (%v)", left, err)
	}
	w.start(linked("telegram:7", "web:new")) // slack:U1 is taken out
	w.wantOwners("partly", map[parley.IdentityID]parley.UserID{"telegram:7": "one", "slack:U1": "two", "irc:x": "two", "web:new": "one"})
	w.start(access.PeopleConfig{})
	w.wantOwners("after", before)
	w.wantNote("unlinked", "", "web:new")
}

// TestConfiguredOwner: the owner's accounts, while they are configured.
func TestConfiguredOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	w.add("anna", parley.RoleUser, "telegram:7")
	w.add("olaf", parley.RoleUser, "irc:o")
	w.start(access.PeopleConfig{
		Owner: []parley.IdentityID{"telegram:7", "slack:O"},
		Links: map[string][]parley.IdentityID{"me": {"irc:o", "slack:O"}}, // the owner's, though another is first
	})
	owners := map[parley.IdentityID]parley.UserID{"local:owner": "owner", "telegram:7": "owner", "slack:O": "owner", "irc:o": "owner"}
	w.wantOwners("configured", owners)
	if p := w.speaks(w.bot("slack"), "O", "").Principal(); p.Role != parley.RoleOwner {
		t.Errorf("in the chat it is %+v", p)
	}
	w.start(access.PeopleConfig{})
	w.wantOwners("after", map[parley.IdentityID]parley.UserID{"local:owner": "owner", "telegram:7": "anna", "slack:O": "", "irc:o": "olaf"})
	if _, role := w.userOf("telegram:7"); role != parley.RoleUser {
		t.Errorf("Anna is %q again, want a user", role)
	}
	people := access.NewPeople(w.store, access.PeopleConfig{Owner: []parley.IdentityID{"nonsense"}})
	defer people.Close()
	_, err := people.Setup(t.Context())
	code(t, "an account that is none", parley.CodeInvalid, err)
}

// TestConfiguredStrangers: who is linked to somebody that is let in, is let in.
func TestConfiguredStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, linked("telegram:7", "slack:U1"))
	w.wantOwners("before", map[parley.IdentityID]parley.UserID{"telegram:7": "", "slack:U1": ""})
	c, err := w.PairCode(t.Context(), "slack:U1")
	must(t, err)
	user, err := w.Pair(t.Context(), w.owner, c, "", "Anna")
	must(t, err)
	w.wantOwners("paired", map[parley.IdentityID]parley.UserID{"telegram:7": user.ID, "slack:U1": user.ID})
	must(t, w.RemoveUser(t.Context(), w.owner, user.ID))
	w.wantOwners("removed", map[parley.IdentityID]parley.UserID{"telegram:7": "", "slack:U1": ""})
	w.add("anna", parley.RoleUser, "telegram:7") // it was linked to slack:U1 before, and is her own
	w.start(access.PeopleConfig{})
	w.wantOwners("let in again", map[parley.IdentityID]parley.UserID{"telegram:7": "anna", "slack:U1": ""})
}

// TestProofOutlivesConfiguration: accounts that were proven to be of one user remain.
func TestProofOutlivesConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, linked("telegram:7", "slack:U1"))
	w.add("anna", parley.RoleUser, "telegram:7")
	w.wantOwners("configured", map[parley.IdentityID]parley.UserID{"telegram:7": "anna", "slack:U1": "anna"})
	link(t, w, w.as("telegram:7"), w.speaks(w.bot("irc"), "x", "")) // irc:x by proof
	w.add("web", parley.RoleGuest, "web:a")
	link(t, w, w.as("slack:U1"), w.as("web:a")) // slack:U1, which is here by configuration, and web:a
	w.start(access.PeopleConfig{})
	w.wantOwners("without it", map[parley.IdentityID]parley.UserID{"telegram:7": "anna", "irc:x": "anna", "slack:U1": "anna", "web:a": "anna"})
	must(t, w.Unlink(t.Context(), w.as("telegram:7"), "slack:U1"))
	if id, _ := w.userOf("slack:U1"); id == "anna" || id == "" {
		t.Errorf("unlinked, slack:U1 is of %q", id)
	}
}

// TestUnlinkedStays: an account that came along with one that is configured is unlinked
// for good.
func TestUnlinkedStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	w.add("anna", parley.RoleUser, "telegram:7")
	link(t, w, w.as("telegram:7"), w.speaks(w.bot("irc"), "x", ""))
	cfg := access.PeopleConfig{Owner: []parley.IdentityID{"telegram:7"}}
	w.start(cfg)
	w.wantOwners("configured", map[parley.IdentityID]parley.UserID{"telegram:7": "owner", "irc:x": "owner"})
	must(t, w.Unlink(t.Context(), w.owner, "irc:x"))
	own, role := w.userOf("irc:x")
	if own == "owner" || own == "anna" || role != parley.RoleUser {
		t.Errorf("irc:x is of %q with the role %q", own, role)
	}
	w.start(cfg)
	w.wantOwners("after a restart", map[parley.IdentityID]parley.UserID{"telegram:7": "owner", "irc:x": own})
}

// TestWaitingUsers: who goes back to a former user gets no rights back that were taken
// away meanwhile.
func TestWaitingUsers(t *testing.T) {
	t.Parallel()
	cfg := linked("telegram:7", "slack:U1")
	w := newWorld(t, access.PeopleConfig{})
	w.add("one", parley.RoleUser, "telegram:7")
	w.add("two", parley.RoleUser, "slack:U1")
	w.start(cfg)
	_, err := w.SetRole(t.Context(), w.owner, "one", parley.RoleGuest)
	must(t, err)
	w.start(cfg)
	if id, role := w.userOf("slack:U1"); id != "one" || role != parley.RoleGuest {
		t.Errorf("slack:U1 is of %q with the role %q", id, role)
	}
	w.start(access.PeopleConfig{})
	if id, role := w.userOf("slack:U1"); id != "two" || role != parley.RoleGuest {
		t.Errorf("back at %q, it has the role %q, want what was left of it", id, role)
	}
	w.start(cfg)
	must(t, w.RemoveUser(t.Context(), w.owner, "one"))
	for range 2 {
		w.wantOwners("removed", map[parley.IdentityID]parley.UserID{"telegram:7": "", "slack:U1": ""})
		w.start(cfg)
	}
	w.start(access.PeopleConfig{})
	w.wantOwners("removed", map[parley.IdentityID]parley.UserID{"telegram:7": "", "slack:U1": ""})
}
