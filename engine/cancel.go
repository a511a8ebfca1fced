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
	turns, err := h.store.OpenTurns(ctx, parley.SeeAll(), id)
	if err != nil {
		return false, err
	}
	var open parley.Turn
	for _, t := range turns {
		if turn == "" || t.ID == turn {
			open = t
		}
	}
	requester, err := h.asked(ctx, id, open.ID)
	if err != nil {
		return false, err
	}
	if _, err := h.on(ctx, access.OpCancel, id, func(t *access.Target) { t.Requester = requester }); err != nil {
		return false, err
	}
	if open.ID == "" {
		return false, nil
	}
	defer h.holds.hold(id)()
	_, err = h.store.Commit(ctx, parley.Batch{
		At:       h.cfg.Clock.Now(),
		Expect:   []parley.Expectation{parley.TurnIs{Session: id, Turn: open.ID, State: open.State}},
		Sessions: []parley.SessionChange{{Session: id, Turns: []parley.TurnChange{{ID: open.ID, Cancel: true}}}},
	})
	if e, ok := errors.AsType[*parley.ExpectError](err); ok {
		if e.Actual == parley.TurnDone || e.Actual == parley.TurnState("") {
			return false, nil // it was completed first
		}
		return false, parley.Errorf(parley.CodeConflict, "the turn has changed meanwhile; try again")
	}
	if err != nil {
		return false, err
	}
	h.stopRunning(id, open.ID)
	h.wake(id)
	return true, nil
}

// asked reports whether the caller is whose input a turn works on.
func (h *Handle) asked(ctx context.Context, id parley.SessionID, turn parley.TurnID) (bool, error) {
	if turn == "" {
		return false, nil
	}
	l := &lane{Engine: h.Engine, id: id}
	inputs, err := l.inputsOf(ctx, turn)
	if err != nil || len(inputs) == 0 {
		return false, err
	}
	return h.caller.Is(inputs[0].Principal), nil
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

// Withdraw takes back an input that still waits. It reports false if it does not
// wait any more.
func (h *Handle) Withdraw(ctx context.Context, id parley.SessionID, ref parley.InputRef) (bool, error) {
	in, err := h.store.Input(ctx, parley.SeeAll(), ref)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return false, err
	}
	mine := err == nil && in.Session == id && h.caller.Is(in.Principal)
	if _, err := h.on(ctx, access.OpWithdraw, id, func(t *access.Target) { t.Requester = mine }); err != nil {
		return false, err
	}
	if in.Session != id {
		return false, parley.Errorf(parley.CodeNotFound, "there is no input %q in this session", ref.ID)
	}
	for range maxAttempts {
		ok, err := h.withdraw(ctx, id, ref)
		if !errors.Is(err, errMoved) {
			return ok, err
		}
	}
	return false, errRestless()
}

func (h *Handle) withdraw(ctx context.Context, id parley.SessionID, ref parley.InputRef) (bool, error) {
	s, err := h.store.Session(ctx, parley.SeeAll(), id)
	if err != nil {
		return false, err
	}
	turns, err := h.store.OpenTurns(ctx, parley.SeeAll(), id)
	if err != nil {
		return false, err
	}
	expect := []parley.Expectation{parley.InputIs{Ref: ref, State: parley.InputQueued}}
	change := parley.SessionChange{Session: id, Inputs: []parley.InputChange{{Ref: ref, State: parley.InputDropped, Decision: "withdrawn by its sender"}}}
	if s.Status == parley.StatusRunning && len(turns) == 0 && s.Queued == 1 {
		// The session is between two turns, and the second does not come.
		idle := parley.StatusIdle
		if s.Ended != nil {
			idle = parley.StatusInactive
		}
		change.Patch.Status = &idle
		expect = append(expect,
			parley.FenceIs{Session: id, Fence: s.Fence},
			parley.StatusIn{Session: id, Any: []parley.Status{parley.StatusRunning}},
			parley.QueuedAtMost{Session: id, Max: 1})
	}
	_, err = h.store.Commit(ctx, parley.Batch{At: h.cfg.Clock.Now(), Expect: expect, Sessions: []parley.SessionChange{change}})
	if e, ok := errors.AsType[*parley.ExpectError](err); ok {
		if e.Index > 0 {
			return false, errMoved
		}
		return false, nil
	}
	if err == nil {
		h.wake(id)
	}
	return err == nil, err
}

// Remember says how long an approval holds.
type Remember string

// The ways to remember an approval.
const (
	RememberOnce    Remember = "once"
	RememberSession Remember = "session" // the tool is allowed in this session from then on
)

// Approve answers whether a call may run. An answer that comes too late is
// [parley.CodeConflict] and says what was decided.
func (h *Handle) Approve(ctx context.Context, id parley.SessionID, call parley.CallID, allow bool, remember Remember) error {
	all, err := h.store.Approvals(ctx, parley.SeeAll(), id)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	var a parley.Approval
	for _, other := range all {
		if other.Call == call {
			a = other
		}
	}
	requester, err := h.asked(ctx, id, a.Turn)
	if err != nil {
		return err
	}
	if _, err := h.on(ctx, access.OpApprove, id, func(t *access.Target) { t.Requester, t.Approval = requester, a.State }); err != nil {
		return err
	}
	state := parley.ApprovalDenied
	if allow {
		state = parley.ApprovalApproved
	}
	err = h.answer(ctx, a, state, h.caller.Principal().Identity, func(c *parley.SessionChange) {
		if allow && remember == RememberSession {
			c.Patch.Metadata = map[string]string{allowedPrefix + a.Tool: string(h.caller.Principal().Identity)}
		}
	})
	if e, ok := errors.AsType[*parley.ExpectError](err); ok {
		return &parley.Error{Code: parley.CodeConflict, Message: "the question was settled before", Err: e}
	}
	if err == nil {
		h.wake(id)
	}
	return err
}
