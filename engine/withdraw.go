package engine

import (
	"context"
	"errors"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// Withdraw takes back an input that still waits. It reports false if it does not
// wait any more.
func (h *Handle) Withdraw(ctx context.Context, id parley.SessionID, ref parley.InputRef) (bool, error) {
	in, err := h.engine.store.Input(ctx, parley.SeeAll(), ref)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return false, err
	}
	mine := err == nil && in.Session == id && h.caller.Is(in.Principal)
	found, err := h.on(ctx, access.OpWithdraw, id, func(t *access.Target) { t.Requester = mine })
	if err != nil {
		return false, err
	}
	if in.Session != id {
		return false, noInput(ref)
	}
	for range maxAttempts {
		ok, err := h.withdraw(ctx, id, ref, found.audit)
		if !errors.Is(err, errMoved) {
			return ok, err
		}
	}
	return false, errRestless()
}

// withdraw takes an input back. The session is held meanwhile: a turn that ends in
// between looks at what waits to decide whether the session is still busy.
func (h *Handle) withdraw(ctx context.Context, id parley.SessionID, ref parley.InputRef, audit []parley.AuditEntry) (bool, error) {
	defer h.engine.holds.hold(id)()
	s, err := h.engine.store.Session(ctx, parley.SeeAll(), id)
	if err != nil {
		return false, err
	}
	turns, err := h.engine.store.OpenTurns(ctx, parley.SeeAll(), id)
	if err != nil {
		return false, err
	}
	expect := []parley.Expectation{parley.InputIs{Ref: ref, State: parley.InputQueued}}
	change := parley.SessionChange{
		Session: id, Inputs: []parley.InputChange{{Ref: ref, State: parley.InputDropped, Decision: "withdrawn by its sender"}},
		Events: []parley.NewEvent{{Identity: h.caller.Principal().Identity, Body: &parley.Updated{Fields: []string{"queued"}}}},
	}
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
	_, err = h.commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Expect: expect, Audit: audit, Sessions: []parley.SessionChange{change}})
	if e, ok := errors.AsType[*parley.ExpectError](err); ok {
		if e.Index > 0 {
			return false, errMoved
		}
		return false, nil
	}
	if err == nil {
		h.engine.wake(id)
	}
	return err == nil, err
}
