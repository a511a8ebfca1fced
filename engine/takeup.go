package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/lifecycle"
)

const shutdownReason = lifecycle.ShutdownTimeout

// takeUp goes on with a turn that is open: it waits for a person, for a model, or
// the program stopped while it ran.
func (l *lane) takeUp(ctx context.Context, s parley.Session, t parley.Turn) (more bool, err error) {
	b := begun{session: s, turn: t, fence: s.Fence}
	if b.inputs, err = l.inputsOf(ctx, t.ID); err != nil {
		return false, err
	}
	if len(b.inputs) > 0 {
		b.principal = b.inputs[0].Principal
	}
	if t.CancelRequested {
		defer l.holds.hold(l.id)()
		return moved(l.closeOpen(ctx, &b, parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: parley.StopAborted, Usage: t.Usage}}))
	}
	now := l.cfg.Clock.Now()
	note := ""
	switch t.State {
	case parley.TurnAwaitingApproval:
		until, err := l.overdue(ctx, s, t.ID, now)
		if err != nil {
			return moved(err)
		}
		if !until.IsZero() {
			l.wakeAt(l.id, until)
			return false, nil
		}
	case parley.TurnParked:
		if now.Before(t.ParkedUntil) {
			l.wakeAt(l.id, t.ParkedUntil)
			return false, nil
		}
	default:
		note = "The program was restarted while this turn was under way. What is recorded above has happened; go on from there."
	}
	if ok, err := l.slot(ctx, b.principal); !ok {
		return false, err
	}
	if err := l.reenter(ctx, &b, note); err != nil {
		l.slots.release()
		return moved(err)
	}
	return l.oneTurn(ctx, b)
}

// inputsOf gives the inputs that a turn works on.
func (l *lane) inputsOf(ctx context.Context, turn parley.TurnID) ([]parley.Input, error) {
	inputs, err := l.store.OpenInputs(ctx, parley.SeeAll(), l.id, parley.InputRef{}, parley.MaxPageSize)
	return slices.DeleteFunc(inputs, func(in parley.Input) bool { return in.State != parley.InputRunning || in.Turn != turn }), err
}

// reenter claims a turn again.
func (l *lane) reenter(ctx context.Context, b *begun, note string) error {
	attempt, state, status := b.turn.Attempt+1, parley.TurnRunning, parley.StatusRunning
	change := parley.SessionChange{
		Session: l.id, Claim: true, Patch: parley.SessionPatch{Status: &status},
		Turns:  []parley.TurnChange{{ID: b.turn.ID, Attempt: &attempt, State: &state}},
		Events: []parley.NewEvent{{Turn: b.turn.ID, Body: &parley.TurnStarted{Attempt: attempt}}},
	}
	if note != "" {
		change.Events = append(change.Events, parley.NewEvent{Turn: b.turn.ID, Body: &parley.Message{
			ID: fmt.Sprintf("%s.note.%d", b.turn.ID, attempt), Role: parley.MessageSystem, Parts: []parley.Part{parley.TextPart(note)},
		}})
	}
	result, err := l.store.Commit(ctx, parley.Batch{
		At: l.cfg.Clock.Now(),
		Expect: []parley.Expectation{
			parley.FenceIs{Session: l.id, Fence: b.fence},
			parley.TurnIs{Session: l.id, Turn: b.turn.ID, State: b.turn.State},
		},
		Sessions: []parley.SessionChange{change},
	})
	if err != nil {
		return err
	}
	b.turn.Attempt, b.turn.State = attempt, parley.TurnRunning
	b.fence, b.lastSeq = result.Sessions[0].Fence, result.Sessions[0].LastSeq
	return nil
}

// closeOpen ends a turn that nobody runs.
func (l *lane) closeOpen(ctx context.Context, b *begun, end parley.TurnEnd) error {
	if b.turn.State != parley.TurnRunning {
		if err := l.reenter(ctx, b, ""); err != nil {
			return err
		}
	}
	return l.close(ctx, b, end)
}
