package parleytest

import (
	"slices"
	"sync"
	"time"
)

// Clock is a [parley.Clock] that stands still until it is told to go on. Each look
// at it is a microsecond later than the one before, so that times are in order.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer
	set    sync.Cond // a timer was set
}

type timer struct {
	at time.Time
	f  func()
}

// NewClock makes a clock that shows an instant.
func NewClock(now time.Time) *Clock {
	c := &Clock{now: now.UTC()}
	c.set.L = &c.mu
	return c
}

// Now gives the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Microsecond)
	return c.now
}

// AfterFunc has f called, by who calls [Clock.Advance], once d has passed.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	c.set.Broadcast()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.timers, t)
		if i >= 0 {
			c.timers = slices.Delete(c.timers, i, i+1)
		}
		return i >= 0
	}
}

// Advance lets time pass, and calls what is due by then, in order. It returns when
// these calls have.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		next := -1
		for i, t := range c.timers {
			if !t.at.After(end) && (next < 0 || t.at.Before(c.timers[next].at)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		t := c.timers[next]
		c.timers = slices.Delete(c.timers, next, next+1)
		if t.at.After(c.now) {
			c.now = t.at
		}
		c.mu.Unlock()
		t.f()
		c.mu.Lock()
	}
	if end.After(c.now) {
		c.now = end
	}
	c.mu.Unlock()
}

// WaitForTimer waits until something is due within d: that is how a test knows that
// the work before a pause is done.
func (c *Clock) WaitForTimer(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !slices.ContainsFunc(c.timers, func(t *timer) bool { return !t.at.After(c.now.Add(d)) }) {
		c.set.Wait()
	}
}
