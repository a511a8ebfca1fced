package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/route"
	"github.com/parley-run/parley/sqlite"
)

// TestMain runs the tests and finds goroutines they left behind.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		if err := runChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(historyDir); dir != "" {
		if err := runHistory(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// stillClock is a clock that stands still.
type stillClock struct{}

func (stillClock) Now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
func (stillClock) AfterFunc(time.Duration, func()) func() bool {
	panic("nothing here waits")
}

// house is a store, and the way into it.
type house struct {
	t     *testing.T
	store parley.Store
	keys  *engine.Keys
}

func newHouse(t *testing.T) house {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return house{t, store, engine.NewKeys(store, stillClock{})}
}

// resolve routes a message.
func (h house) resolve(cfg route.Config, req route.Request) route.Resolution {
	h.t.Helper()
	router, err := route.New(cfg)
	if err != nil {
		h.t.Fatal(err)
	}
	to, err := router.Resolve(req)
	if err != nil {
		h.t.Fatal(err)
	}
	return to
}

func opening(to route.Resolution, by parley.IdentityID) engine.OpenRequest {
	return engine.OpenRequest{
		To: to, By: parley.Principal{Identity: by, Role: parley.RoleUser, Via: "channel"},
		Session: parley.NewSession{Agent: parley.AgentSnapshot{Name: to.Agent}, Source: parley.Source{Kind: "channel"}, Type: parley.SessionDirect},
	}
}

func (h house) open(to route.Resolution, by parley.IdentityID) engine.Opened {
	h.t.Helper()
	opened, err := h.keys.Open(h.t.Context(), opening(to, by))
	if err != nil {
		h.t.Fatal(err)
	}
	return opened
}

func direct(sender string) route.Request {
	return route.Request{Inbound: parley.Inbound{
		Channel: "telegram", ChatType: "direct", ChatID: sender, Sender: parley.Sender{ID: sender},
	}}
}

func inGroup(chat, sender string) route.Request {
	return route.Request{Inbound: parley.Inbound{
		Channel: "telegram", ChatType: "group", ChatID: chat, Sender: parley.Sender{ID: sender},
	}}
}

// TestManyOpenTheSameNewKey is the race for a conversation that is not there yet.
func TestManyOpenTheSameNewKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	to := h.resolve(route.Config{}, direct("7"))
	const people = 1000
	var created sync.Map
	var wait sync.WaitGroup
	ids := make([]parley.SessionID, people)
	for i := range ids {
		wait.Go(func() {
			opened, err := h.keys.Open(t.Context(), opening(to, "telegram:7"))
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = opened.Session.ID
			if opened.Created {
				created.Store(i, true)
			}
		})
	}
	wait.Wait()
	if slices.Sort(ids); ids[0] == "" || ids[0] != ids[people-1] {
		t.Errorf("they got different sessions: %s and %s", ids[0], ids[people-1])
	}
	made := 0
	created.Range(func(any, any) bool { made++; return true })
	if made != 1 {
		t.Errorf("%d made the session", made)
	}
	page, err := h.store.Sessions(t.Context(), parley.SeeAll(), parley.SessionQuery{IncludeInactive: true})
	if err != nil || len(page.Sessions) != 1 {
		t.Errorf("there are %d sessions, %v", len(page.Sessions), err)
	}
	s := page.Sessions[0]
	if s.Key != to.Key || s.ID.Namespace() != "telegram" || s.LastSeq != 2 {
		t.Errorf("the session is %+v", s)
	}
	if who, err := h.store.Participants(t.Context(), parley.SeeAll(), s.ID); err != nil || !slices.Equal(who, []parley.IdentityID{"telegram:7"}) {
		t.Errorf("participants are %v, %v", who, err)
	}
	for _, alias := range to.Claims {
		entry, err := h.store.Lookup(t.Context(), parley.SeeAll(), string(alias))
		if err != nil || entry.Current != s.ID || entry.Scope == nil {
			t.Errorf("alias %s leads to %+v, %v", alias, entry, err)
		}
	}
}

func TestAliasClashIsToldOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	// The same chat id as a direct chat of two accounts: the alias without the
	// account belongs to who came first.
	first := h.resolve(route.Config{}, direct("7"))
	second := direct("7")
	second.Inbound.Account = "other"
	to := h.resolve(route.Config{}, second)
	if clashes := h.open(first, "telegram:7").Clashes; len(clashes) > 0 {
		t.Errorf("the first owner is told of %v", clashes)
	}
	shared := slices.DeleteFunc(slices.Clone(to.Claims), func(a parley.Alias) bool { return !slices.Contains(first.Claims, a) })
	opened := h.open(to, "telegram:7")
	var told []parley.Alias
	for _, c := range opened.Clashes {
		if c.Owner != first.Key {
			t.Errorf("alias %s is said to be of %s", c.Alias, c.Owner)
		}
		told = append(told, c.Alias)
	}
	if slices.Sort(told); len(shared) == 0 || !slices.Equal(told, slices.Sorted(slices.Values(shared))) {
		t.Errorf("told of %v, want %v", told, shared)
	}
	if again := h.open(to, "telegram:7"); again.Created || len(again.Clashes) > 0 || again.Session.ID != opened.Session.ID {
		t.Errorf("opened again: %+v", again)
	}
}

// legacy stores a session as an importer does: under a readable key that the
// alias of today names.
func (h house) legacy(id parley.SessionID, alias parley.Alias, scope *parley.Scope, people ...parley.IdentityID) {
	h.t.Helper()
	key := parley.Key("legacy_" + string(id))
	events := []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: parley.Source{Kind: "import"}}}}
	for _, p := range people {
		events = append(events, parley.NewEvent{Body: &parley.ParticipantChanged{Identity: p}})
	}
	_, err := h.store.Commit(h.t.Context(), parley.Batch{
		At: stillClock{}.Now(),
		Sessions: []parley.SessionChange{{
			Session: id, Events: events,
			Create: &parley.NewSession{Key: key, Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "import"}, Type: parley.SessionDirect},
		}},
		Keys:    []parley.KeyChange{{Key: key, Session: id, Scope: scope}},
		Aliases: []parley.AliasChange{{Alias: alias, Key: key}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// promoting gives an alias through which a message's older session is found.
func promoting(t *testing.T, to route.Resolution) parley.Alias {
	t.Helper()
	for _, a := range to.Aliases {
		if ok, _ := to.MayPromote(route.Found{Alias: a, Scope: &to.Scope}); ok {
			return a
		}
	}
	t.Fatalf("no alias of %v promotes", to.Aliases)
	return ""
}

func TestPromotion(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	to := h.resolve(route.Config{}, direct("7"))
	alias := promoting(t, to)
	h.legacy("import:old", alias, &to.Scope, "telegram:7")
	var wait sync.WaitGroup
	var promoted sync.Map
	for i := range 50 {
		wait.Go(func() {
			opened, err := h.keys.Open(t.Context(), opening(to, "telegram:7"))
			if err != nil || opened.Session.ID != "import:old" || opened.Created {
				t.Errorf("got %+v, %v", opened, err)
			}
			if opened.Promoted != "" {
				promoted.Store(i, opened.Promoted)
			}
		})
	}
	wait.Wait()
	count := 0
	promoted.Range(func(_, a any) bool { count++; return a == alias })
	if count != 1 {
		t.Errorf("promoted %d times", count)
	}
	events, err := h.store.Events(t.Context(), parley.SeeAll(), "import:old", parley.EventQuery{Types: []parley.EventType{parley.EventPromoted}})
	if err != nil || len(events) != 1 {
		t.Fatalf("events say %v, %v", events, err)
	}
	if s, err := h.store.Session(t.Context(), parley.SeeAll(), "import:old"); err != nil || s.Key != to.Key {
		t.Errorf("the session has the key %s, %v", s.Key, err)
	}
	for _, name := range append([]parley.Alias{"legacy_import:old"}, to.Claims...) {
		if entry, err := h.store.Lookup(t.Context(), parley.SeeAll(), string(name)); err != nil || entry.Current != "import:old" {
			t.Errorf("%s leads to %+v, %v", name, entry, err)
		}
	}
	// Another account in the same chat finds nothing to inherit.
	other := direct("7")
	other.Inbound.Account = "other"
	if opened := h.open(h.resolve(route.Config{}, other), "telegram:7"); !opened.Created {
		t.Errorf("another account got %+v", opened)
	}
	body, err := events[0].Decode()
	if p, ok := body.(*parley.Promoted); err != nil || !ok || p.Key != to.Key || p.Alias != alias {
		t.Errorf("the event is %+v, %v", body, err)
	}
}

// TestFirstSpeakerDoesNotInheritTheGroup has a group whose members get a
// conversation each, and an older one that all of them shared.
func TestFirstSpeakerDoesNotInheritTheGroup(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	shared := h.resolve(route.Config{}, inGroup("-100", "7"))
	if !shared.Shared {
		t.Fatal("a group is not shared")
	}
	h.legacy("import:group", promoting(t, shared), &shared.Scope, "telegram:7", "telegram:8")
	perUser := route.Config{GroupSessionsPerUser: true}
	seen := map[parley.SessionID]bool{"import:group": true}
	for _, sender := range []string{"7", "8"} {
		to := h.resolve(perUser, inGroup("-100", sender))
		opened := h.open(to, parley.IdentityID("telegram:"+sender))
		if !opened.Created || opened.Promoted != "" || seen[opened.Session.ID] {
			t.Errorf("%s got %+v", sender, opened)
		}
		if len(opened.Declined) == 0 || opened.Declined[0].Session != "import:group" || opened.Declined[0].Reason == "" {
			t.Errorf("%s is not told why: %+v", sender, opened.Declined)
		}
		seen[opened.Session.ID] = true
	}
	// The group as a whole does.
	if opened := h.open(shared, "telegram:7"); opened.Session.ID != "import:group" {
		t.Errorf("the group got %+v", opened)
	}
}

// TestNobodyInheritsAnothersHistory finds, by the alias of a chat, what somebody
// else said.
func TestNobodyInheritsAnothersHistory(t *testing.T) {
	t.Parallel()
	for name, people := range map[string][]parley.IdentityID{
		"another person": {"telegram:8"}, "more people": {"telegram:7", "telegram:8"}, "nobody known": nil, "another channel": {"slack:7"},
	} {
		h := newHouse(t)
		to := h.resolve(route.Config{}, direct("7"))
		h.legacy("import:old", promoting(t, to), nil, people...)
		if opened := h.open(to, "telegram:7"); opened.Session.ID == "import:old" {
			t.Errorf("%s: inherited %+v", name, opened)
		}
	}
}

func TestExplicitKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	routed := h.open(h.resolve(route.Config{}, direct("7")), "telegram:7")
	for _, name := range []string{string(routed.Session.Key), string(h.resolve(route.Config{}, direct("7")).Claims[0])} {
		req := direct("9")
		req.Key = name
		if opened := h.open(h.resolve(route.Config{}, req), "telegram:9"); opened.Session.ID != routed.Session.ID {
			t.Errorf("%s leads to %s", name, opened.Session.ID)
		}
	}
	req := direct("9")
	req.Key = "project-x"
	opened := h.open(h.resolve(route.Config{}, req), "telegram:9")
	if !opened.Created || opened.Session.Key != "project-x" {
		t.Errorf("a name of its own gives %+v", opened)
	}
	entry, err := h.store.Lookup(t.Context(), parley.SeeAll(), "project-x")
	if err != nil || entry.Scope != nil || entry.Current != opened.Session.ID {
		t.Errorf("the key is %+v, %v", entry, err)
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	to := h.resolve(route.Config{}, route.Request{Inbound: parley.Inbound{Channel: "telegram"}})
	if _, err := h.keys.Open(t.Context(), opening(to, "telegram:7")); !errors.Is(err, parley.ErrInvalid) {
		t.Errorf("nothing identifies the chat: %v", err)
	}
	page, err := h.store.Sessions(t.Context(), parley.SeeAll(), parley.SessionQuery{})
	if err != nil || len(page.Sessions) > 0 {
		t.Errorf("something was made: %v, %v", page.Sessions, err)
	}
}

// TestDeletedSessionsAreReplaced opens a key whose session goes again and again.
func TestDeletedSessionsAreReplaced(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	to := h.resolve(route.Config{}, direct("7"))
	var wait sync.WaitGroup
	for w := range 8 {
		wait.Go(func() {
			for range 10 {
				opened, err := h.keys.Open(t.Context(), opening(to, "telegram:7"))
				if err != nil {
					t.Error(err)
					return
				}
				if w == 0 {
					_, err := h.store.Commit(t.Context(), parley.Batch{
						At:       stillClock{}.Now(),
						Sessions: []parley.SessionChange{{Session: opened.Session.ID, Delete: true}},
					})
					if err != nil && !errors.Is(err, parley.ErrNotFound) {
						t.Error(err)
					}
				}
			}
		})
	}
	wait.Wait()
	if opened := h.open(to, "telegram:7"); opened.Session.Key != to.Key {
		t.Errorf("in the end: %+v", fmt.Sprint(opened))
	}
}

// TestNameOfAKeyInAliasForm has a key that is called like an alias of a message,
// as an importer of readable keys may make one.
func TestNameOfAKeyInAliasForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	to := h.resolve(route.Config{}, direct("7"))
	name := parley.Key(promoting(t, to))
	_, err := h.store.Commit(t.Context(), parley.Batch{
		At: stillClock{}.Now(),
		Sessions: []parley.SessionChange{{
			Session: "import:old", Events: []parley.NewEvent{{Body: &parley.ParticipantChanged{Identity: "telegram:7"}}},
			Create: &parley.NewSession{Key: name, Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "import"}, Type: parley.SessionDirect},
		}},
		Keys: []parley.KeyChange{{Key: name, Session: "import:old", Scope: &to.Scope}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if opened := h.open(to, "telegram:7"); opened.Session.ID != "import:old" || opened.Promoted != parley.Alias(name) {
		t.Errorf("got %+v", opened)
	}
}

// TestNobodyIsInAnothersConversationFirst names, by hand, what routing would call
// the conversation of somebody who has not written yet.
func TestNobodyIsInAnothersConversationFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	to := h.resolve(route.Config{}, direct("7"))
	for _, name := range append([]parley.Alias{parley.Alias(to.Key), "unified:seven"}, to.Aliases...) {
		req := direct("66")
		req.Key = string(name)
		if opened, err := h.keys.Open(t.Context(), opening(h.resolve(route.Config{}, req), "telegram:66")); !errors.Is(err, parley.ErrNotFound) {
			t.Errorf("%s: %+v, %v", name, opened, err)
		}
	}
	if opened := h.open(to, "telegram:7"); !opened.Created {
		t.Errorf("whose it is got %+v", opened)
	}
}

func TestMainHasOneConversation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key, alias := route.Main("main")
	var first parley.SessionID
	for _, name := range []string{string(alias), string(key), string(alias)} {
		req := route.Request{Inbound: parley.Inbound{Channel: "system"}, Key: name}
		opened := h.open(h.resolve(route.Config{}, req), "system:main")
		if first == "" {
			first = opened.Session.ID
		}
		if opened.Session.ID != first || opened.Session.Key != key {
			t.Errorf("%s leads to %s with the key %s, want %s", name, opened.Session.ID, opened.Session.Key, first)
		}
	}
}
