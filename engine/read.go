package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// LoggedMessage is a message as it stands in the log.
type LoggedMessage struct {
	Seq      uint64
	Turn     parley.TurnID
	At       time.Time
	Identity parley.IdentityID
	Message  parley.Message
	Redacted bool // its content was taken away: Message is empty
}

// MessagePage is a part of a transcript, oldest first.
type MessagePage struct {
	Messages []LoggedMessage
	// Before is where the page before this one ends; 0: this is the first.
	Before uint64
}

// Messages gives the last messages of a session before a seq, 0 being the end.
func (h *Handle) Messages(ctx context.Context, id parley.SessionID, before uint64, limit int) (MessagePage, error) {
	if _, err := h.reads(ctx, id); err != nil {
		return MessagePage{}, err
	}
	events, err := h.engine.store.Events(ctx, parley.SeeAll(), id, parley.EventQuery{
		Last: true, Before: before, Types: []parley.EventType{parley.EventMessage}, Limit: limit,
	})
	if err != nil {
		return MessagePage{}, err
	}
	var page MessagePage
	for i := range events {
		e := &events[i]
		body, err := e.Decode()
		if err != nil {
			return MessagePage{}, err
		}
		logged := LoggedMessage{Seq: e.Seq, Turn: e.Turn, At: e.At, Identity: e.Identity}
		if m, ok := body.(*parley.Message); ok {
			shownMessage(m)
			logged.Message = *m
		} else {
			logged.Redacted = true
		}
		page.Messages = append(page.Messages, logged)
	}
	if len(events) == parley.PageSize(limit) && events[0].Seq > 1 {
		page.Before = events[0].Seq
	}
	return page, nil
}

// Log gives the events of a session after a seq.
func (h *Handle) Log(ctx context.Context, id parley.SessionID, after uint64, limit int) ([]parley.Event, error) {
	if _, err := h.reads(ctx, id); err != nil {
		return nil, err
	}
	events, err := h.engine.store.Events(ctx, parley.SeeAll(), id, parley.EventQuery{After: after, Limit: limit})
	for i := range events {
		events[i] = *shownEvent(&events[i])
	}
	return events, err
}

// Input gives one input of a session.
func (h *Handle) Input(ctx context.Context, id parley.SessionID, ref parley.InputRef) (parley.Input, error) {
	if _, err := h.reads(ctx, id); err != nil {
		return parley.Input{}, err
	}
	in, err := h.engine.store.Input(ctx, parley.SeeAll(), ref)
	if err == nil && in.Session != id {
		err = noInput(ref)
	}
	return in, err
}

func noInput(ref parley.InputRef) error {
	return parley.Errorf(parley.CodeNotFound, "there is no input %q in this session", ref.ID)
}

// Waiting gives the inputs of a session that wait for their turn, in that order.
func (h *Handle) Waiting(ctx context.Context, id parley.SessionID) ([]parley.Input, error) {
	if _, err := h.reads(ctx, id); err != nil {
		return nil, err
	}
	inputs, err := h.engine.store.OpenInputs(ctx, parley.SeeAll(), id, parley.InputRef{}, parley.MaxPageSize)
	var waiting []parley.Input
	for _, in := range inputs {
		if in.State == parley.InputQueued {
			waiting = append(waiting, in)
		}
	}
	return waiting, err
}

// Approvals gives the questions that wait for an answer, in the sessions that the
// caller sees.
func (h *Handle) Approvals(ctx context.Context) ([]parley.Approval, error) {
	v, err := access.Visible(h.caller)
	if err != nil {
		return nil, err
	}
	return h.engine.store.Approvals(ctx, v, "")
}

// Participants gives who takes part in a session.
func (h *Handle) Participants(ctx context.Context, id parley.SessionID) ([]parley.Identity, error) {
	found, err := h.reads(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.engine.identities(ctx, found.people)
}

// identities gives accounts by their ids. One that nobody has stored has no name.
func (e *Engine) identities(ctx context.Context, ids []parley.IdentityID) ([]parley.Identity, error) {
	list := make([]parley.Identity, 0, len(ids))
	for _, id := range ids {
		identity, err := e.store.Identity(ctx, id)
		if errors.Is(err, parley.ErrNotFound) {
			identity = parley.Identity{ID: id}
		} else if err != nil {
			return nil, err
		}
		list = append(list, identity)
	}
	return list, nil
}

// OpenTurn is a turn that is under way, or waits.
type OpenTurn struct {
	parley.Turn
	Agent  string
	Tool   string    // the call that runs; empty: none
	Since  time.Time // of that call, else of the turn
	Queued int       // inputs that wait behind it
}

// Turns gives the open turns of the sessions that the caller sees.
func (h *Handle) Turns(ctx context.Context) ([]OpenTurn, error) {
	v, err := access.Visible(h.caller)
	if err != nil {
		return nil, err
	}
	turns, err := h.engine.store.OpenTurns(ctx, v, "")
	if err != nil {
		return nil, err
	}
	list := make([]OpenTurn, 0, len(turns))
	for _, t := range turns {
		open := OpenTurn{Turn: t, Since: t.StartedAt}
		s, err := h.engine.store.Session(ctx, v, t.Session)
		if errors.Is(err, parley.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		open.Agent, open.Queued = s.Agent.Name, s.Queued
		calls, err := h.engine.store.Calls(ctx, v, t.Session, t.ID)
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return nil, err
		}
		for _, c := range calls {
			if c.State == parley.CallStarted {
				open.Tool, open.Since = c.Tool, c.StartedAt
			}
		}
		list = append(list, open)
	}
	return list, nil
}

// mostFound bounds how many sessions a name is looked for in.
const mostFound = 2_000

// Find gives the session that somebody means by an id, or by the beginning of one
// or of its name, if that is said of one session alone.
func (h *Handle) Find(ctx context.Context, ref string) (parley.SessionID, error) {
	return h.find(ctx, ref, parley.SessionQuery{IncludeInactive: true})
}

// find is Find for what begins like ref among some sessions; a whole id may be that of
// any.
func (h *Handle) find(ctx context.Context, ref string, q parley.SessionQuery) (parley.SessionID, error) {
	if id := parley.SessionID(ref); id.Validate() == nil {
		if _, err := h.on(ctx, access.OpRead, id); err == nil {
			return id, nil
		} else if !errors.Is(err, parley.ErrNotFound) && !errors.Is(err, parley.ErrForbidden) {
			return "", err
		}
	}
	var found parley.SessionID
	q.Limit = parley.MaxPageSize
	for looked := 0; looked < mostFound; looked += q.Limit {
		page, err := h.Sessions(ctx, q)
		if err != nil {
			return "", err
		}
		for _, s := range page.Sessions {
			_, name, _ := strings.Cut(string(s.ID), ":")
			if !strings.HasPrefix(string(s.ID), ref) && !strings.HasPrefix(name, ref) {
				continue
			}
			if found != "" {
				return "", parley.Errorf(parley.CodeConflict, "%q begins the ids of several sessions, such as %s and %s; say more of it", ref, found, s.ID)
			}
			found = s.ID
		}
		if q.Cursor = page.Cursor; q.Cursor == "" {
			break
		}
	}
	if found == "" {
		return "", parley.Errorf(parley.CodeNotFound, "there is no session %q", ref)
	}
	return found, nil
}
