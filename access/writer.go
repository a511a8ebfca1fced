package access

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// writer writes in the background: the last use of tokens, and that credentials were
// not good. It is one goroutine, which ends when nothing is left.
type writer struct {
	mu      sync.Mutex
	used    map[parley.TokenID]time.Time
	entries []parley.AuditEntry
	bad     bucket // of the entries about bad credentials
	omitted int    // of them, since the last that was written
	running bool
	closed  bool
	done    sync.WaitGroup
}

// How exact the last use of a token is, and how often it is written down that a
// credential was not good: a flood of them must not become a flood of writes.
const (
	usedEvery   = time.Minute
	failedEvery = 10 * time.Second
	failedBurst = 10
)

// writeTime is how long one write may take.
const writeTime = 30 * time.Second

// used has the use of a token written down, if the last one is a while ago.
func (p *People) used(t *parley.Token, at time.Time) {
	if at.Sub(t.LastUsedAt) < usedEvery {
		return
	}
	p.writer.mu.Lock()
	defer p.writer.mu.Unlock()
	if p.writer.closed {
		return
	}
	if p.writer.used == nil {
		p.writer.used = map[parley.TokenID]time.Time{}
	}
	p.writer.used[t.ID] = at
	p.writeLater()
}

// failed has it written down that a credential was not good, at a limited rate. How
// many were left out before is part of the next line.
func (p *People) failed(e parley.AuditEntry) {
	now := p.clock.Now()
	p.writer.mu.Lock()
	defer p.writer.mu.Unlock()
	if p.writer.closed {
		return
	}
	if wait := p.writer.bad.take(now, 1/failedEvery.Seconds(), failedBurst); wait > 0 {
		p.writer.omitted++
		return
	}
	e.Action = "sign_in_failed"
	if p.writer.omitted > 0 {
		e.Detail += fmt.Sprintf(", and %d more before it", p.writer.omitted)
		p.writer.omitted = 0
	}
	p.writer.entries = append(p.writer.entries, e)
	p.writeLater()
}

// writeLater starts the writer if it does not run. The lock is held.
func (p *People) writeLater() {
	if p.writer.running {
		return
	}
	p.writer.running = true
	p.writer.done.Go(p.write)
}

func (p *People) write() {
	for {
		p.writer.mu.Lock()
		used, entries := p.writer.used, p.writer.entries
		p.writer.used, p.writer.entries = nil, nil
		if len(used)+len(entries) == 0 {
			p.writer.running = false
			p.writer.mu.Unlock()
			return
		}
		p.writer.mu.Unlock()
		for id, at := range used { // each alone: one that is gone must not stop the others
			p.writeNow(parley.Batch{Tokens: []parley.TokenChange{{ID: id, Used: at}}})
		}
		if len(entries) > 0 {
			p.writeNow(parley.Batch{Audit: entries})
		}
	}
}

func (p *People) writeNow(b parley.Batch) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	if err := p.commit(ctx, b); err != nil {
		p.log.Warn("the use of credentials is not written down", "error", err)
	}
}

// close waits for the writer, and lets no other start.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.done.Wait()
}
