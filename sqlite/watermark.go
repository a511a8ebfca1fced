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
func (p *watermark) reach(n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n <= p.n.Load() {
		return
	}
	p.n.Store(n)
	if p.grew != nil {
		close(p.grew)
		p.grew = nil
	}
}

// await waits until the number is n or larger.
func (p *watermark) await(ctx context.Context, n uint64) error {
	for p.n.Load() < n {
		p.mu.Lock()
		if p.n.Load() >= n {
			p.mu.Unlock()
			return nil
		}
		if p.grew == nil {
			p.grew = make(chan struct{})
		}
		grew := p.grew
		p.mu.Unlock()
		select {
		case <-grew:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
