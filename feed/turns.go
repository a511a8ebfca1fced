package feed

import (
	"slices"

	"github.com/parley-run/parley"
)

// turnWatcher is a [parley.Wake] that is also shown each commit, before the wake-up for it: so it
// knows when turns begin and end without reading.
type turnWatcher interface {
	// committed says what was changed in a session, whose log ends with lastSeq now.
	committed(c *parley.SessionChange, lastSeq uint64)
	// forgetTurn says that what is known of the session's turn may not hold any more: from
	// now on its log is read.
	forgetTurn(id parley.SessionID)
}

// mayPutOff reports whether the log of a session may stay unread while nobody follows the
// session: a commit will tell the end of its turn, and nobody follows all sessions.
// f.mu is held.
func (f *Feed) mayPutOff(id parley.SessionID) bool {
	_, inTurn := f.inTurn[id]
	return inTurn && len(f.views) == 0
}

// committed implements turnWatcher.
func (f *Feed) committed(c *parley.SessionChange, lastSeq uint64) {
	if c.Delete {
		f.forgetTurn(c.Session)
		return
	}
	// The last closer says whether the session is in a turn afterwards. A turn that starts ends the
	// reply of the one before, too.
	closes, inTurn := false, false
	var messages []string
	for _, e := range c.Events {
		if m, ok := e.Body.(*parley.Message); ok {
			messages = append(messages, m.ID)
		}
		if slices.Contains(closers, e.Body.EventType()) {
			closes, inTurn = true, e.Body.EventType() == parley.EventTurnStarted
		}
	}
	if !closes && messages == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !closes:
	case inTurn && !f.isClosed():
		f.inTurn[c.Session] = struct{}{}
	default:
		delete(f.inTurn, c.Session)
	}
	isOver := func(s *stream) bool { return closes && s.after < lastSeq || slices.Contains(messages, s.name) }
	if t := f.sessions[c.Session]; t != nil && t.endUnfollowed(isOver) {
		delete(f.sessions, c.Session)
	}
}

// forgetTurn implements turnWatcher.
func (f *Feed) forgetTurn(id parley.SessionID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.inTurn, id)
}
