package channel

import (
	"context"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// Limits are how much a platform takes. Edits count as messages do.
type Limits struct {
	Overall  Rate // to all chats together
	PerChat  Rate // to one chat, with all its topics
	PerGroup Rate // to one group, beside PerChat
	// Settle is how long a message may be on its way to the platform while nobody has
	// said that it arrived; 0: one second.
	Settle time.Duration
}

// Rate is at most N in any stretch of time as long as Per, however they are spread: 3
// in 3 s is one in a second with bursts of three. The zero value is no limit.
type Rate struct {
	N   int
	Per time.Duration
}

func (r Rate) limited() bool { return r.N > 0 && r.Per > 0 }

// hair is added to every rate: a counter that includes both ends of its stretch of
// time, or rounds to milliseconds, sees no more than is allowed either.
const hair = time.Millisecond

// Limiter keeps the messages of one account within a platform's limits, as a counter
// on the platform's side sees them: a message that is on its way may be counted at
// any moment until it is done.
//
// Chats are served in the order in which they became ready, and one that was served
// stands behind those that came meanwhile, so that none starves. A chat that has to
// pause is not ready and delays no other. Chats that have been idle
// for longer than their rates look back are forgotten.
type Limiter struct {
	limits    Limits
	groupFunc func(parley.Target) bool
	clock     parley.Clock

	mu      sync.Mutex
	overall window
	paused  time.Time // nothing is sent before
	chats   map[string]*chat
	sweepAt int      // how many chats make it worth looking for idle ones
	waiting chatHeap // chats with somebody who waits, the first that is ready on top
	arrived uint64   // counts waiters, for their order
	stop    func() bool
	due     time.Time // when the timer is set for; zero: none is
}

// slot is the room that one message takes.
type slot struct {
	chat    *chat
	granted time.Time
	done    time.Time // zero while it is on its way
}

// end is the last moment at which the platform may have counted the message.
func (s *slot) end(settle time.Duration) time.Time {
	latest := s.granted.Add(settle)
	if s.done.IsZero() || s.done.After(latest) {
		return latest
	}
	return s.done
}

// NewLimiter makes a limiter for an account on a platform that can do this. A nil clock
// is the machine's.
func NewLimiter(can Capabilities, clock parley.Clock) *Limiter {
	limits := can.Limits
	if limits.Settle <= 0 {
		limits.Settle = time.Second
	}
	if clock == nil {
		clock = parley.SystemClock{}
	}
	return &Limiter{
		limits:    limits,
		groupFunc: can.GroupFunc,
		clock:     clock,
		overall:   window{rate: limits.Overall, settle: limits.Settle},
		chats:     make(map[string]*chat),
		sweepAt:   leastSweep,
	}
}

// Wait waits until a message, or an edit, may go to the chat, and counts it. Those who
// wait for one chat are served in order. Done is to be called when the platform has
// answered; it may be called twice. Until then, or until [Limits.Settle] has passed,
// the message counts as on its way.
//
// If ctx ends first, its error comes back, nothing is counted, and done is nil.
func (l *Limiter) Wait(ctx context.Context, to parley.Target) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &waiter{granted: make(chan *slot, 1)}
	l.mu.Lock()
	c := l.chat(to)
	l.enqueue(c, w)
	l.dispatch()
	l.mu.Unlock()

	select {
	case s := <-w.granted:
		return func() { l.done(s) }, nil
	case <-ctx.Done():
		l.leave(c, w)
		return nil, ctx.Err()
	}
}

// Try counts a message if it may go right now, and if after it so many more could go
// to the chat, and as many to any other, or half of what a rate allows, if that is less:
// what can be left out, as the steps of a streamed reply, leaves room for what cannot.
// It never takes the place of one who waits.
func (l *Limiter) Try(to parley.Target, leave int) (done func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if l.waiting.Len() > 0 && !l.waiting.chats[0].ready.After(now) {
		return nil, false
	}
	c := l.chat(to)
	if c.queued() || now.Before(l.paused) || now.Before(c.paused) {
		return nil, false
	}
	for _, w := range append([]*window{&l.overall}, c.windows...) {
		if w.room(now) <= min(leave, w.rate.N/2) {
			return nil, false
		}
	}
	s := l.take(c, now)
	return func() { l.done(s) }, true
}

// Next gives when a message could go to the chat, as far as is known: a time that is
// not after the present one if it could right now. It counts nothing, and those who
// wait already may be faster.
func (l *Limiter) Next(to parley.Target) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	next := latest(now, l.paused, l.overall.free(now))
	if c := l.chats[to.Chat]; c != nil {
		next = latest(next, c.free(now))
	}
	return next
}

// PausedUntil gives the end of the pause that the platform has asked for, for the chat
// or for all; the zero time, or one that has passed, if there is none.
func (l *Limiter) PausedUntil(to parley.Target) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.paused
	if c := l.chats[to.Chat]; c != nil {
		until = latest(until, c.paused)
	}
	return until
}

// Pause keeps everything from a chat for so long: what a platform asks for with a
// retry-after for a chat. A pause that is longer already stays.
func (l *Limiter) Pause(to parley.Target, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(to)
	c.paused = latest(c.paused, l.clock.Now().Add(d))
	if c.queued() {
		l.reorder(c)
	}
	l.dispatch()
}

// PauseAll keeps everything from every chat for so long.
func (l *Limiter) PauseAll(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = latest(l.paused, l.clock.Now().Add(d))
	l.dispatch()
}

// dispatch serves who can be served, and has itself called when the next can be.
func (l *Limiter) dispatch() {
	for l.waiting.Len() > 0 {
		now := l.clock.Now()
		c := l.waiting.chats[0]
		at := latest(c.ready, l.paused, l.overall.free(now))
		if at.After(now) {
			l.wakeAt(at, now)
			return
		}
		w := c.waiters[0]
		c.waiters = c.waiters[1:]
		w.granted <- l.take(c, now)
		l.reorder(c)
	}
	l.wakeAt(time.Time{}, time.Time{})
}

// wakeAt sets the timer; the zero time switches it off.
func (l *Limiter) wakeAt(at, now time.Time) {
	if l.due.Equal(at) {
		return
	}
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
	l.due = at
	if at.IsZero() {
		return
	}
	l.stop = l.clock.AfterFunc(at.Sub(now), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		// A timer that was replaced while it went off does the same as the one in
		// its place: it looks what is due.
		l.due, l.stop = time.Time{}, nil
		l.dispatch()
	})
}

// take counts a message of a chat.
func (l *Limiter) take(c *chat, now time.Time) *slot {
	s := &slot{chat: c, granted: now}
	c.served = now
	l.overall.add(s, now)
	for _, w := range c.windows {
		w.add(s, now)
	}
	return s
}

// done notes that a message is no longer on its way.
func (l *Limiter) done(s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.done.IsZero() {
		return
	}
	s.done = l.clock.Now()
	if s.chat.queued() {
		l.reorder(s.chat)
	}
	l.dispatch()
}

// leave takes a waiter out whose context ended. One that was served in the same
// moment gives its room back, as nothing was sent.
func (l *Limiter) leave(c *chat, w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case s := <-w.granted:
		l.overall.remove(s)
		for _, window := range c.windows {
			window.remove(s)
		}
	default:
		c.drop(w)
	}
	l.reorder(c)
	l.dispatch()
}
