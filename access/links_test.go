package access_test

import (
	"slices"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// link proves that two accounts are of one person: the first shows the code.
func link(t testing.TB, w *world, shows, enters access.Caller) parley.User {
	t.Helper()
	c, err := w.LinkCode(t.Context(), shows)
	must(t, err)
	user, err := w.Link(t.Context(), enters, c)
	must(t, err)
	return user
}

// session stores a session that an account takes part in.
func (w *world) session(id parley.SessionID, account parley.IdentityID) {
	w.t.Helper()
	_, err := w.store.Commit(w.t.Context(), parley.Batch{At: w.clock.Now(), Sessions: []parley.SessionChange{{
		Session: id,
		Create:  &parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Type: parley.SessionDirect, Source: parley.Source{Kind: "test"}},
		Events:  []parley.NewEvent{{Body: &parley.ParticipantChanged{Identity: account}}},
	}}})
	must(w.t, err)
}

// sees gives the sessions that a caller sees, sorted.
func (w *world) sees(c access.Caller) (ids []parley.SessionID) {
	w.t.Helper()
	v, err := access.Visible(c)
	must(w.t, err)
	page, err := w.store.Sessions(w.t.Context(), v, parley.SessionQuery{})
	must(w.t, err)
	for _, s := range page.Sessions {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestLinkAndUnlink: while two accounts are linked, both see what each took part in;
// before and after, each sees its own, and nothing is lost.
func TestLinkAndUnlink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	const chat, web = parley.IdentityID("telegram:7"), parley.IdentityID("user:anna")
	w.add("tele", parley.RoleGuest, chat)
	w.add("anna", parley.RoleUser, "")
	w.session("telegram:one", chat)
	w.session("web:two", web)
	want := func(when string, account parley.IdentityID, sessions ...parley.SessionID) {
		t.Helper()
		if got := w.sees(w.as(account)); !slices.Equal(got, sessions) {
			t.Errorf("%s, %s sees %v, want %v", when, account, got, sessions)
		}
	}
	want("before", chat, "telegram:one")
	want("before", web, "web:two")
	token := w.tokenFor(chat)

	user := link(t, w, w.as(web), w.speaks(w.bot("telegram"), "7", "Anna"))
	if user.ID != "anna" || user.Role != parley.RoleUser {
		t.Errorf("the user is %+v, want the one with the greater role", user)
	}
	want("linked", chat, "telegram:one", "web:two")
	want("linked", web, "telegram:one", "web:two")
	if p := w.signedIn(token).Caller.Principal(); p.User != "anna" || p.Role != parley.RoleUser {
		t.Errorf("a token from before is %+v", p)
	}
	if _, err := w.store.User(t.Context(), "tele"); parley.CodeOf(err) != parley.CodeNotFound {
		t.Errorf("the user without accounts: %v", err)
	}
	w.session("telegram:three", chat)

	must(t, w.Unlink(t.Context(), w.as(web), chat))
	want("unlinked", chat, "telegram:one", "telegram:three")
	want("unlinked", web, "web:two")
	if id, role := w.userOf(chat); id == "" || id == "anna" || role != parley.RoleUser {
		t.Errorf("the account is of %q with the role %q", id, role)
	}
	if p := w.signedIn(token).Caller.Principal(); p.Identity != chat {
		t.Errorf("the token is %+v", p)
	}
	w.wantNote("linked", chat, "anna")
	w.wantNote("unlinked", web, string(chat))
}

func TestLinkIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	anna := w.add("anna", parley.RoleUser, "telegram:7")
	telegram, slack := w.bot("telegram"), w.bot("slack")
	one, two := w.speaks(telegram, "1", ""), w.speaks(slack, "2", "")
	show := func(by access.Caller) string {
		t.Helper()
		c, err := w.LinkCode(t.Context(), by)
		must(t, err)
		return c
	}
	enter := func(what string, by access.Caller, typed string, want parley.Code) {
		t.Helper()
		_, err := w.Link(t.Context(), by, typed)
		code(t, what, want, err)
	}
	enter("two strangers", two, show(one), parley.CodeForbidden)
	enter("oneself", anna, show(anna), parley.CodeConflict)
	enter("nobody", access.Caller{}, show(anna), parley.CodeUnauthorized)
	pair, err := w.PairCode(t.Context(), "telegram:3")
	must(t, err)
	enter("a pairing code", anna, pair, parley.CodeNotFound)
	_, err = w.Pair(t.Context(), w.owner, show(anna), "", "")
	code(t, "a link code as a pairing code", parley.CodeNotFound, err)

	// A channel proves its own accounts. It does not bring along an owner, or what
	// the user has elsewhere.
	link(t, w, anna, two) // Anna has telegram:7 and slack:2
	inChat := w.speaks(slack, "2", "")
	_, err = w.LinkCode(t.Context(), inChat)
	code(t, "a channel shows more than its own", parley.CodeForbidden, err)
	bert := w.add("bert", parley.RoleUser, "")
	enter("a channel brings more than its own", inChat, show(bert), parley.CodeForbidden)
	w.add("olga", parley.RoleOwner, "telegram:4")
	_, err = w.LinkCode(t.Context(), w.speaks(telegram, "4", ""))
	code(t, "a channel shows an owner", parley.CodeForbidden, err)
	link(t, w, w.owner, one) // the owner, signed in, takes a chat account along
	if id, role := w.userOf("telegram:1"); id != "owner" || role != parley.RoleOwner {
		t.Errorf("the owner's chat is of %q, %q", id, role)
	}
}

func TestUnlinkIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	anna := w.add("anna", parley.RoleUser, "telegram:7")
	bert := w.add("bert", parley.RoleUser, "telegram:8")
	slack, telegram := w.bot("slack"), w.bot("telegram")
	link(t, w, anna, w.speaks(slack, "A", ""))
	link(t, w, w.owner, w.speaks(slack, "O", ""))
	anna = w.as("telegram:7")
	for _, c := range []struct {
		what string
		by   access.Caller
		id   parley.IdentityID
		want parley.Code
	}{
		{"nobody", access.Caller{}, "slack:A", parley.CodeUnauthorized},
		{"another's", bert, "slack:A", parley.CodeNotFound},
		{"what is not there", anna, "slack:Z", parley.CodeNotFound},
		{"the only one", bert, "telegram:8", parley.CodeConflict},
		{"the data folder's", w.owner, "local:owner", parley.CodeConflict},
		{"another account, in a chat", w.speaks(slack, "A", ""), "telegram:7", parley.CodeForbidden},
		{"another's, as an owner in a chat", w.speaks(slack, "O", ""), "slack:A", parley.CodeForbidden},
		{"the account they write with", w.speaks(telegram, "7", ""), "telegram:7", ""},
		{"an owner's chat", w.owner, "slack:O", ""},
	} {
		code(t, "unlink "+c.what, c.want, w.Unlink(t.Context(), c.by, c.id))
	}
	if _, role := w.userOf("slack:O"); role != parley.RoleUser {
		t.Errorf("unlinked from an owner, it has the role %q, want user", role)
	}
	link(t, w, bert, w.speaks(slack, "B", ""))
	must(t, w.Unlink(t.Context(), w.owner, "slack:B")) // an owner, for others
	if id, _ := w.userOf("slack:B"); id == "bert" || id == "" {
		t.Errorf("slack:B is of %q", id)
	}
}

func TestPairing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	anna := w.add("anna", parley.RoleUser, "telegram:7")
	bot := w.bot("telegram")
	w.speaks(bot, "9", "Nina")
	c, err := w.PairCode(t.Context(), "telegram:9")
	must(t, err)
	for what, by := range map[string]access.Caller{"a user": anna, "a channel": bot} {
		_, err := w.Pair(t.Context(), by, c, "", "")
		code(t, "paired by "+what, parley.CodeForbidden, err)
	}
	_, err = w.Pair(t.Context(), w.owner, c, "king", "")
	code(t, "a role that is none", parley.CodeInvalid, err)
	user, err := w.Pair(t.Context(), w.owner, c, "", "")
	must(t, err)
	if user.Role != parley.RoleUser || user.Name != "Nina" {
		t.Errorf("got %+v", user)
	}
	if p := w.speaks(bot, "9", "Nina").Principal(); p.User != user.ID || p.Role != parley.RoleUser {
		t.Errorf("in the chat it is %+v", p)
	}
	_, err = w.PairCode(t.Context(), "telegram:9")
	code(t, "a code for somebody known", parley.CodeConflict, err)
	_, err = w.PairCode(t.Context(), "x")
	code(t, "a code for nobody", parley.CodeInvalid, err)
	for range 3 {
		c, err = w.PairCode(t.Context(), "telegram:10")
		must(t, err)
	}
	_, err = w.PairCode(t.Context(), "telegram:10")
	code(t, "asking too often", parley.CodeRateLimited, err)
	guest, err := w.Pair(t.Context(), w.owner, c, parley.RoleGuest, "Visitor")
	must(t, err)
	if guest.Role != parley.RoleGuest || guest.Name != "Visitor" {
		t.Errorf("got %+v", guest)
	}
	w.wantNote("paired", "local:owner", "telegram:10")
}
