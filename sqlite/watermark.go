package sqlite

import (
	"context"
	"sync"
	"sync/atomic"
)

// watermark is a number that grows, and that others wait for.
type watermark struct {
	n    atomic.Uint64
	mu   sync.Mutex
	grew chan struct{} // nil: nobody waits
}

// reach makes the number n, unless it is larger.
func (w *watermark) reach(n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n <= w.n.Load() {
		return
	}
	w.n.Store(n)
	if w.grew != nil {
		close(w.grew)
		w.grew = nil
	}
}

// await waits until the number is n or larger.
func (w *watermark) await(ctx context.Context, n uint64) error {
	for w.n.Load() < n {
		w.mu.Lock()
		if w.n.Load() >= n {
			w.mu.Unlock()
			return nil
		}
		if w.grew == nil {
			w.grew = make(chan struct{})
		}
		grew := w.grew
		w.mu.Unlock()
		select {
		case <-grew:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
