package blob

import (
	"context"
	"sync"

	"github.com/parley-run/parley"
)

// locks let one goroutine at a time work on a handle, so that a file which is
// found is not taken away before its row is written.
type locks struct {
	mu   sync.Mutex
	held map[parley.BlobHandle]*hold
}

// hold is the lock of one handle while somebody has it or waits for it.
type hold struct {
	turn  chan struct{} // holds one token while the lock is taken
	users int
}

// lock waits for the handle, or for the context to end.
func (l *locks) lock(ctx context.Context, handle parley.BlobHandle) (unlock func(), err error) {
	l.mu.Lock()
	h := l.held[handle]
	if h == nil {
		if l.held == nil {
			l.held = map[parley.BlobHandle]*hold{}
		}
		h = &hold{turn: make(chan struct{}, 1)}
		l.held[handle] = h
	}
	h.users++
	l.mu.Unlock()
	select {
	case h.turn <- struct{}{}:
		return func() {
			<-h.turn
			l.leave(handle, h)
		}, nil
	case <-ctx.Done():
		l.leave(handle, h)
		return nil, canceled(ctx.Err())
	}
}

// leave forgets a lock that nobody has or waits for.
func (l *locks) leave(handle parley.BlobHandle, h *hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(l.held, handle)
	}
}
