package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
)

func echo(_ context.Context, t parley.TurnContext) (parley.TurnEnd, error) { return answers(t), nil }

func TestAnswer(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	first := s.post(alice, id, say("1", "hi"))
	if first.State != parley.InputRunning || first.Turn == "" || first.Duplicate {
		t.Errorf("%+v", first)
	}
	events := s.turns(id, 1)
	if got := sketch(t, events); got != ">hi <re:hi |stop" {
		t.Errorf("%s", got)
	}
	again := s.post(alice, id, say("1", "hi"))
	if again.State != parley.InputDone || again.Turn != first.Turn || !again.Duplicate {
		t.Errorf("%+v", again)
	}
	if _, err := s.eng.As(alice).Post(t.Context(), id, say("1", "other")); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("%v", err)
	}
	s.post(alice, id, say("2", "there"))
	s.turns(id, 2)
	session, err := s.eng.As(alice).Session(t.Context(), id)
	if err != nil || session.Status != parley.StatusIdle || session.Counters.Turns != 2 || session.Queued != 0 {
		t.Errorf("%+v, %v", session, err)
	}
}

func TestStrangersFindNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	h := s.eng.As(bob)
	_, errPost := h.Post(t.Context(), id, say("1", "hi"))
	_, errCancel := h.Cancel(t.Context(), id, "")
	_, errRead := h.Session(t.Context(), id)
	_, errNone := h.Session(t.Context(), "cli:none")
	for i, err := range []error{errPost, errCancel, errRead, errNone, h.Approve(t.Context(), id, "c", true, "")} {
		if !errors.Is(err, parley.ErrNotFound) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := s.eng.As(access.Caller{}).Post(t.Context(), id, say("1", "hi")); !errors.Is(err, parley.ErrUnauthorized) {
		t.Errorf("%v", err)
	}
}

func TestBusyModes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		post func(s *stage, id parley.SessionID)
		let  int // so many turns are let go
		want string
	}{
		{"queue", func(s *stage, id parley.SessionID) {
			s.post(alice, id, say("2", "b"))
			s.post(alice, id, say("3", "c"))
		}, 3, ">a <re:a |stop >b <re:b |stop >c <re:c |stop"},
		{"collect", func(s *stage, id parley.SessionID) {
			s.post(alice, id, say("2", "b", busy(parley.BusyCollect)))
			s.post(alice, id, say("3", "c", busy(parley.BusyCollect)))
		}, 2, ">a <re:a |stop >b >c <re:b+c |stop"},
		{"collect of two people", func(s *stage, id parley.SessionID) {
			s.post(alice, id, say("2", "b", busy(parley.BusyCollect)))
			s.post(bob, id, say("3", "c", busy(parley.BusyCollect)))
		}, 3, ">a <re:a |stop >b <re:b |stop >c <re:c |stop"},
		{"interrupt", func(s *stage, id parley.SessionID) {
			s.post(alice, id, say("2", "b", busy(parley.BusyInterrupt)))
		}, 0, ">a <half |aborted >b"},
		{"automations wait behind people", func(s *stage, id parley.SessionID) {
			s.post(alice, id, say("2", "auto", func(in *parley.Input) { in.Kind = parley.InputAutomation }))
			s.post(alice, id, say("3", "c"))
		}, 3, ">a <re:a |stop >c <re:c |stop >auto <re:auto |stop"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHeld()
			s := newStage(t, engine.Config{Runner: h})
			id := s.session("a", parley.SessionDirect, "cli:alice", "web:bob")
			s.post(alice, id, say("1", "a"))
			<-h.began
			test.post(s, id)
			for range test.let {
				h.let <- struct{}{}
			}
			var events []parley.Event
			if test.let == 0 {
				<-h.began // the one that interrupted
				events = s.follow(id, func(all []parley.Event) bool { return sketch(t, all) == test.want })
				h.let <- struct{}{}
				s.turns(id, 2)
			} else {
				events = s.turns(id, test.let)
			}
			if got := sketch(t, events); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	t.Run("reject", func(t *testing.T) {
		t.Parallel()
		h := newHeld()
		s := newStage(t, engine.Config{Runner: h})
		id := s.session("a", parley.SessionDirect, "cli:alice")
		s.post(alice, id, say("1", "a"))
		<-h.began
		if _, err := s.eng.As(alice).Post(t.Context(), id, say("2", "b", busy(parley.BusyReject))); !errors.Is(err, parley.ErrBusy) {
			t.Errorf("%v", err)
		}
		if r := s.post(alice, id, say("1", "a", busy(parley.BusyReject))); !r.Duplicate || r.State != parley.InputRunning {
			t.Errorf("%+v", r)
		}
		h.let <- struct{}{}
		s.turns(id, 1)
		s.post(alice, id, say("3", "c", busy(parley.BusyReject)))
		h.let <- struct{}{}
		if got := sketch(t, s.turns(id, 2)); got != ">a <re:a |stop >c <re:c |stop" {
			t.Errorf("%s", got)
		}
	})
	t.Run("queue is full", func(t *testing.T) {
		t.Parallel()
		h := newHeld()
		s := newStage(t, engine.Config{Runner: h, Limits: engine.Limits{Queue: 2}})
		id := s.session("a", parley.SessionDirect, "cli:alice")
		s.post(alice, id, say("1", "a"))
		<-h.began
		s.post(alice, id, say("2", "b"))
		s.post(alice, id, say("3", "c"))
		if _, err := s.eng.As(alice).Post(t.Context(), id, say("4", "d")); !errors.Is(err, parley.ErrBusy) {
			t.Errorf("%v", err)
		}
		if r := s.post(alice, id, say("3", "c")); !r.Duplicate || r.State != parley.InputQueued {
			t.Errorf("%+v", r)
		}
		if ok, err := s.eng.As(alice).Withdraw(t.Context(), id, parley.InputRef{Origin: "test", ID: "2"}); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		for range 2 {
			h.let <- struct{}{}
		}
		if got := sketch(t, s.turns(id, 2)); got != ">a <re:a |stop >c <re:c |stop" {
			t.Errorf("%s", got)
		}
	})
}

// TestSteer has a foreign runner, which looks for what people say after its own
// tool round.
func TestSteer(t *testing.T) {
	t.Parallel()
	began, looked := make(chan struct{}), make(chan struct{})
	s := newStage(t, engine.Config{Runner: runs(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		if tc.Window.Turn[0].Parts[0].Text != "a" {
			return answers(tc), nil
		}
		close(began)
		<-looked
		steered, err := tc.Journal.Steered(ctx)
		if err != nil {
			return parley.TurnEnd{}, err
		}
		tc.Window.Turn = append(tc.Window.Turn, steered...)
		return answers(tc), nil
	})})
	id := s.session("a", parley.SessionDirect, "cli:alice", "web:bob")
	s.post(alice, id, say("1", "a"))
	<-began
	s.post(alice, id, say("2", "b", busy(parley.BusySteer)))
	s.post(bob, id, say("3", "c", busy(parley.BusySteer))) // somebody else: not with alice's rights
	s.post(alice, id, say("4", "d"))
	close(looked)
	if got := sketch(t, s.turns(id, 3)); got != ">a >b <re:a+b |stop >c <re:c |stop >d <re:d |stop" {
		t.Errorf("%s", got)
	}
	in, err := s.store.Input(t.Context(), parley.SeeAll(), parley.InputRef{Origin: "test", ID: "2"})
	if err != nil || in.State != parley.InputSteered || in.Decision == "" {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestGroupOnlyLogs(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h})
	id := s.session("g", parley.SessionGroup, "cli:alice", "web:bob")
	unmentioned := func(in *parley.Input) {
		in.Mentioned = false
		in.Sender = parley.Sender{ID: "bob", Name: "Bob"}
	}
	if r := s.post(bob, id, say("1", "lunch?", unmentioned)); r.State != parley.InputLogged {
		t.Errorf("%+v", r)
	}
	s.post(bob, id, say("2", "agent!", func(in *parley.Input) { in.Sender = parley.Sender{ID: "bob", Name: "Bob"} }))
	tc := <-h.began
	s.post(bob, id, say("3", "pizza", unmentioned))
	h.let <- struct{}{}
	if got := sketch(t, s.turns(id, 1)); got != ">lunch? >agent! >pizza <re:[Bob] agent! |stop" {
		t.Errorf("%s", got)
	}
	if len(tc.Window.Past) != 1 || len(tc.Window.Turn) != 1 || parley.PlainText(tc.Window.Past[0].Parts) == "lunch?" {
		t.Errorf("%+v", tc.Window)
	}
	h.let <- struct{}{}
	s.post(alice, id, say("4", "well?"))
	tc = <-h.began
	var past string
	for _, m := range tc.Window.Past {
		past += parley.PlainText(m.Parts) + "\n"
	}
	t.Log(past)
	if len(tc.Window.Past) != 4 {
		t.Errorf("%q", past)
	}
	s.turns(id, 2)
}

func TestTurnLimit(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo), Limits: engine.Limits{MaxTurns: 1}})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "a"))
	s.turns(id, 1)
	r := s.post(alice, id, say("2", "b"))
	if got := sketch(t, s.turns(id, 2)); r.State != parley.InputDone && r.State != parley.InputQueued || got != ">a <re:a |stop >b *! |error:turn_limit" {
		t.Errorf("%+v: %s", r, got)
	}
	s.post(alice, id, say("3", "auto", func(in *parley.Input) { in.Kind = parley.InputAutomation }))
	if got := sketch(t, s.turns(id, 3)); got != ">a <re:a |stop >b *! |error:turn_limit >auto <re:auto |stop" {
		t.Errorf("%s", got)
	}
}

// TestGuestInterrupts: who may not stop a turn waits for it.
func TestGuestInterrupts(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h})
	id := s.session("a", parley.SessionDirect, "cli:alice", "web:carol")
	s.post(alice, id, say("1", "a"))
	<-h.began
	s.post(carol, id, say("2", "b", busy(parley.BusyInterrupt)))
	s.post(alice, id, say("3", "c", busy(parley.BusyInterrupt), func(in *parley.Input) { in.Kind = parley.InputAutomation }))
	for range 3 {
		h.let <- struct{}{}
	}
	if got := sketch(t, s.turns(id, 3)); got != ">a <re:a |stop >b <re:b |stop >c <re:c |stop" {
		t.Errorf("%s", got)
	}
}
