package engine

import (
	"context"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
)

// windowTypes are the events a window is made of.
var windowTypes = []parley.EventType{parley.EventMessage, parley.EventRewound, parley.EventReset}

// window reads what a turn shows to the model. In a group each message begins
// with who wrote it.
func (e *Engine) window(ctx context.Context, s parley.Session, turn parley.TurnID) (parley.Window, error) {
	events, err := e.events(ctx, s.ID, 0, 0, windowTypes)
	if err != nil {
		return parley.Window{}, err
	}
	if events, err = e.withTail(ctx, events); err != nil {
		return parley.Window{}, err
	}
	w, err := parley.WindowOf(events, turn)
	if err != nil || s.Type != parley.SessionGroup {
		return w, err
	}
	for _, list := range [][]parley.Message{w.Past, w.Turn} {
		for i := range list {
			named(&list[i], s.Type)
		}
	}
	return w, nil
}

// events reads events of a session after a seq, up to one (0: all).
func (e *Engine) events(ctx context.Context, id parley.SessionID, after, upto uint64, types []parley.EventType) ([]parley.Event, error) {
	var all []parley.Event
	for {
		page, err := e.store.Events(ctx, parley.SeeAll(), id, parley.EventQuery{After: after, Types: types, Limit: parley.MaxPageSize})
		if err != nil {
			return nil, err
		}
		for i := range page {
			if upto > 0 && page[i].Seq > upto {
				return all, nil
			}
			all = append(all, page[i])
		}
		if len(page) < parley.MaxPageSize {
			return all, nil
		}
		after = page[len(page)-1].Seq
	}
}

// named puts the sender's name before a person's message.
func named(m *parley.Message, t parley.SessionType) {
	if m.Role != parley.MessageUser || m.Sender == nil {
		return
	}
	prefix := group.Prefix(t, *m.Sender, !m.Undirected)
	if prefix == "" {
		return
	}
	m.Parts = append([]parley.Part{parley.TextPart(prefix)}, m.Parts...)
	if len(m.Parts) > 1 && m.Parts[1].Kind == parley.PartText {
		m.Parts[1].Text = prefix + m.Parts[1].Text
		m.Parts = m.Parts[1:]
	}
}
