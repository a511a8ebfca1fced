package access_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/parleytest"
	"github.com/parley-run/parley/sqlite"
)

// world is people over a real store.
type world struct {
	*access.People
	t     testing.TB
	dir   string
	store *sqlite.Store
	clock *parleytest.Clock
	token string // the owner's
	owner access.Caller
}

func newWorld(t testing.TB, cfg access.PeopleConfig) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), clock: parleytest.NewClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))}
	var err error
	if w.store, err = sqlite.Open(t.Context(), filepath.Join(w.dir, "parley.db"), sqlite.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, w.store.Close()) })
	w.token = w.start(cfg)
	if w.token == "" {
		t.Fatal("a fresh store has no token for the owner")
	}
	if w.owner, err = w.Local(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// start makes people over the store, as a program that starts does.
func (w *world) start(cfg access.PeopleConfig) (token string) {
	w.t.Helper()
	if w.People != nil {
		w.Close()
	}
	cfg.Clock = w.clock
	w.People = access.NewPeople(w.store, cfg)
	w.t.Cleanup(w.Close)
	token, err := w.Setup(w.t.Context())
	must(w.t, err)
	return token
}

// add makes a user with an account, and gives the caller of a token of theirs.
func (w *world) add(id parley.UserID, role parley.Role, account parley.IdentityID) access.Caller {
	w.t.Helper()
	user, err := w.AddUser(w.t.Context(), w.owner, access.NewUser{ID: id, Name: string(id), Role: role, Identity: account})
	must(w.t, err)
	if account == "" {
		account = "user:" + parley.IdentityID(user.ID)
	}
	return w.as(account)
}

// as gives the caller of a fresh token of an account.
func (w *world) as(account parley.IdentityID) access.Caller {
	w.t.Helper()
	return w.signedIn(w.tokenFor(account)).Caller
}

func (w *world) tokenFor(account parley.IdentityID) string {
	w.t.Helper()
	secret, _, err := w.CreateToken(w.t.Context(), w.owner, access.NewToken{For: account})
	must(w.t, err)
	return secret
}

func (w *world) signedIn(token string) access.Credential {
	w.t.Helper()
	cred, err := w.Authenticate(w.t.Context(), token, "token")
	must(w.t, err)
	return cred
}

// bot is the caller of a channel's token.
func (w *world) bot(namespace string) access.Caller {
	w.t.Helper()
	secret, _, err := w.CreateToken(w.t.Context(), w.owner, access.NewToken{Kind: parley.TokenChannel, Namespace: namespace})
	must(w.t, err)
	return w.signedIn(secret).Caller
}

// speaks is the caller for whom the channel speaks.
func (w *world) speaks(bot access.Caller, id, name string) access.Caller {
	w.t.Helper()
	c, err := w.Speaker(w.t.Context(), bot, parley.Sender{ID: id, Name: name}, bot.Namespace())
	must(w.t, err)
	return c
}

// userOf gives who an account belongs to: the user and the role.
func (w *world) userOf(account parley.IdentityID) (parley.UserID, parley.Role) {
	w.t.Helper()
	i, err := w.store.Identity(w.t.Context(), account)
	if parley.CodeOf(err) == parley.CodeNotFound {
		return "", ""
	}
	must(w.t, err)
	if i.User == "" {
		return "", ""
	}
	u, err := w.store.User(w.t.Context(), i.User)
	must(w.t, err)
	return u.ID, u.Role
}

// actions gives what the audit says of late, the oldest first.
func (w *world) actions(action string) []parley.AuditEntry {
	w.t.Helper()
	w.Close() // so that all is written
	list, err := w.Audit(w.t.Context(), w.owner, parley.AuditQuery{Action: action, Limit: parley.MaxPageSize})
	must(w.t, err)
	slices.Reverse(list)
	return list
}

// wantNote fails the test unless the newest line of an action is about a subject.
func (w *world) wantNote(action string, actor parley.IdentityID, subject string) {
	w.t.Helper()
	lines := w.actions(action)
	if len(lines) == 0 {
		w.t.Errorf("the audit has no %s", action)
		return
	}
	if last := lines[len(lines)-1]; last.Actor != actor || last.Subject != subject {
		w.t.Errorf("%s: got %+v, want actor %q and subject %q", action, last, actor, subject)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
