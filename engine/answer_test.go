package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

// Who asks for the answer to something whose words are gone does not wait for ever.
func TestAnswer_Redacted(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionGroup, "cli:alice", "web:bob")
	s.post(alice, id, say("turn", "x"))
	s.turns(id, 1)
	s.commands(alice, id, "command", "/help")
	s.post(bob, id, say("logged", "y", func(in *parley.Input) { in.Mentioned = false }))
	later := s.clock.Now().Add(time.Second)
	s.post(alice, id, say("later", "z", func(in *parley.Input) { in.NotBefore = later }))
	redact := func(events []parley.Event) {
		t.Helper()
		var seqs []uint64
		for _, e := range events {
			if e.Type == parley.EventMessage {
				seqs = append(seqs, e.Seq)
			}
		}
		if err := s.eng.As(alice).Redact(t.Context(), id, seqs, "gone"); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(ref string) engine.Answer {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		a, err := s.eng.As(alice).Answer(ctx, id, parley.InputRef{Origin: "test", ID: ref})
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		return a
	}
	events, err := s.eng.As(alice).Log(t.Context(), id, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	redact(events)
	if a := answer("turn"); a.Turn == "" || a.Completed == nil || a.Message != nil {
		t.Errorf("%+v", a)
	}
	for _, ref := range []string{"command", "logged"} {
		if a := answer(ref); a.Turn != "" || a.Message != nil || a.Input.State.Open() {
			t.Errorf("%s: %+v", ref, a)
		}
	}
	s.clock.WaitForTimer(time.Second)
	s.clock.Advance(time.Second)
	redact(s.turns(id, 2)[len(events):])
	if a := answer("later"); a.Completed == nil {
		t.Errorf("%+v", a)
	}
}

// Where nobody is asked, the answer is not that somebody is.
func TestAnswer_NobodyToAsk(t *testing.T) {
	t.Parallel()
	c := newCommitter()
	s := newStage(t, engine.Config{Runner: c})
	ref := parley.InputRef{Origin: "test", ID: "1"}
	early := make(chan error, 1)
	c.said = func(tc parley.TurnContext) {
		if tc.Turn.Attempt > 1 {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // while the question is open
		defer cancel()
		_, err := s.eng.As(alice).Answer(ctx, tc.Session.ID, ref)
		early <- err
	}
	start := starting()
	start.Source.Interactive = false
	o, err := s.eng.As(alice).Open(t.Context(), engine.Opening{Session: start, Namespace: "api"})
	if err != nil {
		t.Fatal(err)
	}
	s.post(alice, o.Session.ID, say("1", "go"))
	if err := <-early; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("too early: %v", err)
	}
	if a, err := s.eng.As(alice).Answer(t.Context(), o.Session.ID, ref); err != nil || a.Awaits != nil || a.Completed == nil {
		t.Errorf("%+v, %v", a, err)
	}
}
