package engine

import (
	"context"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// audited is the line that says what the caller does to a session.
func (h *Handle) audited(op access.Op, id parley.SessionID) parley.AuditEntry {
	p := h.caller.Principal()
	return parley.AuditEntry{Action: "session_" + string(op), Actor: p.Identity, Via: p.Via, Session: id}
}

// lookedAgain is how long somebody may go on looking at a session before that is
// written down again.
const lookedAgain = time.Hour

// looks remembers who was written down to have looked at what.
type looks struct {
	mu   sync.Mutex
	last map[look]time.Time
}

type look struct {
	who     parley.IdentityID
	session parley.SessionID
}

// maxLooks bounds what is remembered; who is forgotten is written down again.
const maxLooks = 10_000

// due reports whether a look has to be written down, and counts it as written.
func (l *looks) due(k look, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.last[k]; ok && now.Sub(at) < lookedAgain {
		return false
	}
	if l.last == nil || len(l.last) >= maxLooks {
		l.last = map[look]time.Time{}
	}
	l.last[k] = now
	return true
}

func (l *looks) forget(k look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.last, k)
}

// looked writes down that somebody looks at a session. What cannot be written down
// is not shown.
func (e *Engine) looked(ctx context.Context, entries []parley.AuditEntry) error {
	now := e.cfg.Clock.Now()
	for _, entry := range entries {
		k := look{entry.Actor, entry.Session}
		if !e.looks.due(k, now) {
			continue
		}
		if _, err := e.store.Commit(ctx, parley.Batch{At: now, Audit: []parley.AuditEntry{entry}}); err != nil {
			e.looks.forget(k)
			return err
		}
	}
	return nil
}
