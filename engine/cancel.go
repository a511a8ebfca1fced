package engine

import (
	"context"
	"errors"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// Cancel stops a turn, or the one that is open if none is named. It returns when
// that is durable: a turn that was not completed by then ends as aborted, with what
// it had said, however the program ends. It reports false if there was nothing to
// stop.
func (h *Handle) Cancel(ctx context.Context, id parley.SessionID, turn parley.TurnID) (bool, error) {
	for range maxAttempts {
		ok, err := h.tryCancel(ctx, id, turn)
		if !errors.Is(err, errMoved) {
			return ok, err
		}
	}
	return false, errRestless()
}

// tryCancel is Cancel for the state a turn has. It fails with errMoved if the turn is
// taken up or put off meanwhile.
func (h *Handle) tryCancel(ctx context.Context, id parley.SessionID, turn parley.TurnID) (bool, error) {
	turns, err := h.engine.store.OpenTurns(ctx, parley.SeeAll(), id)
	if err != nil {
		return false, err
	}
	var open parley.Turn
	for _, t := range turns {
		if turn == "" || t.ID == turn {
			open = t
		}
	}
	requester, err := h.isRequester(ctx, id, open.ID)
	if err != nil {
		return false, err
	}
	found, err := h.on(ctx, access.OpCancel, id, func(t *access.Target) { t.Requester = requester })
	if err != nil {
		return false, err
	}
	if open.ID == "" {
		return false, nil
	}
	defer h.engine.holds.hold(id)()
	_, err = h.commit(ctx, parley.Batch{
		At:       h.engine.cfg.Clock.Now(),
		Audit:    found.audit,
		Expect:   []parley.Expectation{parley.TurnIs{Session: id, Turn: open.ID, State: open.State}},
		Sessions: []parley.SessionChange{{Session: id, Turns: []parley.TurnChange{{ID: open.ID, Cancel: true}}}},
	})
	if e, ok := errors.AsType[*parley.ExpectError](err); ok {
		if h.rider.stale(err) {
			return false, err
		}
		if e.Actual == parley.TurnDone || e.Actual == parley.TurnState("") {
			return false, nil // it was completed first
		}
		return false, errMoved
	}
	if err != nil {
		return false, err
	}
	h.engine.stopRunning(id, open.ID)
	h.engine.wake(id)
	return true, nil
}

// isRequester reports whether the caller is whose input a turn works on.
func (h *Handle) isRequester(ctx context.Context, id parley.SessionID, turn parley.TurnID) (bool, error) {
	requester, err := h.engine.requester(ctx, id, turn)
	return err == nil && requester.Identity != "" && h.caller.Is(requester), err
}

// requester gives whose input a turn works on; nobody, if there is no such turn.
func (e *Engine) requester(ctx context.Context, id parley.SessionID, turn parley.TurnID) (parley.Principal, error) {
	if turn == "" {
		return parley.Principal{}, nil
	}
	l := &lane{Engine: e, id: id}
	inputs, err := l.inputsOf(ctx, turn)
	if err != nil || len(inputs) == 0 {
		return parley.Principal{}, err
	}
	return inputs[0].Principal, nil
}

func (e *Engine) laneOf(id parley.SessionID) *lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lanes[id]
}

// stopRunning ends the context of a turn whose cancellation is durable. The session
// is held from before that was written: so the turn cannot have ended since, and if
// it is about to run, its lane is there and will know.
func (e *Engine) stopRunning(id parley.SessionID, turn parley.TurnID) {
	l := e.laneOf(id)
	if l == nil {
		return
	}
	l.canceled = turn
	if l.turn == turn {
		l.cancel(parley.ErrCanceled)
	}
}
