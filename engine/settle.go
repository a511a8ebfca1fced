package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/lifecycle"
)

// settle decides what becomes of each turn that the last stop cut off, before
// anything else happens.
func (e *Engine) settle(ctx context.Context) error {
	turns, err := e.store.OpenTurns(ctx, parley.SeeAll(), "")
	if err != nil {
		return err
	}
	for _, t := range turns {
		l := &lane{Engine: e, id: t.Session}
		if err := l.settle(ctx, t); err != nil {
			return fmt.Errorf("turn %s of %s: %w", t.ID, t.Session, err)
		}
	}
	return nil
}

func (l *lane) settle(ctx context.Context, t parley.Turn) error {
	defer l.holds.hold(l.id)() // people may act already
	t, err := l.store.Turn(ctx, parley.SeeAll(), l.id, t.ID)
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := l.store.Session(ctx, parley.SeeAll(), l.id)
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	found, err := l.found(ctx, t)
	if err != nil {
		return err
	}
	b := begun{session: s, turn: t, fence: s.Fence}
	if b.inputs, err = l.inputsOf(ctx, t.ID); err != nil {
		return err
	}
	if len(b.inputs) > 0 {
		b.principal = b.inputs[0].Principal
	}
	decision := lifecycle.Settle(s, t, found, l.cfg.Resume, l.cfg.Clock.Now())
	l.cfg.Log.Info("settle a turn", "session", l.id, "turn", t.ID, "action", decision.Action, "why", decision.Why)
	if l.cfg.SettledFunc != nil {
		l.cfg.SettledFunc(decision.Action)
	}
	completed := parley.TurnCompleted{StopReason: parley.StopError, Usage: t.Usage}
	switch decision.Action {
	case lifecycle.ActionDeliver:
		completed.StopReason = parley.StopDone
	case lifecycle.ActionWait, lifecycle.ActionKeep:
		return nil
	case lifecycle.ActionResume:
		return l.mark(ctx, b, decision.Recovery)
	case lifecycle.ActionClose:
		if decision.Reason == lifecycle.ReasonCanceled {
			completed.StopReason = parley.StopAborted
		}
	case lifecycle.ActionSuspend:
		if err := l.mark(ctx, b, decision.Recovery, parley.NewEvent{Turn: t.ID, Body: &parley.Suspended{Reason: string(decision.Reason)}}); err != nil {
			return err
		}
		b.session.Recovery = decision.Recovery
	}
	if decision.Tell {
		completed.Error = &parley.TurnError{Code: "interrupted", Message: "The program stopped while this was being answered, and the answer is lost. Please send the message again."}
	}
	return l.closeOpen(ctx, &b, parley.TurnEnd{Completed: completed})
}

// found is what is stored about a turn beside its row.
func (l *lane) found(ctx context.Context, t parley.Turn) (lifecycle.Found, error) {
	var found lifecycle.Found
	pending, err := l.pending(ctx, t.ID)
	if err != nil {
		return found, err
	}
	found.Pending = len(pending) > 0
	last, started := true, false
	err = turnBackward(ctx, l.store, l.id, t.ID, func(e parley.Event, m *parley.Message) bool {
		if e.At.After(found.LastEvent) {
			found.LastEvent = e.At
		}
		switch {
		case m == nil:
			started = true
		case m.Hidden:
		default:
			if last {
				found.Answered = m.Role == parley.MessageAssistant && len(m.Calls()) == 0
				last = false
			}
			if !started && (m.Role == parley.MessageAssistant || m.Role == parley.MessageTool) {
				found.Progress = true
			}
		}
		return !started
	})
	return found, err
}

// mark writes down what recovery has to do in a session.
func (l *lane) mark(ctx context.Context, b begun, r parley.Recovery, events ...parley.NewEvent) error {
	_, err := l.store.Commit(ctx, parley.Batch{
		At:       l.cfg.Clock.Now(),
		Expect:   []parley.Expectation{parley.FenceIs{Session: l.id, Fence: b.fence}, parley.TurnIs{Session: l.id, Turn: b.turn.ID, State: b.turn.State}},
		Sessions: []parley.SessionChange{{Session: l.id, Patch: parley.SessionPatch{Recovery: &r}, Events: events}},
	})
	return err
}
