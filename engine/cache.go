package engine

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// CacheConfig is how much a [Cache] keeps. A zero field is its default.
type CacheConfig[T any] struct {
	Size  int           // sessions. 0: 128
	Idle  time.Duration // how long after its last use something is kept. 0: an hour
	Clock parley.Clock  // nil: the system's
	// CloseFunc frees what is not kept any more; nil: nothing has to be freed. It
	// is called without locks held, once for each value.
	CloseFunc func(T)
}

// Cache keeps, for sessions that were busy lately, what is costly to make anew for
// each turn: connections to servers, a rendered prefix. What it keeps must be
// possible to make again from configuration and store: it never holds transcripts.
//
// A value that is in use is never freed: it is when the last user is done. Its
// methods may be called by many goroutines. It has at most one timer, and none when
// it is empty.
type Cache[T any] struct {
	cfg CacheConfig[T]

	mu      sync.Mutex
	entries map[parley.SessionID]*cached[T]
	order   list.List // of *cached, the one used last in front
	stop    func() bool
	closed  bool
}

type cached[T any] struct {
	id      parley.SessionID
	version string
	place   *list.Element // nil: it is not kept any more
	users   int
	usedAt  time.Time

	ready chan struct{} // closed when value and err are there
	value T
	err   error
}

// NewCache makes a cache.
func NewCache[T any](cfg CacheConfig[T]) *Cache[T] {
	orDefault(&cfg.Size, 128)
	orDefault(&cfg.Idle, time.Hour)
	if cfg.Clock == nil {
		cfg.Clock = parley.SystemClock{}
	}
	return &Cache[T]{cfg: cfg, entries: map[parley.SessionID]*cached[T]{}}
}

// Use gives the value of a session, made by makeFunc if there is none or if it is of
// another version, such as that of another configuration. Release says that the
// turn is done with it, and must be called once. An error of makeFunc is given to all
// who wait, and not kept.
func (c *Cache[T]) Use(ctx context.Context, id parley.SessionID, version string, makeFunc func(context.Context) (T, error)) (value T, release func(), err error) {
	e, mine, free := c.enter(id, version)
	c.free(free)
	if mine {
		e.value, e.err = makeFunc(ctx)
		close(e.ready)
		if e.err != nil {
			c.drop(e)
		}
	}
	select {
	case <-e.ready:
	case <-ctx.Done():
		c.leave(e)
		return value, nil, context.Cause(ctx)
	}
	if e.err != nil {
		c.leave(e)
		return value, nil, e.err
	}
	return e.value, sync.OnceFunc(func() { c.leave(e) }), nil
}

// enter finds the entry of a session, or makes one that the caller has to fill.
func (c *Cache[T]) enter(id parley.SessionID, version string) (e *cached[T], mine bool, free []*cached[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e = c.entries[id]
	if e != nil && e.version == version {
		e.users++
		c.order.MoveToFront(e.place)
		return e, false, nil
	}
	if e != nil {
		free = c.remove(e, free)
	}
	e = &cached[T]{id: id, version: version, users: 1, ready: make(chan struct{})}
	if !c.closed {
		c.entries[id] = e
		e.place = c.order.PushFront(e)
		for at := c.order.Back(); at != nil && len(c.entries) > c.cfg.Size; {
			oldest, _ := at.Value.(*cached[T])
			at = at.Prev()
			if oldest.users == 0 {
				free = c.remove(oldest, free)
			}
		}
		c.schedule()
	}
	return e, true, free
}

// leave ends one use.
func (c *Cache[T]) leave(e *cached[T]) {
	c.mu.Lock()
	e.users--
	e.usedAt = c.cfg.Clock.Now()
	gone := e.users == 0 && e.place == nil
	c.mu.Unlock()
	if gone {
		c.free([]*cached[T]{e})
	}
}

// Forget takes a session out: it was reset, put away or deleted.
func (c *Cache[T]) Forget(id parley.SessionID) {
	c.mu.Lock()
	e := c.entries[id]
	c.mu.Unlock()
	if e != nil {
		c.drop(e)
	}
}

// Close takes everything out. What is used later is made for that use alone.
func (c *Cache[T]) Close() {
	c.mu.Lock()
	c.closed = true
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	var free []*cached[T]
	for _, e := range c.entries {
		free = c.remove(e, free)
	}
	c.mu.Unlock()
	c.free(free)
}

func (c *Cache[T]) drop(e *cached[T]) {
	c.mu.Lock()
	free := c.remove(e, nil)
	c.mu.Unlock()
	c.free(free)
}

// remove takes an entry out, and adds it to free if nobody uses it.
func (c *Cache[T]) remove(e *cached[T], free []*cached[T]) []*cached[T] {
	if e.place == nil {
		return free
	}
	c.order.Remove(e.place)
	e.place = nil
	delete(c.entries, e.id)
	if e.users == 0 {
		free = append(free, e)
	}
	return free
}

// free frees values that nobody uses any more.
func (c *Cache[T]) free(entries []*cached[T]) {
	for _, e := range entries {
		if e.err == nil && c.cfg.CloseFunc != nil {
			c.cfg.CloseFunc(e.value)
		}
	}
}

// schedule makes sure that idle entries are looked for. The lock is held.
func (c *Cache[T]) schedule() {
	if c.stop == nil && len(c.entries) > 0 && !c.closed {
		c.stop = c.cfg.Clock.AfterFunc(c.cfg.Idle/4, c.sweep)
	}
}

// sweep takes out what nobody has used for a while.
func (c *Cache[T]) sweep() {
	c.mu.Lock()
	c.stop = nil
	now := c.cfg.Clock.Now()
	var free []*cached[T]
	for _, e := range c.entries {
		if e.users == 0 && now.Sub(e.usedAt) >= c.cfg.Idle {
			free = c.remove(e, free)
		}
	}
	c.schedule()
	c.mu.Unlock()
	c.free(free)
}
