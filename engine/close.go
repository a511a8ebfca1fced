package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-run/parley"
)

// close ends a turn: its last words, its inputs, its open questions, its status, in
// one commit. If something waits, the session stays busy. The session is held.
func (l *lane) close(ctx context.Context, b *begun, end parley.TurnEnd) error {
	end.Completed.Uncounted = !counted(b.inputs)
	err := l.insist(ctx, func(ctx context.Context) error {
		// Idle, unless something waits, or the session is not the current one by now: its key
		// leads elsewhere, or, if it has no key, it has ended.
		status := parley.StatusIdle
		var hoped []parley.Expectation
		if b.session.Key == "" {
			hoped = append(hoped, parley.EndedIs{Session: l.id, Ended: false})
		}
		hoped = append(append(hoped, parley.QueuedAtMost{Session: l.id}), current(b.session)...)
		for {
			change, expect, err := l.closing(ctx, *b, end)
			if err != nil {
				return err
			}
			change.Patch.Status = &status
			_, err = l.store.Commit(ctx, parley.Batch{
				At:       l.cfg.Clock.Now(),
				MayWait:  b.unawaited && status == parley.StatusIdle,
				Expect:   slices.Concat(hoped, expect),
				Sessions: []parley.SessionChange{change},
			})
			e, ok := errors.AsType[*parley.ExpectError](err)
			if !ok {
				l.free = err == nil && status == parley.StatusIdle
				return err
			}
			switch e.Expect.(type) {
			case parley.QueuedAtMost:
				status = parley.StatusRunning
			case parley.KeyIs, parley.EndedIs:
				status = parley.StatusInactive
			case parley.ApprovalIs:
				continue // somebody answered; the answer stands
			default:
				return err
			}
			hoped = slices.Delete(hoped, e.Index, e.Index+1)
		}
	})
	b.completed = err == nil
	return err
}

// finish closes a turn as its runner ended it. What the store refuses, such as an
// answer that is too long, it would refuse each time, and the turn would be run
// again for nothing: it ends with an error instead, without its last words.
func (l *lane) finish(ctx context.Context, b *begun, end parley.TurnEnd) error {
	refused := func(err error) bool {
		return err != nil && !changedMeanwhile(err) && !errors.Is(err, parley.ErrUnavailable) && ctx.Err() == nil
	}
	b.unawaited = l.nothingWaits(b)
	err := l.close(ctx, b, end)
	b.unawaited = false
	if !refused(err) {
		return err
	}
	l.cfg.Log.Error("the end of a turn cannot be stored", "session", l.id, "turn", b.turn.ID, "error", err)
	failed := parley.TurnCompleted{StopReason: parley.StopError}
	if end.Completed.StopReason == parley.StopAborted {
		failed.StopReason = parley.StopAborted
	}
	failed.Usage = end.Completed.Usage
	failed.Error = &parley.TurnError{Code: string(parley.CodeOf(err)), Message: "The answer could not be kept, and is lost. It has been noted for the operator."}
	if err = l.close(ctx, b, parley.TurnEnd{Completed: failed}); refused(err) {
		failed.Usage = l.spent(ctx, *b, nil) // it may be what was refused
		err = l.close(ctx, b, parley.TurnEnd{Completed: failed})
	}
	return err
}

// nothingWaits reports whether, as far as is known, nothing waits for the end of a turn: nobody has come
// since it began, and nothing was left when it did. Its answer was shown as it was written.
func (l *lane) nothingWaits(b *begun) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.again && b.session.Queued <= len(b.inputs)
}

// closing is what the end of a turn changes, whatever becomes of the session.
func (l *lane) closing(ctx context.Context, b begun, end parley.TurnEnd) (parley.SessionChange, []parley.Expectation, error) {
	done := parley.TurnDone
	change := parley.SessionChange{
		Session: l.id,
		Turns:   []parley.TurnChange{{ID: b.turn.ID, State: &done, StopReason: &end.Completed.StopReason, Usage: &end.Completed.Usage}},
	}
	expect := []parley.Expectation{
		parley.FenceIs{Session: l.id, Fence: b.fence},
		parley.TurnIs{Session: l.id, Turn: b.turn.ID, State: parley.TurnRunning},
	}
	// There is nothing left to resume. A session that was suspended stays so until
	// a turn goes well.
	switch b.session.Recovery.State {
	case parley.RecoveryResumePending:
		change.Patch.Recovery = &parley.Recovery{State: parley.RecoveryNone}
	case parley.RecoverySuspended:
		if end.Completed.StopReason != parley.StopError {
			change.Patch.Recovery = &parley.Recovery{State: parley.RecoveryNone}
		}
	}
	if !b.fresh || b.asked() {
		pending, err := l.pending(ctx, b.turn.ID)
		if err != nil {
			return change, nil, err
		}
		for _, a := range pending {
			addResolved(&change, a, parley.ApprovalCanceled, "")
			expect = append(expect, parley.ApprovalIs{Session: l.id, Turn: a.Turn, Call: a.Call, State: parley.ApprovalPending})
		}
	}
	if end.Last != nil {
		change.Events = append(change.Events, parley.NewEvent{Turn: b.turn.ID, Body: end.Last})
	}
	if e := end.Completed.Error; e != nil && e.Message != "" {
		change.Events = append(change.Events, parley.NewEvent{Turn: b.turn.ID, Body: forPeople(string(b.turn.ID)+".end", e.Message)})
	}
	change.Events = append(change.Events, parley.NewEvent{Turn: b.turn.ID, Identity: b.principal.Identity, Body: &end.Completed})
	for _, in := range b.inputs {
		change.Inputs = append(change.Inputs, parley.InputChange{Ref: in.Ref, State: parley.InputDone})
	}
	return change, expect, nil
}
