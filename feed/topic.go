package feed

import (
	"sync"
	"sync/atomic"
)

// topic is what the subscriptions to the same thing share. One goroutine at a
// time, the pump, reads from the store for all of them; it runs only while
// something is unread. Readers hold a place in the topic's window, and nothing
// is queued for them.
type topic struct {
	mu      sync.RWMutex // guards what follows
	changed chan struct{}
	err     error // why it is over
	subs    int   // subscriptions
	live    int   // of these, the ones that read from the window
	round   uint64
	dirty   bool // something may be unread
	running bool // there is a pump
	reading bool // the pump is between two looks at dirty

	// behind counts the live readers that have not read the window to its end
	// since the round began. At 0 nobody needs what is in it.
	behind atomic.Int64
	// version moves when readers have to look again whether they may go on.
	version atomic.Uint64
}

// reader is one subscription's place among the others of its topic.
type reader struct {
	live    bool
	round   uint64
	version uint64
}

func newTopic() topic { return topic{changed: make(chan struct{})} }

// tell wakes the readers that wait.
func (t *topic) tell() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// fail ends the topic and all its subscriptions. The first reason counts.
func (t *topic) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	t.err = err
	t.version.Add(1)
	t.tell()
}

// mark says that something may be unread, and reports whether a pump has to be
// started for it.
func (t *topic) mark() (start bool) {
	t.dirty = true
	if t.running || t.err != nil {
		return false
	}
	t.running = true
	return true
}

// newRound says that the window has got something to read.
func (t *topic) newRound() {
	t.round++
	t.behind.Store(int64(t.live))
}

// enter makes a reader live. It is behind if there is something to read.
func (t *topic) enter(r *reader, behind bool) {
	t.live++
	r.live, r.round = true, t.round
	if behind {
		r.round--
		t.behind.Add(1)
	}
}

// leave makes a live reader one that is not, and reports whether nobody is
// behind any more.
func (t *topic) leave(r *reader) (done bool) {
	if !r.live {
		return false
	}
	t.live--
	r.live = false
	return r.round != t.round && t.behind.Add(-1) == 0
}

// caughtUp notes that a live reader has read the window to its end, and reports
// whether it was the last one. Readers may call it at the same time.
func (t *topic) caughtUp(r *reader) (last bool) {
	if r.round == t.round {
		return false
	}
	r.round = t.round
	return t.behind.Add(-1) == 0
}

// idle reports whether nobody needs the topic.
func (t *topic) idle() bool { return t.subs == 0 && !t.running }
