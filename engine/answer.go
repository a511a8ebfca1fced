package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-run/parley"
)

// Answer is what became of an input.
type Answer struct {
	Input parley.Input
	Turn  parley.TurnID // empty: it got none
	// Message is the last thing the agent said in the turn, or what a command was
	// answered with; nil: nothing.
	Message *parley.Message
	// Completed is how the turn ended; nil: it has not, or there was none.
	Completed *parley.TurnCompleted
	// Awaits is the question that the turn waits for; nil: it does not wait.
	Awaits *parley.Approval
}

// Answer waits until an input is settled: its turn has ended, or waits for a
// person, or it gets none. It needs an engine with a feed.
func (h *Handle) Answer(ctx context.Context, id parley.SessionID, ref parley.InputRef) (Answer, error) {
	in, err := h.Input(ctx, id, ref)
	if err != nil {
		return Answer{}, err
	}
	found, err := h.reads(ctx, id) // after the input: so it knows as much
	if err != nil {
		return Answer{}, err
	}
	if h.engine.cfg.Feed == nil {
		return Answer{}, parley.Errorf(parley.CodeUnavailable, "this engine has no feed to wait with")
	}
	w := &waiter{engine: h.engine, answer: Answer{Input: in, Turn: in.Turn}, asks: found.Source.Interactive}
	switch in.State {
	case parley.InputLogged, parley.InputDropped, parley.InputCarriedOut:
		w.upto = found.LastSeq // what there is of it, is there
	}
	for update, err := range h.engine.cfg.Feed.Subscribe(ctx, parley.SeeAll(), id, parley.Position{Seq: in.Seq}) {
		if err != nil {
			return w.gone(ctx, err)
		}
		if update.Resync != "" {
			return h.Answer(ctx, id, ref) // from the beginning
		}
		if update.Event == nil {
			continue
		}
		done, err := w.see(ctx, update.Event)
		if done || err != nil || w.upto > 0 && update.Event.Seq >= w.upto {
			return w.answer, err
		}
	}
	return w.answer, context.Cause(ctx)
}

// waiter looks for the answer to an input.
type waiter struct {
	engine *Engine
	answer Answer
	asks   bool   // there is somebody to ask; else the default answers at once
	upto   uint64 // the input is settled by this event at the latest; 0: not known yet
}

// see looks at an event, and reports whether the input is settled.
func (w *waiter) see(ctx context.Context, e *parley.Event) (done bool, err error) {
	ref := w.answer.Input.Ref
	body, err := e.Decode()
	if err != nil {
		return false, err
	}
	mine := w.answer.Turn != "" && e.Turn == w.answer.Turn
	switch b := body.(type) {
	case *parley.Message:
		if slices.Contains(b.Inputs, ref) {
			w.answer.Turn = e.Turn
			if b.Hidden { // the answer to a command
				w.answer.Message = b
				return true, w.reread(ctx)
			}
			return e.Turn == "", w.reread(ctx) // only logged
		}
		if mine && b.Role == parley.MessageAssistant {
			m := *b
			shownMessage(&m)
			w.answer.Message = &m
		}
	case *parley.TurnCompleted:
		if w.answer.Turn == "" { // the message that showed it may have been redacted
			if err := w.reread(ctx); err != nil {
				return false, err
			}
			mine = w.answer.Input.Turn == e.Turn
			w.answer.Turn = w.answer.Input.Turn
		}
		if mine {
			w.answer.Completed = b
			return true, w.reread(ctx)
		}
	case *parley.ApprovalRequested:
		if mine && w.asks {
			return w.awaits(ctx, b.Call)
		}
	case *parley.Ended, *parley.Updated:
		err := w.reread(ctx)
		return w.answer.Input.State == parley.InputDropped, err
	}
	return false, nil
}

// reread reads how the input stands.
func (w *waiter) reread(ctx context.Context) error {
	in, err := w.engine.store.Input(ctx, parley.SeeAll(), w.answer.Input.Ref)
	if err == nil {
		w.answer.Input = in
	}
	return err
}

// awaits reports whether a question is still open.
func (w *waiter) awaits(ctx context.Context, call parley.CallID) (bool, error) {
	all, err := w.engine.store.Approvals(ctx, parley.SeeAll(), w.answer.Input.Session)
	if err != nil {
		return false, err
	}
	for _, a := range all {
		if a.Turn == w.answer.Turn && a.Call == call && a.State == parley.ApprovalPending {
			w.answer.Awaits = &a
			return true, nil
		}
	}
	return false, nil
}

// gone is the answer if the session cannot be followed any more: one that was
// deleted has settled everything.
func (w *waiter) gone(ctx context.Context, err error) (Answer, error) {
	if errors.Is(err, parley.ErrNotFound) && w.reread(ctx) == nil && !w.answer.Input.State.Open() {
		return w.answer, nil
	}
	return w.answer, err
}
