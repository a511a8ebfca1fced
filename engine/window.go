package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
)

// windowTypes are the events a window is made of.
var windowTypes = []parley.EventType{parley.EventMessage, parley.EventRewound, parley.EventReset}

// window reads what a turn shows to the model. In a group each message begins
// with who wrote it.
func (e *Engine) window(ctx context.Context, s parley.Session, turn parley.TurnID) (parley.Window, error) {
	events, err := e.inWindow(ctx, s, turn)
	if err != nil {
		return parley.Window{}, err
	}
	if events, err = e.withTail(ctx, events); err != nil {
		return parley.Window{}, err
	}
	w, err := parley.WindowOf(events, turn)
	if start := windowStart(s.LastSeq); start > 0 && (len(events) == 0 || events[0].Seq > start) {
		w.Past = append([]parley.Message{{ID: "earlier", Role: parley.MessageUser, Parts: []parley.Part{{Kind: parley.PartText, Note: true, Text: notShown}}}}, w.Past...)
	}
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

// A window has the last events of a session, and no more than that many: a turn in
// a long conversation costs what one in a short one does. Where it starts moves in
// steps, so that the windows of nearly all turns begin alike.
const (
	windowEvents = 4_000
	windowStep   = 2_000
)

// notShown is the first thing the model reads if the window does not begin with the
// conversation.
const notShown = "[Note from the runtime, not from a person]\nEarlier messages of this conversation are kept, and not shown here.\n[End of the note]"

// windowStart gives the seq after which the window of a session begins.
func windowStart(last uint64) uint64 {
	if last < windowEvents+windowStep {
		return 0
	}
	return (last - windowEvents) / windowStep * windowStep
}

// inWindow reads the events that a turn's window is made of. A turn that the start
// would cut in two is left out; the one that the window is for is always whole.
func (e *Engine) inWindow(ctx context.Context, s parley.Session, turn parley.TurnID) ([]parley.Event, error) {
	start := windowStart(s.LastSeq)
	events, err := e.events(ctx, s.ID, start, 0, windowTypes)
	if err != nil || start == 0 || len(events) == 0 {
		return events, err
	}
	if slices.IndexFunc(events, func(e parley.Event) bool { return e.Turn != "" && e.Turn == turn }) == 0 {
		return e.events(ctx, s.ID, 0, 0, windowTypes)
	}
	if first := events[0].Turn; first != "" {
		events = slices.DeleteFunc(events, func(e parley.Event) bool { return e.Turn == first })
	}
	return events, nil
}

// events reads events of a session after a seq, up to one (0: all).
func (e *Engine) events(ctx context.Context, id parley.SessionID, after, upto uint64, types []parley.EventType) ([]parley.Event, error) {
	var all []parley.Event
	for {
		page, err := e.store.Events(ctx, parley.SeeAll(), id, parley.EventQuery{After: after, Types: types, Limit: parley.MaxPageSize})
		if err != nil {
			return nil, err
		}
		last := len(page) < parley.MaxPageSize
		if upto > 0 {
			if i := slices.IndexFunc(page, func(e parley.Event) bool { return e.Seq > upto }); i >= 0 {
				page, last = page[:i], true
			}
		}
		if all == nil {
			all = page // most have no other
		} else {
			all = append(all, page...)
		}
		if last {
			return all, nil
		}
		after = page[len(page)-1].Seq
	}
}

// nameless stands for the name of a sender who has none.
const nameless = "somebody"

// named puts the sender's name before a person's message.
func named(m *parley.Message, t parley.SessionType) {
	if m.Role != parley.MessageUser || m.Sender == nil {
		return
	}
	from := *m.Sender
	from.Name = cmp.Or(from.Name, nameless)
	prefix := group.Prefix(t, from, !m.Undirected)
	if prefix == "" {
		return
	}
	m.Parts = append([]parley.Part{parley.TextPart(prefix)}, m.Parts...)
	if len(m.Parts) > 1 && m.Parts[1].Kind == parley.PartText {
		m.Parts[1].Text = prefix + m.Parts[1].Text
		m.Parts = m.Parts[1:]
	}
}
