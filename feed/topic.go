package feed

import (
	"context"
	"sync"
	"sync/atomic"
)

// topic is what the subscriptions to the same thing share. One goroutine at a
// time, the pump, reads from the store for all of them; it runs only while
// something is unread that somebody needs. Readers hold a place in the topic's window,
// and nothing is queued for them.
type topic struct {
	mu      sync.RWMutex  // guards what follows
	changed chan struct{} // closed when something changes, for those who are not live yet
	told    bool          // live readers are to be woken
	err     error         // why it is over
	subs    int           // subscriptions
	live    []*reader     // of these, the ones that read from the window
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
	bell    chan struct{} // holds one ring
	live    bool
	slot    int // in the topic's list
	round   uint64
	version uint64
}

func newTopic() topic { return topic{changed: make(chan struct{})} }

// newReader makes a reader that wakes when its context ends, until stop is
// called.
func newReader(ctx context.Context) (r reader, stop func() bool) {
	r.bell = make(chan struct{}, 1)
	return r, context.AfterFunc(ctx, r.ring)
}

func (r *reader) ring() {
	select {
	case r.bell <- struct{}{}:
	default:
	}
}

// wait waits for a ring. One channel for a change and for the end of the context
// is a good deal cheaper than two, when thousands wait.
func (r *reader) wait(ctx context.Context) error {
	<-r.bell
	return ctx.Err()
}

// tell wakes the readers that wait: those that are live when the mutex is given
// back, see unlock.
func (t *topic) tell() {
	close(t.changed)
	t.changed = make(chan struct{})
	t.told = true
}

// unlock gives back the mutex, and then wakes whom tell was called for. They
// would only wait for the mutex if they were woken before.
func (t *topic) unlock() {
	told := t.told
	t.told = false
	t.mu.Unlock()
	if !told {
		return
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, r := range t.live {
		r.ring()
	}
}

// fail ends the topic and all its subscriptions. The first reason counts.
func (t *topic) fail(err error) {
	t.mu.Lock()
	defer t.unlock()
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
	t.behind.Store(int64(len(t.live)))
}

// enter makes a reader live. It is behind if there is something to read.
func (t *topic) enter(r *reader, behind bool) {
	r.live, r.slot, r.round = true, len(t.live), t.round
	t.live = append(t.live, r)
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
	last := t.live[len(t.live)-1]
	t.live[r.slot], last.slot = last, r.slot
	t.live[len(t.live)-1] = nil
	t.live = t.live[:len(t.live)-1]
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
