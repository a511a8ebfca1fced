package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/lifecycle"
	"github.com/parley-run/parley/route"
)

// explicit is a resolution to a name that somebody chose.
func explicit(t *testing.T, name string) *route.Resolution {
	t.Helper()
	r, err := route.New(route.Config{})
	if err != nil {
		t.Fatal(err)
	}
	to, err := r.Resolve(route.Request{Key: name})
	if err != nil {
		t.Fatal(err)
	}
	return &to
}

func starting() parley.NewSession {
	return parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli", Interactive: true}, Type: parley.SessionDirect}
}

func (s *stage) opens(name string) parley.Session {
	s.t.Helper()
	o, err := s.eng.As(alice).Open(s.t.Context(), engine.Opening{To: explicit(s.t.(*testing.T), name), Session: starting(), Namespace: "cli"})
	if err != nil {
		s.t.Fatal(err)
	}
	return o.Session
}

// past gives the words of the window that the next turn of a session has.
func pasts(seen chan parley.TurnContext) string {
	tc := <-seen
	var words []string
	for _, m := range tc.Window.Past {
		words = append(words, parley.PlainText(m.Parts))
	}
	return strings.Join(words, " ")
}

func watched() (chan parley.TurnContext, runs) {
	seen := make(chan parley.TurnContext, 100)
	return seen, func(_ context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
		seen <- t
		return answers(t), nil
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	seen, runner := watched()
	s := newStage(t, engine.Config{Runner: runner})
	old := s.opens("work")
	s.post(alice, old.ID, say("1", "a"))
	s.turns(old.ID, 1)
	pasts(seen)
	next, err := s.eng.As(alice).Reset(t.Context(), old.ID, engine.Anew{})
	if err != nil || next.ID == old.ID || next.Key != old.Key {
		t.Fatalf("%+v, %v", next, err)
	}
	if got := s.opens("work"); got.ID != next.ID {
		t.Errorf("the key leads to %s", got.ID)
	}
	was, err := s.eng.As(alice).Session(t.Context(), old.ID)
	if err != nil || was.Status != parley.StatusInactive || was.Ended == nil || was.Ended.Reason != "manual" {
		t.Errorf("%+v, %v", was, err)
	}
	if _, err := s.eng.As(alice).Post(t.Context(), old.ID, say("2", "b")); !errors.Is(err, parley.ErrConflict) || !strings.Contains(err.Error(), string(next.ID)) {
		t.Errorf("%v", err)
	}
	if r := s.post(alice, old.ID, say("1", "a")); !r.Duplicate {
		t.Errorf("%+v", r)
	}
	s.post(alice, next.ID, say("3", "c"))
	s.turns(next.ID, 1)
	if got := pasts(seen); got != "a re:a" {
		t.Errorf("carried over: %q", got)
	}
	// What is redacted in the old session is not carried any more.
	if err := s.eng.As(alice).Redact(t.Context(), old.ID, []uint64{seqOf(t, s, old.ID, "a")}, "by mistake"); err != nil {
		t.Fatal(err)
	}
	s.post(alice, next.ID, say("4", "d"))
	if got := pasts(seen); got != "re:a c re:c" {
		t.Errorf("carried over: %q", got)
	}
	s.turns(next.ID, 2)

	back, err := s.eng.As(alice).Resume(t.Context(), old.ID)
	if err != nil || back.Status != parley.StatusIdle || back.Ended != nil {
		t.Fatalf("%+v, %v", back, err)
	}
	if got := s.opens("work"); got.ID != old.ID {
		t.Errorf("the key leads to %s", got.ID)
	}
}

func seqOf(t *testing.T, s *stage, id parley.SessionID, text string) uint64 {
	t.Helper()
	events, err := s.store.Events(t.Context(), parley.SeeAll(), id, parley.EventQuery{Types: []parley.EventType{parley.EventMessage}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if body, err := e.Decode(); err == nil {
			if m, ok := body.(*parley.Message); ok && parley.PlainText(m.Parts) == text {
				return e.Seq
			}
		}
	}
	t.Fatalf("%q was not said", text)
	return 0
}

// TestResetWhileBusy stops what runs, and drops what waits.
func TestResetWhileBusy(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h})
	old := s.opens("work")
	s.post(alice, old.ID, say("1", "a"))
	<-h.began
	s.post(alice, old.ID, say("2", "b"))
	if _, err := s.eng.As(alice).Reset(t.Context(), old.ID, engine.Anew{}); err != nil {
		t.Fatal(err)
	}
	if got := sketch(t, s.turns(old.ID, 1)); got != ">a *! <half |aborted" {
		t.Errorf("%s", got)
	}
	in, err := s.store.Input(t.Context(), parley.SeeAll(), parley.InputRef{Origin: "test", ID: "2"})
	if err != nil || in.State != parley.InputDropped {
		t.Errorf("%+v, %v", in, err)
	}
	s.end()
	s.open()
	was, err := s.store.Session(t.Context(), parley.SeeAll(), old.ID)
	if err != nil || was.Status != parley.StatusInactive {
		t.Errorf("%+v, %v", was.Status, err)
	}
	s.run()
}

// TestClockResets starts a conversation anew after a day without a word, and tells
// the model.
func TestClockResets(t *testing.T) {
	t.Parallel()
	seen, runner := watched()
	s := newStage(t, engine.Config{Runner: runner, Reset: lifecycle.Policies{Default: lifecycle.Policy{Mode: lifecycle.ModeIdle}}})
	first := s.opens("work")
	s.post(alice, first.ID, say("1", "a"))
	s.turns(first.ID, 1)
	pasts(seen)
	s.clock.Advance(23 * time.Hour)
	if got := s.opens("work"); got.ID != first.ID {
		t.Errorf("%s after 23 hours", got.ID)
	}
	s.clock.Advance(2 * time.Hour)
	second := s.opens("work")
	if second.ID == first.ID {
		t.Fatal("the same after 25 hours")
	}
	s.post(alice, second.ID, say("2", "b"))
	tc := <-seen
	if got := tc.Window.Turn[0].Parts[0].Text; !strings.Contains(got, string(first.ID)) || !strings.Contains(got, "idle") {
		t.Errorf("the notice is %q", got)
	}
	s.turns(second.ID, 1)
	s.post(alice, second.ID, say("3", "c"))
	if tc = <-seen; len(tc.Window.Turn[0].Parts) != 1 {
		t.Errorf("the notice came twice: %+v", tc.Window.Turn[0])
	}
	s.turns(second.ID, 2)
}

func TestForkAndRewind(t *testing.T) {
	t.Parallel()
	seen, runner := watched()
	s := newStage(t, engine.Config{Runner: runner})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	for i, text := range []string{"a", "b", "c"} {
		s.post(alice, id, say(text, text))
		s.turns(id, i+1)
		pasts(seen)
	}
	at := seqOf(t, s, id, "re:b")
	fork, err := s.eng.As(alice).Fork(t.Context(), id, at)
	if err != nil {
		t.Fatal(err)
	}
	s.post(alice, fork.ID, say("f", "other"))
	if got := pasts(seen); got != "a re:a b re:b" {
		t.Errorf("the fork sees %q", got)
	}
	s.turns(fork.ID, 2) // the first two are its parent's

	undone, err := s.eng.As(alice).Rewind(t.Context(), id, 2)
	if err != nil || undone.Turns != 2 || undone.Text != "b" {
		t.Errorf("%+v, %v", undone, err)
	}
	s.post(alice, id, say("d", "d"))
	if got := pasts(seen); got != "a re:a" {
		t.Errorf("after the rewind it sees %q", got)
	}
	s.turns(id, 4)
	if undone, err = s.eng.As(alice).Rewind(t.Context(), id, 5); err != nil || undone.Turns != 2 || undone.Text != "a" {
		t.Errorf("%+v, %v", undone, err)
	}
	if _, err := s.eng.As(alice).Rewind(t.Context(), id, 1); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("nothing left: %v", err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	group := s.session("g", parley.SessionGroup, "cli:alice")
	s.post(alice, id, say("1", "a"))
	<-h.began
	eng := s.eng.As(alice)
	if err := eng.Delete(t.Context(), id, false); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("running: %v", err)
	}
	if _, err := eng.Rewind(t.Context(), id, 1); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("running: %v", err)
	}
	h.let <- struct{}{}
	s.turns(id, 1)
	if err := eng.Delete(t.Context(), id, false); err != nil {
		t.Error(err)
	}
	if _, err := eng.Session(t.Context(), id); !errors.Is(err, parley.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if err := eng.Delete(t.Context(), group, false); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("group: %v", err)
	}
	if err := eng.Delete(t.Context(), group, true); err != nil {
		t.Error(err)
	}
}

// TestTailAndRewind: what was taken back is not carried over by a reset, and taking
// back a turn leaves what was carried over.
func TestTailAndRewind(t *testing.T) {
	t.Parallel()
	seen, runner := watched()
	s := newStage(t, engine.Config{Runner: runner})
	old := s.opens("work")
	for i, text := range []string{"a", "b"} {
		s.post(alice, old.ID, say(text, text))
		s.turns(old.ID, i+1)
		<-seen
	}
	if _, err := s.eng.As(alice).Rewind(t.Context(), old.ID, 1); err != nil {
		t.Fatal(err)
	}
	next, err := s.eng.As(alice).Reset(t.Context(), old.ID, engine.Anew{})
	if err != nil {
		t.Fatal(err)
	}
	s.post(alice, next.ID, say("3", "c"))
	s.turns(next.ID, 1)
	if got := pasts(seen); got != "a re:a" {
		t.Errorf("carried over: %q", got)
	}
	if _, err := s.eng.As(alice).Rewind(t.Context(), next.ID, 1); err != nil {
		t.Fatal(err)
	}
	s.post(alice, next.ID, say("4", "d"))
	if got := pasts(seen); got != "a re:a" {
		t.Errorf("left: %q", got)
	}
	s.turns(next.ID, 2)
}
