package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

// outage is a runner whose model is down until somebody mends it.
type outage struct {
	mended chan struct{} // closed when it is
	tries  chan struct{}
}

func (o *outage) Run(_ context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	select {
	case <-o.mended:
		return answers(t), nil
	default:
	}
	o.tries <- struct{}{}
	return parley.TurnEnd{}, &parley.SuspendError{After: 5 * time.Second, Err: parley.Errorf(parley.CodeUnavailable, "overloaded")}
}

func TestOutage(t *testing.T) {
	t.Parallel()
	o := &outage{mended: make(chan struct{}), tries: make(chan struct{}, 1000)}
	s := newStage(t, engine.Config{Runner: o})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "a"))
	s.post(alice, id, say("2", "b"))
	for range 3 {
		<-o.tries
		s.clock.WaitForTimer(5 * time.Second)
		s.clock.Advance(5 * time.Second)
	}
	<-o.tries
	s.clock.WaitForTimer(5 * time.Second)
	s.end() // also a restart loses nothing
	s.start()
	close(o.mended)
	s.clock.Advance(10 * time.Second)
	got := sketch(t, s.turns(id, 2))
	if !strings.HasPrefix(got, ">a *! ") || !strings.HasSuffix(got, "<re:a |stop >b <re:b |stop") || strings.Count(got, "*!") != 1 {
		t.Errorf("%s", got)
	}
}

// TestOutageEnds gives up after half an hour.
func TestOutageEnds(t *testing.T) {
	t.Parallel()
	o := &outage{mended: make(chan struct{}), tries: make(chan struct{}, 1000)}
	s := newStage(t, engine.Config{Runner: o})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "a"))
	for range 30 {
		<-o.tries
		s.clock.WaitForTimer(time.Minute)
		s.clock.Advance(time.Minute)
	}
	if got := sketch(t, s.turns(id, 1)); got != ">a *! *! |error:model_unavailable" {
		t.Errorf("%s", got)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("running", func(t *testing.T) {
		t.Parallel()
		h := newHeld()
		s := newStage(t, engine.Config{Runner: h})
		id := s.session("a", parley.SessionDirect, "cli:alice")
		s.post(alice, id, say("1", "a"))
		tc := <-h.began
		if ok, err := s.eng.As(alice).Cancel(t.Context(), id, "t_other"); ok || err != nil {
			t.Errorf("another turn: %v, %v", ok, err)
		}
		if ok, err := s.eng.As(alice).Cancel(t.Context(), id, tc.Turn.ID); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		if got := sketch(t, s.turns(id, 1)); got != ">a <half |aborted" {
			t.Errorf("%s", got)
		}
		if ok, err := s.eng.As(alice).Cancel(t.Context(), id, ""); ok || err != nil {
			t.Errorf("nothing runs: %v, %v", ok, err)
		}
	})
	t.Run("parked", func(t *testing.T) {
		t.Parallel()
		o := &outage{mended: make(chan struct{}), tries: make(chan struct{}, 1000)}
		s := newStage(t, engine.Config{Runner: o})
		id := s.session("a", parley.SessionDirect, "cli:alice")
		s.post(alice, id, say("1", "a"))
		s.clock.WaitForTimer(5 * time.Second)
		if ok, err := s.eng.As(alice).Cancel(t.Context(), id, ""); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
		if got := sketch(t, s.turns(id, 1)); got != ">a *! |aborted" {
			t.Errorf("%s", got)
		}
	})
}

// TestDrain stops the program while a turn runs: it is marked, and goes on after
// the next start, with a note.
func TestDrain(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "a"))
	<-h.began
	go func() {
		s.clock.WaitForTimer(time.Minute)
		s.clock.Advance(time.Minute)
	}()
	s.end()
	s.open()
	session, err := s.store.Session(t.Context(), parley.SeeAll(), id)
	if err != nil || session.Recovery.State != parley.RecoveryResumePending || session.Recovery.Reason != "shutdown_timeout" {
		t.Errorf("%+v, %v", session.Recovery, err)
	}
	s.run()
	tc := <-h.began
	if tc.Turn.Attempt != 2 || tc.Window.Turn[1].Role != parley.MessageSystem {
		t.Errorf("%+v", tc)
	}
	h.let <- struct{}{}
	s.turns(id, 1)
	session, err = s.store.Session(t.Context(), parley.SeeAll(), id)
	if err != nil || session.Recovery.State != parley.RecoveryNone || session.Status != parley.StatusIdle {
		t.Errorf("%+v, %v", session, err)
	}
}

// TestDrainWaits lets a turn that ends in time end.
func TestDrainWaits(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "a"))
	<-h.began
	s.post(alice, id, say("2", "b"))
	go func() { s.clock.WaitForTimer(time.Minute); h.let <- struct{}{} }()
	s.end()
	s.open()
	turns, err := s.store.OpenTurns(t.Context(), parley.SeeAll(), "")
	if err != nil || len(turns) != 0 {
		t.Errorf("%+v, %v", turns, err)
	}
	s.run()
	<-h.began
	h.let <- struct{}{}
	if got := sketch(t, s.turns(id, 2)); got != ">a <re:a |stop >b <re:b |stop" {
		t.Errorf("%s", got)
	}
}

// TestRedactWhileWaiting takes the message away whose call waits for approval: the
// turn goes on all the same, and does not try for ever.
func TestRedactWhileWaiting(t *testing.T) {
	t.Parallel()
	c := newCommitter()
	s := newStage(t, engine.Config{Runner: c})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	call := s.call(id)
	s.waiting(id)
	events := s.has(id, parley.EventApprovalRequested)
	for _, e := range events {
		if e.Type == parley.EventMessage && strings.Contains(string(e.Data), string(call)) {
			if err := s.eng.As(alice).Redact(t.Context(), id, []uint64{e.Seq}, "private"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.eng.As(alice).Approve(t.Context(), id, call, true, ""); err != nil {
		t.Fatal(err)
	}
	if got := sketch(t, s.turns(id, 1)); got != ">go <(commit) =done <done |stop" || len(c.ran) != 1 {
		t.Errorf("ran %d: %s", len(c.ran), got)
	}
}

// TestCancelDuringDrain stops a turn that the drain has stopped before, and that
// comes to its end all the same: who canceled it was told that it is stopped.
func TestCancelDuringDrain(t *testing.T) {
	t.Parallel()
	began, stopped, let := make(chan parley.TurnID, 1), make(chan struct{}), make(chan struct{})
	s := newStage(t, engine.Config{Runner: runs(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		began <- tc.Turn.ID
		<-ctx.Done()
		close(stopped)
		<-let
		return answers(tc), nil
	})})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "a"))
	turn := <-began
	go func() {
		s.clock.WaitForTimer(time.Minute)
		s.clock.Advance(time.Minute)
		<-stopped
		if ok, err := s.eng.As(alice).Cancel(context.Background(), id, turn); !ok || err != nil {
			t.Error(ok, err)
		}
		close(let)
	}()
	s.end()
	s.open()
	if got := sketch(t, s.turns(id, 1)); got != ">a <re:a |aborted" {
		t.Errorf("%s", got)
	}
	s.run()
}

// TestSayAgainAfterRedaction: a turn that waits loses a message of its own, and says
// it again when it goes on.
func TestSayAgainAfterRedaction(t *testing.T) {
	t.Parallel()
	c := newCommitter()
	s := newStage(t, engine.Config{Runner: c})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	call := s.call(id)
	s.waiting(id)
	events := s.has(id, parley.EventApprovalRequested)
	for _, e := range events {
		if e.Type == parley.EventMessage && e.Turn != "" && strings.Contains(string(e.Data), string(call)) {
			if err := s.eng.As(alice).Redact(t.Context(), id, []uint64{e.Seq}, "by mistake"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.eng.As(alice).Approve(t.Context(), id, call, true, ""); err != nil {
		t.Fatal(err)
	}
	if got := sketch(t, s.turns(id, 1)); !strings.HasSuffix(got, "<(commit) =done <done |stop") || len(c.ran) != 1 {
		t.Errorf("ran %d: %s", len(c.ran), got)
	}
}

// TestRunnerConflict: a conflict that is not about whose turn it is ends the turn;
// trying again would not help.
func TestRunnerConflict(t *testing.T) {
	t.Parallel()
	tries := 0
	s := newStage(t, engine.Config{Runner: runs(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) {
		if tries++; tries > 3 {
			return parley.TurnEnd{}, errors.New("it goes on and on")
		}
		return parley.TurnEnd{}, parley.Errorf(parley.CodeConflict, "call is finished")
	})})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	if got := sketch(t, s.turns(id, 1)); got != ">go *! |error:conflict" || tries != 1 {
		t.Errorf("tried %d times: %s", tries, got)
	}
}

// cancels is a store in which a turn is stopped while it writes.
type cancels struct {
	parley.Store
	stop  func()
	ended error // of the commit's context, after that
}

func (c *cancels) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	c.stop()
	c.ended = ctx.Err()
	return c.Store.Commit(ctx, b)
}

// TestJournalWaitsForTheStore: what a stopped turn has handed to the store is waited
// for, so that it does not appear after the turn's end.
func TestJournalWaitsForTheStore(t *testing.T) {
	t.Parallel()
	var s *stage
	var store *cancels
	var said, again error
	s = newStage(t, engine.Config{Runner: runs(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		store = &cancels{Store: s.store, stop: cancel}
		j, err := engine.OpenJournal(ctx, store, engine.JournalConfig{Session: tc.Session.ID, Turn: tc.Turn.ID, Fence: tc.Session.Fence + 1})
		if err != nil {
			return parley.TurnEnd{}, err
		}
		said = j.Say(ctx, parley.Said{Message: parley.Message{ID: "m1", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart("one")}}})
		again = j.Say(ctx, parley.Said{Message: parley.Message{ID: "m2", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart("two")}}})
		return answers(tc), nil
	})})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "a"))
	if got := sketch(t, s.turns(id, 1)); got != ">a <one <re:a |stop" {
		t.Errorf("%s", got)
	}
	if said != nil || store.ended != nil || !errors.Is(again, context.Canceled) {
		t.Errorf("said: %v, its context: %v; once stopped: %v", said, store.ended, again)
	}
}
