package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// Changes are what people may change about a session: what is set. Metadata is
// merged; an empty value removes its name.
type Changes struct {
	Title       *string
	Description *string
	Busy        *parley.BusyMode
	Metadata    map[string]string
}

// reservedPrefix begins the names of metadata that are the runtime's own.
const reservedPrefix = "parley."

// Patch changes a session.
func (h *Handle) Patch(ctx context.Context, id parley.SessionID, c Changes) (parley.Session, error) {
	if err := unreserved(c.Metadata); err != nil {
		return parley.Session{}, err
	}
	return h.patch(ctx, id, c)
}

// unreserved refuses names of metadata that are the runtime's own.
func unreserved(metadata map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		if strings.HasPrefix(name, reservedPrefix) {
			return parley.Errorf(parley.CodeInvalid, "metadata %q is set by the runtime; names that begin with %q are its own", name, reservedPrefix)
		}
	}
	return nil
}

// patch is Patch for the runtime itself.
func (h *Handle) patch(ctx context.Context, id parley.SessionID, c Changes) (parley.Session, error) {
	s, err := h.on(ctx, access.OpPatch, id)
	if err != nil {
		return parley.Session{}, err
	}
	var fields []string
	patch := parley.SessionPatch{}
	if c.Title != nil && *c.Title != s.Title.Text {
		patch.Title, fields = &parley.Title{Text: *c.Title}, append(fields, "title")
	}
	if c.Description != nil && *c.Description != s.Description {
		patch.Description, fields = c.Description, append(fields, "description")
	}
	if c.Busy != nil && *c.Busy != s.Busy {
		patch.Busy, fields = c.Busy, append(fields, "busy")
	}
	for name, value := range c.Metadata {
		if s.Metadata[name] != value {
			patch.Metadata = c.Metadata
		}
	}
	if patch.Metadata != nil {
		fields = append(fields, "metadata")
	}
	if len(fields) == 0 {
		return shownSession(s.Session), nil
	}
	_, err = h.commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Audit: s.audit, Sessions: []parley.SessionChange{{
		Session: id, Patch: patch,
		Events: []parley.NewEvent{{Identity: h.caller.Principal().Identity, Body: &parley.Updated{Fields: fields}}},
	}}})
	if err != nil {
		return parley.Session{}, err
	}
	s.Session, err = h.engine.store.Session(ctx, parley.SeeAll(), id)
	return shownSession(s.Session), err
}

// SetParticipant lets somebody take part in a session, or not any more.
func (h *Handle) SetParticipant(ctx context.Context, id parley.SessionID, who parley.IdentityID, takesPart bool) error {
	if err := who.Validate(); err != nil {
		return err
	}
	s, err := h.on(ctx, access.OpParticipants, id)
	if err != nil {
		return err
	}
	if slices.Contains(s.people, who) == takesPart {
		return nil
	}
	for i := range s.audit {
		s.audit[i].Subject = string(who)
	}
	_, err = h.commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Audit: s.audit, Sessions: []parley.SessionChange{{
		Session: id,
		Events:  []parley.NewEvent{{Identity: h.caller.Principal().Identity, Body: &parley.ParticipantChanged{Identity: who, Left: !takesPart}}},
	}}})
	return err
}
