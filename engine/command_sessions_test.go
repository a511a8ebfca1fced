package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/route"
)

// A chat whose session goes on elsewhere is not left with it: what is said there next
// starts another, whatever becomes of the session.
func TestResume_TakesTheSessionAlong(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	work, home := s.opens("work"), s.opens("home")
	s.commands(alice, home.ID, "1", "/resume "+string(work.ID))
	if got := s.opens("home"); got.ID != work.ID {
		t.Fatalf("home leads to %s", got.ID)
	}
	s.commands(alice, work.ID, "2", "/new")
	if got := s.opens("home"); got.ID == work.ID || got.ID == home.ID {
		t.Errorf("home leads to %s", got.ID)
	}
	next := s.opens("work")
	s.post(alice, next.ID, say("3", "hi"))
	if got := sketch(t, s.turns(next.ID, 1)); next.ID == work.ID || got != ">hi <re:hi |stop" {
		t.Errorf("work leads to %s: %s", next.ID, got)
	}
}

// A command counts where a message would: in the current session of its key.
func TestCommands_OnlyInTheCurrentSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	old := s.opens("work")
	s.post(alice, old.ID, say("1", "a"))
	s.turns(old.ID, 1)
	other := s.opens("home")
	s.commands(alice, old.ID, "2", "/new")
	before, err := s.store.Session(t.Context(), parley.SeeAll(), old.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"/title x", "/fork", "/help", "/retry", "/undo", "/new", "/busy steer", "/resume " + string(other.ID)} {
		if _, err := s.eng.As(alice).Post(t.Context(), old.ID, say(text, text)); !errors.Is(err, parley.ErrConflict) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if after, err := s.store.Session(t.Context(), parley.SeeAll(), old.ID); err != nil || after.LastSeq != before.LastSeq {
		t.Errorf("%d events, and %d after; %v", before.LastSeq, after.LastSeq, err)
	}
}

// What a command answers in a group is read by all: it tells nothing of what the
// person who gave it does elsewhere.
func TestCommands_GroupsAreToldNothingPrivate(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	private := s.session("secret", parley.SessionDirect, "cli:alice")
	title := "Surprise party"
	if _, err := s.eng.As(alice).Patch(t.Context(), private, engine.Changes{Title: &title}); err != nil {
		t.Fatal(err)
	}
	start := starting()
	start.Type = parley.SessionGroup
	o, err := s.eng.As(alice).Open(t.Context(), engine.Opening{To: explicit(t, "team"), Session: start, Namespace: "cli"})
	if err != nil {
		t.Fatal(err)
	}
	s.commands(alice, o.Session.ID, "0", "/new")
	if o, err = s.eng.As(alice).Open(t.Context(), engine.Opening{To: explicit(t, "team"), Session: start, Namespace: "cli"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []parley.SessionID{o.Session.ID, s.session("keyless", parley.SessionGroup, "cli:alice")} {
		for _, text := range []string{"/sessions", "/resume cli:", "/resume sec", "/resume " + string(private), "/resume 2"} {
			answer := s.commands(alice, id, string(id)+text, text)
			if strings.Contains(answer, title) || strings.Contains(answer, "secret") && !strings.Contains(text, "secret") {
				t.Errorf("%s: %q", text, answer)
			}
		}
	}
	if got, err := s.store.Lookup(t.Context(), parley.SeeAll(), "team"); err != nil || got.Current == o.Session.ID {
		t.Errorf("/resume 2 did not go back to the group's own: %+v, %v", got, err)
	}
}

// In a group there may be other bots: what is for them is not carried out.
func TestCommands_OfOtherBots(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("g", parley.SessionGroup, "cli:alice", "web:bob")
	tests := []struct {
		text      string
		mentioned bool
		want      parley.InputState
	}{
		{"/giphy cat", false, parley.InputLogged},
		{"/new@other_bot", false, parley.InputLogged},
		{"/steer@other_bot left", false, parley.InputLogged},
		{"/help", false, parley.InputCarriedOut},
		{"/help@parley_bot", true, parley.InputCarriedOut},
		{"/giphy dog", true, parley.InputCarriedOut},
	}
	for _, test := range tests {
		in := say(test.text, test.text, func(in *parley.Input) { in.Mentioned = test.mentioned })
		if r := s.post(bob, id, in); r.State != test.want {
			t.Errorf("%s: %+v", test.text, r)
		}
	}
}

// A channel goes on in a session of another namespace that a chat of its own leads to,
// and in no other.
func TestChannel_GoesOnElsewhere(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	who := parley.Principal{Identity: "telegram:7", User: "bob", Role: parley.RoleUser, Via: "channel"}
	telegram, err := access.NewChannel("telegram", who, "web:bob")
	if err != nil {
		t.Fatal(err)
	}
	router, err := route.New(route.Config{})
	if err != nil {
		t.Fatal(err)
	}
	open := func(unified bool) parley.SessionID {
		in := parley.Inbound{Channel: "telegram", ChatType: "direct", ChatID: "7", Sender: parley.Sender{ID: "7"}}
		to, err := router.Resolve(route.Request{Inbound: in, User: "bob", Role: parley.RoleUser, Unified: &unified})
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.eng.As(telegram).Open(t.Context(), engine.Opening{To: &to, Session: starting()})
		if err != nil {
			t.Fatal(err)
		}
		return o.Session.ID
	}
	web, err := s.eng.As(bob).Open(t.Context(), engine.Opening{Session: starting(), Namespace: "web"})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := web.Session.ID
	if _, err := s.eng.As(telegram).Post(t.Context(), elsewhere, say("0", "hi")); !errors.Is(err, parley.ErrForbidden) {
		t.Errorf("before it leads there: %v", err)
	}
	s.post(telegram, open(false), say("1", "/resume "+string(elsewhere)))
	if got := open(false); got != elsewhere {
		t.Fatalf("it leads to %s", got)
	}
	s.post(telegram, elsewhere, say("2", "hi"))
	s.turns(elsewhere, 1)
	unified := open(true)
	s.post(telegram, unified, say("3", "hi"))
	s.turns(unified, 1)
	stranger, err := access.NewChannel("telegram", parley.Principal{Identity: "telegram:8", User: "eve", Role: parley.RoleUser, Via: "channel"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.eng.As(stranger).Post(t.Context(), unified, say("4", "hi")); !errors.Is(err, parley.ErrForbidden) {
		t.Errorf("another user: %v", err)
	}
	s.post(telegram, elsewhere, say("5", "/new"))
	if _, err := s.eng.As(telegram).Post(t.Context(), elsewhere, say("6", "hi")); !errors.Is(err, parley.ErrForbidden) {
		t.Errorf("after it leads elsewhere: %v", err)
	}
}

func TestCommands_RetryWithALongName(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "a"))
	s.turns(id, 1)
	s.commands(alice, id, strings.Repeat("i", parley.MaxIDBytes), "/retry")
	s.turns(id, 2)
}
