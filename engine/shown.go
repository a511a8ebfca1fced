package engine

import (
	"bytes"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
)

// shownEvent is an event as a person reads it: without the markers by which a
// model says nothing. An event that has none is given as it is, and shared.
func shownEvent(e *parley.Event) *parley.Event {
	if e.Type != parley.EventMessage || !bytes.ContainsRune(e.Data, '<') {
		return e
	}
	body, err := e.Decode()
	if err != nil {
		return e // it is shown as it is stored
	}
	m, ok := body.(*parley.Message)
	if !ok || !shownMessage(m) {
		return e
	}
	data, err := parley.EncodeBody(m)
	if err != nil {
		return e
	}
	shown := *e
	shown.Data = data
	return &shown
}

// shownMessage takes the markers out of a message, and reports whether there were
// any. A text of which nothing remains goes.
func shownMessage(m *parley.Message) (changed bool) {
	if m.Role != parley.MessageAssistant {
		return false
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != parley.PartText {
			continue
		}
		if text, _ := group.Strip(p.Text); text != p.Text {
			p.Text, changed = text, true
		}
	}
	m.Parts = slices.DeleteFunc(m.Parts, func(p parley.Part) bool { return changed && p.Kind == parley.PartText && p.Text == "" })
	return changed
}

// shownSession is a session as a person reads it.
func shownSession(s parley.Session) parley.Session {
	s.Preview, _ = group.Strip(s.Preview)
	return s
}
