package engine_test

import (
	"errors"
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
