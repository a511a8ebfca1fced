package sqlite

import (
	"runtime"
	"slices"
)

// group is requests that are committed together, with one sync.
type group struct {
	requests []*request
	size     int
	yielded  bool // others were let run once
}

// enqueueLocked adds a request to what is to be written. One that may wait does so until
// another comes that may not, or a group is full, or the time is over.
func (w *writer) enqueueLocked(r *request) {
	w.queue = append(w.queue, r)
	switch {
	case !r.mayWait, len(w.queue) >= maxGroupRequests:
		w.due = true
		w.wakes.Signal()
	case len(w.queue) == 1:
		w.wait.Reset(maxWait)
	}
}

// waitIsOver has those written who have waited for others.
func (w *writer) waitIsOver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = true
	w.wakes.Signal()
}

// next begins a group, when there is something to do. The group is empty if that is
// the log, or who was waited for has gone, and nil when the writer was stopped and nothing waits.
func (w *writer) next() *group {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.due && !w.logDue && !w.closed {
		w.wakes.Wait()
	}
	if len(w.queue) == 0 && w.closed {
		return nil
	}
	w.logDue = false
	g := &group{}
	w.fillLocked(g)
	return g
}

// takeMore lets those join a group who came while it was applied, and reports whether
// somebody did.
//
// Who was answered together comes back together; but if the other processors are busy,
// the first of them and the writer would keep handing this one to each other, and the
// rest wait. So where a group is much smaller than those of late, the others are let run
// once before it is written. A few are not worth that: it may be long until all have
// paused.
func (w *writer) takeMore(g *group) bool {
	if w.fill(g) {
		return true
	}
	if g.yielded || w.recentPeak < yieldFrom || len(g.requests) > w.recentPeak/2 {
		return false
	}
	g.yielded = true
	runtime.Gosched()
	return w.fill(g)
}

// fill takes what fits from the queue, and reports whether there was something.
func (w *writer) fill(g *group) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fillLocked(g)
}

func (w *writer) fillLocked(g *group) bool {
	n := 0
	for n < len(w.queue) && len(g.requests) < maxGroupRequests && (len(g.requests) == 0 || g.size+w.queue[n].size <= maxGroupBytes) {
		g.requests = append(g.requests, w.queue[n])
		g.size += w.queue[n].size
		n++
	}
	w.queue = slices.Delete(w.queue, 0, n)
	w.due = len(w.queue) > 0
	if !w.due {
		w.wait.Stop()
	}
	return n > 0
}
