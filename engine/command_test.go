package engine_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/command"
	"github.com/parley-run/parley/engine"
)

// commands gives a command and its answer.
func (s *stage) commands(as access.Caller, id parley.SessionID, ref, text string) string {
	s.t.Helper()
	in := say(ref, text)
	if r := s.post(as, id, in); r.State != parley.InputCarriedOut {
		s.t.Fatalf("%s: %+v", text, r)
	}
	a, err := s.eng.As(as).Answer(s.t.Context(), id, in.Ref)
	if err != nil || a.Message == nil || !a.Message.Hidden {
		s.t.Fatalf("%s: %+v, %v", text, a, err)
	}
	return parley.PlainText(a.Message.Parts)
}

func TestCommands_EachIsCarriedOut(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo), ModelsFunc: func(parley.Session) []string { return []string{"a/big", "b/small"} }})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	for i, spec := range command.All() {
		if spec.Name == command.NameReset || spec.Name == command.NameNew {
			continue // they end the session
		}
		text := "/" + spec.Name
		if answer := s.commands(alice, id, "c"+string(rune('a'+i)), text); answer == "" {
			t.Errorf("%s has no answer", text)
		}
	}
}

func TestCommands_Change(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo), ModelsFunc: func(parley.Session) []string { return []string{"a/big", "b/small"} }})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.commands(alice, id, "1", "/title  The plan ")
	s.commands(alice, id, "2", "/busy steer")
	s.commands(alice, id, "3", "/model small")
	got, err := s.eng.As(alice).Session(t.Context(), id)
	if err != nil || got.Title.Text != "The plan" || got.Busy != parley.BusySteer || engine.ChosenModel(got) != "b/small" {
		t.Errorf("%+v, %v", got, err)
	}
	s.commands(alice, id, "4", "/model default")
	s.commands(alice, id, "5", "/busy default")
	got, err = s.eng.As(alice).Session(t.Context(), id)
	if err != nil || got.Busy != "" || engine.ChosenModel(got) != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if answer := s.commands(alice, id, "6", "/model huge"); !strings.Contains(answer, "a/big") {
		t.Errorf("%q", answer)
	}
	if answer := s.commands(alice, id, "7", "/titel x"); !strings.Contains(answer, "/title") {
		t.Errorf("%q", answer)
	}
}

// The same command again, by whomever of several at once, is done once.
func TestCommands_Once(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	for i, text := range []string{"a", "b", "c", "d"} {
		s.post(alice, id, say(text, text))
		s.turns(id, i+1)
	}
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			if _, err := s.eng.As(alice).Post(t.Context(), id, say("u", "/undo 2")); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	if r := s.post(alice, id, say("u", "/undo 2")); !r.Duplicate || r.State != parley.InputCarriedOut {
		t.Errorf("%+v", r)
	}
	if _, err := s.eng.As(alice).Post(t.Context(), id, say("u", "/undo 1")); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("%v", err)
	}
	events, err := s.eng.As(alice).Log(t.Context(), id, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	rewound := 0
	for _, e := range events {
		if e.Type == parley.EventRewound {
			rewound++
		}
	}
	if rewound != 1 {
		t.Errorf("%d times", rewound)
	}
}

func TestCommands_Retry(t *testing.T) {
	t.Parallel()
	seen, runner := watched()
	s := newStage(t, engine.Config{Runner: runner})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "first"))
	s.turns(id, 1)
	s.post(alice, id, say("2", "second"))
	s.turns(id, 2)
	pasts(seen)
	pasts(seen)
	if answer := s.commands(alice, id, "3", "/retry"); !strings.Contains(answer, "second") {
		t.Errorf("%q", answer)
	}
	events := s.turns(id, 3)
	if got := pasts(seen); got != "first re:first" {
		t.Errorf("the model saw %q", got)
	}
	if got := sketch(t, events); !strings.HasSuffix(got, ">second <re:second |stop") {
		t.Errorf("%s", got)
	}
}

func TestCommands_NewAndResume(t *testing.T) {
	t.Parallel()
	seen, runner := watched()
	s := newStage(t, engine.Config{Runner: runner})
	old := s.opens("work")
	s.post(alice, old.ID, say("1", "a"))
	s.turns(old.ID, 1)
	pasts(seen)
	if answer := s.commands(alice, old.ID, "2", "/new Other things"); !strings.Contains(answer, string(old.ID)) {
		t.Errorf("%q", answer)
	}
	next := s.opens("work")
	if next.ID == old.ID || next.Title.Text != "Other things" {
		t.Fatalf("%+v", next)
	}
	if r := s.post(alice, old.ID, say("2", "/new Other things")); !r.Duplicate {
		t.Errorf("%+v", r)
	}
	if got := s.opens("work"); got.ID != next.ID {
		t.Errorf("it was started anew twice: %s", got.ID)
	}
	s.post(alice, next.ID, say("3", "b"))
	s.turns(next.ID, 1)
	if got := pasts(seen); got != "" {
		t.Errorf("carried over: %q", got)
	}
	s.commands(alice, next.ID, "4", "/resume")
	if got := s.opens("work"); got.ID != old.ID {
		t.Errorf("the key leads to %s", got.ID)
	}
	// In another chat.
	other := s.opens("home")
	s.commands(alice, other.ID, "5", "/resume "+string(next.ID))
	if got := s.opens("home"); got.ID != next.ID {
		t.Errorf("the key leads to %s", got.ID)
	}
	s.post(alice, next.ID, say("6", "c"))
	s.turns(next.ID, 2)
}

func TestCommands_StopAndQueue(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h, StopSuspends: true})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	if answer := s.commands(alice, id, "0", "/stop"); !strings.Contains(strings.ToLower(answer), "nothing") {
		t.Errorf("%q", answer)
	}
	s.post(alice, id, say("1", "a"))
	<-h.began
	if r := s.post(alice, id, say("2", "/queue later")); r.State != parley.InputQueued {
		t.Errorf("%+v", r)
	}
	if answer := s.commands(alice, id, "3", "/queue"); !strings.Contains(answer, "later") {
		t.Errorf("%q", answer)
	}
	s.commands(alice, id, "4", "/stop")
	s.turns(id, 1)
	if got, err := s.eng.As(alice).Session(t.Context(), id); err != nil || got.Recovery.State != parley.RecoverySuspended {
		t.Errorf("%+v, %v", got.Recovery, err)
	}
	h.let <- struct{}{}
	if got := sketch(t, s.turns(id, 2)); !strings.HasSuffix(got, ">later <re:later |stop") {
		t.Errorf("%s", got)
	}
}

func TestCommands_Rights(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	group := s.session("g", parley.SessionGroup, "cli:alice", "web:guest")
	guest := access.NewCaller(parley.Principal{Identity: "web:guest", Role: parley.RoleGuest, Via: "token"})
	for i, text := range []string{"/reset", "/new", "/undo", "/title mine", "/busy reject", "/fork"} {
		before, err := s.eng.As(alice).Session(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		answer := s.commands(guest, group, text[1:]+string(rune('a'+i)), text)
		after, err := s.eng.As(alice).Session(t.Context(), group)
		if err != nil || after.Title != before.Title || after.Busy != before.Busy || after.Status != before.Status {
			t.Errorf("%s: %q changed %+v to %+v, %v", text, answer, before, after, err)
		}
	}
	private := s.session("p", parley.SessionDirect, "web:bob")
	if answer := s.commands(guest, group, "r", "/resume "+string(private)); !strings.Contains(answer, "no session") {
		t.Errorf("%q", answer)
	}
}

func TestCommands_TextStaysText(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	for i, c := range []struct{ text, shown string }{
		{"/etc/passwd", "/etc/passwd"}, {"//help", "/help"}, {" /help", " /help"}, {"/", "/"},
	} {
		r := s.post(alice, id, say(c.text, c.text))
		if r.State == parley.InputCarriedOut {
			t.Errorf("%q was carried out", c.text)
		}
		if got := sketch(t, s.turns(id, i+1)); !strings.HasSuffix(got, ">"+c.shown+" <re:"+c.shown+" |stop") {
			t.Errorf("%q: %s", c.text, got)
		}
	}
	quiet := newStage(t, engine.Config{Runner: runs(echo), NoCommands: true})
	id = quiet.session("a", parley.SessionDirect, "cli:alice")
	quiet.post(alice, id, say("1", "/help"))
	if got := sketch(t, quiet.turns(id, 1)); got != ">/help <re:/help |stop" {
		t.Errorf("%s", got)
	}
}

// What somebody said is not said again with the rights of another.
func TestCommands_RetryOfOthers(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("g", parley.SessionGroup, "cli:alice", "web:bob")
	s.post(bob, id, say("1", "delete everything"))
	s.turns(id, 1)
	if answer := s.commands(alice, id, "2", "/retry"); !strings.Contains(answer, "Others spoke") {
		t.Errorf("%q", answer)
	}
	s.commands(bob, id, "3", "/retry")
	s.turns(id, 2)
}
