package feed

import (
	"slices"

	"github.com/parley-run/parley"
)

// turnWatcher is a [parley.Wake] that is shown what is committed before it is woken, and so
// knows of the beginning and the end of turns without reading.
type turnWatcher interface {
	// committed says what was changed in a session, whose log ends with seq now.
	committed(c *parley.SessionChange, seq uint64)
	// forgetTurn says that what is known of the session's turn may not hold any more: from
	// now on its log is read.
	forgetTurn(id parley.SessionID)
}

// mayWait reports whether the log of a session may stay unread while nobody follows the
// session: a commit will tell the end of its turn, and nobody follows all sessions.
// f.mu is held.
func (f *Feed) mayWait(id parley.SessionID) bool {
	_, inTurn := f.inTurn[id]
	return inTurn && len(f.views) == 0
}

// committed implements turnWatcher.
func (f *Feed) committed(c *parley.SessionChange, seq uint64) {
	if c.Delete {
		f.forgetTurn(c.Session)
		return
	}
	// A turn that starts ends the reply of the one before, too.
	closes, starts := false, false
	var messages []string
	for _, e := range c.Events {
		if m, ok := e.Body.(*parley.Message); ok {
			messages = append(messages, m.ID)
		}
		if slices.Contains(closers, e.Body.EventType()) {
			closes, starts = true, e.Body.EventType() == parley.EventTurnStarted
		}
	}
	if !closes && messages == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !closes:
	case starts && !f.isClosed():
		f.inTurn[c.Session] = struct{}{}
	default:
		delete(f.inTurn, c.Session)
	}
	ends := func(s *stream) bool { return closes && s.after < seq || slices.Contains(messages, s.name) }
	if t := f.sessions[c.Session]; t != nil && t.endUnfollowed(ends) {
		delete(f.sessions, c.Session)
	}
}

// forgetTurn implements turnWatcher.
func (f *Feed) forgetTurn(id parley.SessionID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.inTurn, id)
}
