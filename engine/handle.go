package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/route"
)

// Handle is the engine for one caller: what it does and shows is limited to what
// the caller may do and see. It holds nothing and need not be closed.
type Handle struct {
	engine *Engine
	caller access.Caller
	rider  *rider // what the next commit takes with it; nil: nothing
}

// As gives the engine for a caller.
func (e *Engine) As(c access.Caller) *Handle { return &Handle{engine: e, caller: c} }

// spot is a session as a caller found it.
type spot struct {
	parley.Session
	people []parley.IdentityID
	target access.Target
	audit  []parley.AuditEntry // what is written down about what the caller does
	join   []parley.NewEvent   // makes who speaks a participant
	facts  *promptFacts        // for a turn that starts at once; nil: they are not read yet
}

// on reads a session and checks that the caller may do something to it. What is
// not there and what the caller may not see are told apart by nobody.
func (h *Handle) on(ctx context.Context, op access.Op, id parley.SessionID, more ...func(*access.Target)) (spot, error) {
	if err := id.Validate(); err != nil {
		return spot{}, err
	}
	found := spot{target: access.Target{ID: id}}
	err := h.engine.store.View(ctx, func(ctx context.Context) (err error) {
		if found.Session, err = h.engine.store.Session(ctx, parley.SeeAll(), id); err != nil {
			return err
		}
		if found.people, err = h.engine.store.Participants(ctx, parley.SeeAll(), id); err != nil {
			return err
		}
		found.target.Session, found.target.Participant = &found.Session, h.caller.In(found.people)
		found.target.Routed, err = h.routed(ctx, found)
		return err
	})
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return spot{}, err
	}
	for _, f := range more {
		f(&found.target)
	}
	if err := access.Check(h.caller, op, found.target); err != nil {
		return spot{}, err
	}
	if access.Audited(h.caller, op, found.target) {
		found.audit = []parley.AuditEntry{h.audited(op, id)}
	}
	return found, nil
}

// routed reports whether a session of another namespace is where messages of the
// caller's channel go: its key is that of a chat there, which goes on in it, or it
// is the one conversation of the person who speaks.
func (h *Handle) routed(ctx context.Context, s spot) (bool, error) {
	namespace := h.caller.Namespace()
	if namespace == "" || s.Key == "" || s.ID.Namespace() == namespace {
		return false, nil
	}
	entry, err := h.engine.keys.lookup(ctx, string(s.Key))
	if err != nil || entry.Current != s.ID || entry.Scope == nil {
		return false, err
	}
	if entry.Scope.Channel == route.ChannelUnified {
		return access.Check(h.caller.Person(), access.OpRead, s.target) == nil, nil
	}
	return entry.Scope.Channel == namespace, nil
}

// reads is on for who only looks, which is written down as well.
func (h *Handle) reads(ctx context.Context, id parley.SessionID) (spot, error) {
	found, err := h.on(ctx, access.OpRead, id)
	if err != nil {
		return spot{}, err
	}
	return found, h.engine.looked(ctx, found.audit)
}

// commit makes a change, with what rides on it.
func (h *Handle) commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	if h.rider != nil {
		h.rider.board(&b)
	}
	result, err := h.engine.store.Commit(ctx, b)
	if err != nil || h.rider == nil {
		return result, err
	}
	if result.Duplicate != nil {
		return result, &repeatedError{input: *result.Duplicate}
	}
	h.rider.done = true
	return result, nil
}

// Session gives one session.
func (h *Handle) Session(ctx context.Context, id parley.SessionID) (parley.Session, error) {
	found, err := h.reads(ctx, id)
	if err != nil {
		return parley.Session{}, err
	}
	return shownSession(found.Session), nil
}

// Sessions gives a page of the sessions that the caller sees.
func (h *Handle) Sessions(ctx context.Context, q parley.SessionQuery) (parley.SessionPage, error) {
	v, err := access.Visible(h.caller)
	if err != nil {
		return parley.SessionPage{}, err
	}
	page, err := h.engine.store.Sessions(ctx, v, q)
	for i := range page.Sessions {
		page.Sessions[i] = shownSession(page.Sessions[i])
	}
	return page, err
}

// Events follows a session, from a position on; see [parley.Feed]. It needs an
// engine with a feed.
func (h *Handle) Events(ctx context.Context, id parley.SessionID, from parley.Position) iter.Seq2[parley.Update, error] {
	return func(yield func(parley.Update, error) bool) {
		v, err := h.watching(ctx, id)
		h.follow(ctx, v, err, id, from, yield)
	}
}

// watching gives the visibility with which the caller follows a session. It has a
// frame of its own, as the one of who follows stays for as long as that does.
//
//go:noinline
func (h *Handle) watching(ctx context.Context, id parley.SessionID) (parley.Visibility, error) {
	found, err := h.reads(ctx, id)
	if err != nil {
		return parley.Visibility{}, err
	}
	return access.VisibleOn(h.caller, found.target)
}

// Follow follows all sessions that the caller sees, from a position on.
func (h *Handle) Follow(ctx context.Context, from parley.Position) iter.Seq2[parley.Update, error] {
	return func(yield func(parley.Update, error) bool) {
		v, err := access.Visible(h.caller)
		if p := h.caller.Principal(); err == nil && v.All && h.caller.Namespace() == "" {
			err = h.engine.looked(ctx, []parley.AuditEntry{{Action: "sessions_follow", Actor: p.Identity, Via: p.Via}})
		}
		h.follow(ctx, v, err, "", from, yield)
	}
}

func (h *Handle) follow(ctx context.Context, v parley.Visibility, err error, id parley.SessionID, from parley.Position, yield func(parley.Update, error) bool) {
	if err == nil && h.engine.cfg.Feed == nil {
		err = parley.Errorf(parley.CodeUnavailable, "this engine has no feed to follow")
	}
	if err != nil {
		yield(parley.Update{}, err)
		return
	}
	for update, err := range h.engine.cfg.Feed.Subscribe(ctx, v, id, from) {
		if update.Event != nil {
			update.Event = shownEvent(update.Event)
		}
		if !yield(update, err) {
			return
		}
	}
}
