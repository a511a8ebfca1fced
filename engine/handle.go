package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// Handle is the engine for one caller: what it does and shows is limited to what
// the caller may do and see. It holds nothing and need not be closed.
type Handle struct {
	engine *Engine
	caller access.Caller
}

// As gives the engine for a caller.
func (e *Engine) As(c access.Caller) *Handle { return &Handle{engine: e, caller: c} }

// spot is a session as a caller found it.
type spot struct {
	parley.Session
	people []parley.IdentityID
}

// on reads a session and checks that the caller may do something to it. What is
// not there and what the caller may not see are told apart by nobody.
func (h *Handle) on(ctx context.Context, op access.Op, id parley.SessionID, more ...func(*access.Target)) (spot, error) {
	if err := id.Validate(); err != nil {
		return spot{}, err
	}
	target := access.Target{ID: id}
	var found spot
	var err error
	found.Session, err = h.engine.store.Session(ctx, parley.SeeAll(), id)
	if err == nil {
		found.people, err = h.engine.store.Participants(ctx, parley.SeeAll(), id)
	}
	switch {
	case err == nil:
		target.Session, target.Participant = &found.Session, h.caller.In(found.people)
	case !errors.Is(err, parley.ErrNotFound):
		return spot{}, err
	}
	for _, f := range more {
		f(&target)
	}
	if err := access.Check(h.caller, op, target); err != nil {
		return spot{}, err
	}
	return found, nil
}

// Session gives one session.
func (h *Handle) Session(ctx context.Context, id parley.SessionID) (parley.Session, error) {
	found, err := h.on(ctx, access.OpRead, id)
	return found.Session, err
}

// Sessions gives a page of the sessions that the caller sees.
func (h *Handle) Sessions(ctx context.Context, q parley.SessionQuery) (parley.SessionPage, error) {
	v, err := access.Visible(h.caller)
	if err != nil {
		return parley.SessionPage{}, err
	}
	return h.engine.store.Sessions(ctx, v, q)
}

// Events follows a session, from a position on; see [parley.Feed]. It needs an
// engine with a feed.
func (h *Handle) Events(ctx context.Context, id parley.SessionID, from parley.Position) iter.Seq2[parley.Update, error] {
	return func(yield func(parley.Update, error) bool) {
		v, err := access.Visible(h.caller)
		if err == nil && h.engine.cfg.Feed == nil {
			err = parley.Errorf(parley.CodeUnavailable, "this engine has no feed to follow")
		}
		if err == nil {
			_, err = h.on(ctx, access.OpRead, id)
		}
		if err != nil {
			yield(parley.Update{}, err)
			return
		}
		for update, err := range h.engine.cfg.Feed.Subscribe(ctx, v, id, from) {
			if !yield(update, err) {
				return
			}
		}
	}
}
