package sqlite

import (
	"runtime"
	"slices"
	"time"
)

// group is requests that are applied in one transaction.
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
		w.nowDueLocked()
	case len(w.queue) == 1:
		w.wait.Reset(maxWait)
	}
}

// waitIsOver has those written who have waited for others.
func (w *writer) waitIsOver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nowDueLocked()
}

// nowDueLocked wakes who takes what is queued.
func (w *writer) nowDueLocked() {
	w.due = true
	if w.crowded {
		w.wakesWriter.Signal()
	} else {
		w.wakesScribe.Signal()
	}
}

// next begins a group, when there is something to do. The group is empty if that is
// the WAL, or who was waited for has gone, and nil when the writer was stopped and nothing waits.
func (w *writer) next() *group {
	since := time.Now()
	if w.waitedShortly && w.lastSize < crowdFrom {
		w.lookAround()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.taken) == 0 && (!w.due || !w.crowded) && !w.tendDue && !w.scribeEnded {
		w.wakesWriter.Wait()
	}
	w.waitedShortly = time.Since(since) < shortWait
	if len(w.taken) == 0 && w.scribeEnded {
		return nil
	}
	w.tendDue = false
	g := &group{}
	w.fillLocked(g)
	return g
}

// lookAround waits without going to sleep, if the last wait was short: to be woken takes a good part of the
// time that a commit takes.
func (w *writer) lookAround() {
	for n := 0; n < maxLooks && !w.handedOver.Load(); n++ {
		runtime.Gosched()
	}
}

// takeMore lets those join a group who came while it was applied, and reports whether
// somebody did.
//
// Callers that were answered together usually come back together. But if the other processors are busy, the first one back
// and the writer would keep this one between them, and the rest would never get to queue. So where a group is at most half as large as
// the largest of late, the others are let run once before it is written. Small groups are not worth that: it may be long until every other
// goroutine has paused.
func (w *writer) takeMore(g *group) bool {
	if w.fill(g) {
		return true
	}
	if g.yielded || w.recentPeak < crowdFrom || len(g.requests) > w.recentPeak/2 {
		return false
	}
	g.yielded = true
	runtime.Gosched()
	return w.fill(g)
}

// fill takes what fits from what the scribe has taken, and from what is queued in a crowd, and reports whether there was something.
func (w *writer) fill(g *group) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fillLocked(g)
}

func (w *writer) fillLocked(g *group) bool {
	n := 0
	for n < len(w.taken) && g.hasRoom(w.taken[n]) {
		g.add(w.taken[n])
		n++
	}
	if n > 0 && len(w.taken) >= maxGroupRequests {
		w.wakesScribe.Signal() // it may have waited for this
	}
	w.taken = slices.Delete(w.taken, 0, n)
	w.handedOver.Store(len(w.taken) > 0)
	if w.crowded && len(w.taken) == 0 {
		n += w.takeQueuedLocked(g)
	}
	return n > 0
}

// takeQueuedLocked adds to a group what is due and fits, and gives how many that are.
func (w *writer) takeQueuedLocked(g *group) (n int) {
	if !w.due {
		return 0
	}
	for ; n < len(w.queue) && g.hasRoom(w.queue[n]); n++ {
		w.queue[n].unsettled.Store(1)
		g.add(w.queue[n])
	}
	w.queue = slices.Delete(w.queue, 0, n)
	w.due = len(w.queue) > 0
	if !w.due {
		w.wait.Stop()
	}
	return n
}

// noteCrowd decides, after a group of n requests, whether there is a crowd: groups so large that one sync serves many. Then the scribe,
// which works beside the writer, costs more than it saves. A crowd is over after two small groups in a row: one alone comes about when
// those who were answered first are the first to come back.
func (w *writer) noteCrowd(n int) {
	crowded := n >= crowdFrom || w.lastSize >= crowdFrom
	w.recentPeak, w.lastSize = max(n, w.recentPeak-w.recentPeak/4), n
	w.mu.Lock()
	defer w.mu.Unlock()
	if crowded == w.crowded {
		return
	}
	w.crowded = crowded
	if w.due {
		w.nowDueLocked()
	}
}

// add adds a request.
func (g *group) add(r *request) {
	g.requests = append(g.requests, r)
	g.size += r.size
}

// hasRoom reports whether a request fits. A group has at least one.
func (g *group) hasRoom(r *request) bool {
	return len(g.requests) == 0 || len(g.requests) < maxGroupRequests && g.size+r.size <= maxGroupBytes
}

// recorded reports whether each request is durable, or is going to be, by an intent whose number is above that one. One that failed is
// not to be applied again, whenever the store is opened, to fail again: that is for the database to say.
func (g *group) recorded(above uint64) bool {
	for _, r := range g.requests {
		if r.number <= above || r.failed() {
			return false
		}
	}
	return true
}
