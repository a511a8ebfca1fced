package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// workOn runs a turn to where it ends or waits, and gives its slot back.
func (l *lane) workOn(ctx context.Context, b begun) error {
	turnCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	release := l.holds.hold(l.id)
	l.turn, l.cancel = b.turn.ID, cancel
	if l.canceled == b.turn.ID {
		cancel(parley.ErrCanceled) // since its start was written
	}
	release()
	end, err := l.runTurn(turnCtx, &b)
	l.slots.release()
	defer l.holds.hold(l.id)()
	l.turn, l.cancel = "", nil
	// What has happened must be written, also while the program stops.
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer done()
	// Not by the context: if the drain ended that first, it does not say.
	canceled := l.canceled == b.turn.ID
	switch {
	case err == nil:
		if canceled {
			end.Completed.StopReason = parley.StopAborted // the cancellation was first
		}
		err = l.finish(ctx, &b, end)
	case canceled && !notOwner(err):
		err = l.close(ctx, &b, parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: parley.StopAborted, Usage: l.spent(ctx, b, err)}})
	default:
		err = l.putOff(ctx, &b, err)
	}
	if b.spentFunc != nil {
		b.spentFunc(b.completed)
	}
	if err != nil && !changedMeanwhile(err) {
		if l.laneCtx.Err() != nil { // nobody else says so any more
			l.cfg.Log.Error("write the end of a turn", "session", l.id, "turn", b.turn.ID, "error", err)
		}
		return fmt.Errorf("write what became of turn %s: %w", b.turn.ID, err)
	}
	return nil
}

// runTurn runs a turn.
func (l *lane) runTurn(ctx context.Context, b *begun) (parley.TurnEnd, error) {
	t := parley.TurnContext{Session: b.session, Turn: b.turn, Principal: b.principal}
	var err error
	if t.Window, err = l.window(ctx, b.session, b.turn.ID); err != nil {
		return parley.TurnEnd{}, fmt.Errorf("read the conversation: %w", err)
	}
	cfg := JournalConfig{
		Session: l.id, Turn: b.turn.ID, Fence: b.fence, Clock: l.cfg.Clock,
		SteeredFunc: func(ctx context.Context) ([]parley.Message, error) { return l.steered(ctx, *b) },
		Allowed:     allowedTools(b.session, b.principal), CustomTypes: l.cfg.CustomTypes,
	}
	if l.cfg.Feed != nil {
		cfg.PublishFunc = l.cfg.Feed.Publish
	}
	if b.fresh {
		b.journal = newJournal(l.store, cfg, b.lastSeq)
	} else if b.journal, err = OpenJournal(ctx, l.store, cfg); err != nil {
		return parley.TurnEnd{}, err
	}
	t.Journal = b.journal
	t.System = b.system
	if !b.fresh {
		people, err := l.promptPeople(ctx, l.id, nil)
		if err != nil {
			return parley.TurnEnd{}, err
		}
		prompt, err := l.prompt(ctx, parley.PromptContext{Session: b.session, Principal: b.principal, People: people, At: b.turn.StartedAt})
		if err != nil {
			return parley.TurnEnd{}, err
		}
		t.System = prompt.System
	}
	if l.cfg.BudgetFunc != nil {
		if t.Budget, b.spentFunc, err = l.cfg.BudgetFunc(ctx, t, kindOf(b.inputs)); err != nil {
			return parley.TurnEnd{}, fmt.Errorf("open the budget: %w", err)
		}
	}
	return l.cfg.Runner.Run(ctx, t)
}

func kindOf(inputs []parley.Input) parley.InputKind {
	if len(inputs) == 0 {
		return parley.InputRecovery
	}
	return inputs[0].Kind
}

// steered shows inputs to the running turn that their senders wanted shown: those
// of the turn's own speaker.
func (l *lane) steered(ctx context.Context, b begun) ([]parley.Message, error) {
	inputs, err := l.store.OpenInputs(ctx, parley.SeeAll(), l.id, parley.InputRef{}, parley.MaxPageSize)
	if err != nil {
		return nil, err
	}
	change := parley.SessionChange{Session: l.id}
	var messages []parley.Message
	injected := &parley.DirectiveInjected{}
	now := l.cfg.Clock.Now()
	for i := range inputs {
		in := &inputs[i]
		if in.State != parley.InputQueued || in.Kind == parley.InputAutomation || mode(*in, l.busy(b.session)) != parley.BusySteer ||
			!access.Together(in.Principal, b.principal) || now.Before(in.NotBefore) || len(messages) == maxTogether {
			continue
		}
		m := messageOf(b.session, in, string(b.turn.ID)+".in."+l.cfg.IDFunc())
		messages = append(messages, *m)
		injected.Inputs = append(injected.Inputs, in.Ref)
		change.Events = append(change.Events, parley.NewEvent{Turn: b.turn.ID, Identity: in.Principal.Identity, Body: m})
		change.Inputs = append(change.Inputs, parley.InputChange{Ref: in.Ref, State: parley.InputSteered, Turn: b.turn.ID, Decision: "shown to the running turn"})
	}
	if len(messages) == 0 {
		return nil, nil
	}
	change.Events = append(change.Events, parley.NewEvent{Turn: b.turn.ID, Body: injected})
	expect := []parley.Expectation{parley.FenceIs{Session: l.id, Fence: b.fence}}
	for _, ref := range injected.Inputs {
		expect = append(expect, parley.InputIs{Ref: ref, State: parley.InputQueued})
	}
	if _, err := l.store.Commit(ctx, parley.Batch{At: now, Expect: expect, Sessions: []parley.SessionChange{change}}); err != nil {
		if e, ok := errors.AsType[*parley.ExpectError](err); ok && e.Index > 0 {
			return nil, nil // one was withdrawn; at the next look
		}
		return nil, err
	}
	return messages, nil
}

// putOff is for a turn that could not run to its end: it waits for a person, for
// a model, or for the next start of the program, or it ends with an error.
func (l *lane) putOff(ctx context.Context, b *begun, cause error) error {
	now := l.cfg.Clock.Now()
	suspended, _ := errors.AsType[*parley.SuspendError](cause)
	usage := l.spent(ctx, *b, cause)
	b.turn.Usage = usage
	switch {
	case l.laneCtx.Err() != nil:
		return l.storeWaiting(ctx, *b, parley.SessionPatch{Recovery: &parley.Recovery{
			State: parley.RecoveryResumePending, Reason: shutdownReason, At: now, Strikes: b.session.Recovery.Strikes,
		}}, parley.TurnChange{ID: b.turn.ID, Usage: &usage})
	case notOwner(cause):
		return nil
	case !errors.Is(cause, parley.ErrSuspended) && !errors.Is(cause, parley.ErrUnavailable):
		l.cfg.Log.Error("run a turn", "session", l.id, "turn", b.turn.ID, "error", cause)
		return l.close(ctx, b, parley.TurnEnd{Completed: parley.TurnCompleted{
			StopReason: parley.StopError, Usage: l.spent(ctx, *b, cause),
			Error: &parley.TurnError{Code: string(parley.CodeOf(cause)), Message: "Something went wrong here, and the message was not answered. It has been noted for the operator."},
		}})
	}
	pending, err := l.pending(ctx, b.turn.ID)
	if err != nil {
		return err
	}
	if len(pending) > 0 || errors.Is(cause, errUnanswered) { // or the answer was faster
		awaiting, status := parley.TurnAwaitingApproval, parley.StatusAwaitingApproval
		return l.storeWaiting(ctx, *b, parley.SessionPatch{Status: &status}, parley.TurnChange{ID: b.turn.ID, State: &awaiting, Usage: &usage})
	}
	var after time.Duration
	if suspended != nil {
		after = suspended.After
	}
	return l.park(ctx, b, after, cause)
}

// spent gives what a turn has consumed that did not get to its end: as its runner
// says, or as it was last said.
func (l *lane) spent(ctx context.Context, b begun, cause error) parley.Usage {
	if s, ok := errors.AsType[*parley.SuspendError](cause); ok && s.Usage != (parley.Usage{}) {
		return s.Usage
	}
	if t, err := l.store.Turn(ctx, parley.SeeAll(), l.id, b.turn.ID); err == nil {
		return t.Usage
	}
	return b.turn.Usage
}

// notOwner reports whether err says that another owner has the session. Any other
// conflict is the runner's own, and would come again.
func notOwner(err error) bool {
	e, ok := errors.AsType[*parley.ExpectError](err)
	if !ok {
		return false
	}
	_, fence := e.Expect.(parley.FenceIs)
	return fence
}

// storeWaiting changes a turn that does not go on for now.
func (l *lane) storeWaiting(ctx context.Context, b begun, patch parley.SessionPatch, turn parley.TurnChange, events ...parley.NewEvent) error {
	change := parley.SessionChange{Session: l.id, Patch: patch, Turns: []parley.TurnChange{turn}, Events: events}
	return l.insist(ctx, func(ctx context.Context) error {
		_, err := l.store.Commit(ctx, parley.Batch{
			At:       l.cfg.Clock.Now(),
			Expect:   []parley.Expectation{parley.FenceIs{Session: l.id, Fence: b.fence}, parley.TurnIs{Session: l.id, Turn: b.turn.ID, State: parley.TurnRunning}},
			Sessions: []parley.SessionChange{change},
		})
		return err
	})
}
