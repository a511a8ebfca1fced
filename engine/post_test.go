package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

func TestPost_KindsOfTheRuntime(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	for _, kind := range []parley.InputKind{parley.InputCommand, parley.InputRecovery, "other"} {
		in := say(string(kind), "x", func(in *parley.Input) { in.Kind = kind })
		if _, err := s.eng.As(alice).Post(t.Context(), id, in); !errors.Is(err, parley.ErrInvalid) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// A session that was replaced takes nothing more, with a key or without, and says
// where to go on.
func TestPost_Replaced(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	for _, old := range []parley.SessionID{s.session("a", parley.SessionDirect, "cli:alice"), s.opens("work").ID} {
		s.post(alice, old, say("1"+string(old), "hi"))
		s.turns(old, 1)
		next, err := s.eng.As(alice).Reset(t.Context(), old, engine.Anew{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.eng.As(alice).Post(t.Context(), old, say("2"+string(old), "hi"))
		e, ok := errors.AsType[*parley.ExpectError](err)
		if !errors.Is(err, parley.ErrConflict) || !ok || e.Actual != next.ID {
			t.Errorf("%s: %v", old, err)
		}
		if r := s.post(alice, old, say("1"+string(old), "hi")); !r.Duplicate {
			t.Errorf("%+v", r)
		}
	}
}

// TestAcknowledge: who posts hears of it before the turn begins, which would have had all
// the time of some commits to do so.
func TestAcknowledge(t *testing.T) {
	t.Parallel()
	var began, acknowledged atomic.Int32
	s := newStage(t, engine.Config{Runner: runs(func(_ context.Context, turn parley.TurnContext) (parley.TurnEnd, error) {
		began.Add(1)
		return answers(turn), nil
	})})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	other := s.session("b", parley.SessionDirect, "cli:alice")
	manner := engine.Manner{AcknowledgeFunc: func(r parley.Receipt) {
		acknowledged.Add(1)
		for n := range 20 {
			if _, err := s.eng.As(alice).Append(t.Context(), other, say(fmt.Sprint("aside-", n), "x")); err != nil {
				t.Error(err)
			}
		}
		if r.ID != "1" || r.State != parley.InputRunning || began.Load() != 0 {
			t.Errorf("%+v, and %d turns have begun", r, began.Load())
		}
	}}
	r, err := s.eng.As(alice).Bring(t.Context(), id, say("1", "hello"), manner)
	if err != nil || r.ID != "1" || acknowledged.Load() != 1 {
		t.Fatalf("%+v, %v, acknowledged %d times", r, err, acknowledged.Load())
	}
	s.turns(id, 1)
	if r, err := s.eng.As(alice).Bring(t.Context(), id, say("1", "hello"), manner); err != nil || !r.Duplicate || acknowledged.Load() != 1 {
		t.Errorf("%+v, %v, acknowledged %d times", r, err, acknowledged.Load())
	}
}

// TestAcknowledge_Panics: the turn goes on all the same.
func TestAcknowledge_Panics(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = s.eng.As(alice).Bring(t.Context(), id, say("1", "hello"), engine.Manner{AcknowledgeFunc: func(parley.Receipt) { panic("no") }})
	}()
	if got := sketch(t, s.turns(id, 1)); got != ">hello <re:hello |stop" {
		t.Errorf("%s", got)
	}
}

// panics is a prompter that panics once.
type panics struct{ done atomic.Bool }

func (p *panics) Prompt(context.Context, parley.PromptContext) (parley.Prompt, error) {
	if !p.done.Swap(true) {
		panic("no prompt")
	}
	return parley.Prompt{}, nil
}

// TestPost_Panics: a session whose turn could not be planned goes on with the next message.
func TestPost_Panics(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo), Prompter: &panics{}})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = s.eng.As(alice).Post(t.Context(), id, say("1", "hello"))
	}()
	s.post(alice, id, say("2", "again"))
	if got := sketch(t, s.turns(id, 1)); got != ">again <re:again |stop" {
		t.Errorf("%s", got)
	}
}
