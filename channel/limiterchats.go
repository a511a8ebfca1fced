package channel

import (
	"container/heap"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// leastSweep is how many chats a limiter knows before it looks for idle ones.
const leastSweep = 1024

// window counts messages against one rate.
type window struct {
	rate   Rate
	settle time.Duration
	slots  []*slot // those that still count, at most as many as the rate allows
}

// counts reports until when a slot takes room.
func (w *window) counts(s *slot) time.Time { return s.end(w.settle).Add(w.rate.Per + hair) }

func (w *window) forget(now time.Time) {
	w.slots = slices.DeleteFunc(w.slots, func(s *slot) bool { return !w.counts(s).After(now) })
}

// room gives how many messages could be sent now.
func (w *window) room(now time.Time) int {
	if !w.rate.limited() {
		return 1 << 30
	}
	w.forget(now)
	return w.rate.N - len(w.slots)
}

// free gives when the next message may be sent; the zero time is at once.
func (w *window) free(now time.Time) time.Time {
	if w.room(now) > 0 {
		return time.Time{}
	}
	first := w.counts(w.slots[0])
	for _, s := range w.slots[1:] {
		if at := w.counts(s); at.Before(first) {
			first = at
		}
	}
	return first
}

func (w *window) add(s *slot, now time.Time) {
	if w.rate.limited() {
		w.forget(now)
		w.slots = append(w.slots, s)
	}
}

func (w *window) remove(s *slot) {
	if i := slices.Index(w.slots, s); i >= 0 {
		w.slots = slices.Delete(w.slots, i, i+1)
	}
}

// chat is what a limiter knows of one chat.
type chat struct {
	windows []*window
	paused  time.Time
	served  time.Time // the last time; who speaks much stands behind who came since
	waiters []*waiter
	ready   time.Time // when the first waiter could be served, as far as the chat goes
	index   int       // in the heap; -1: nobody waits
}

type waiter struct {
	granted chan *slot
	since   time.Time
	order   uint64
}

func (c *chat) queued() bool { return c.index >= 0 }

// free gives when the chat's own limits allow the next message.
func (c *chat) free(now time.Time) time.Time {
	at := c.paused
	for _, w := range c.windows {
		at = latest(at, w.free(now))
	}
	return at
}

func (c *chat) idle(now time.Time) bool {
	if c.queued() || c.paused.After(now) {
		return false
	}
	for _, w := range c.windows {
		w.forget(now)
		if len(w.slots) > 0 {
			return false
		}
	}
	return true
}

func (c *chat) drop(w *waiter) {
	if i := slices.Index(c.waiters, w); i >= 0 {
		c.waiters = slices.Delete(c.waiters, i, i+1)
	}
}

// chat gives the chat of a target, and makes it.
func (l *Limiter) chat(to parley.Target) *chat {
	if c := l.chats[to.Chat]; c != nil {
		return c
	}
	if len(l.chats) >= l.sweepAt {
		l.sweep()
	}
	c := &chat{index: -1}
	if l.limits.PerChat.limited() {
		c.windows = append(c.windows, &window{rate: l.limits.PerChat, settle: l.limits.Settle})
	}
	if l.limits.PerGroup.limited() && l.groupFunc != nil && l.groupFunc(to) {
		c.windows = append(c.windows, &window{rate: l.limits.PerGroup, settle: l.limits.Settle})
	}
	l.chats[to.Chat] = c
	return c
}

// sweep forgets idle chats. Its work is shared by the chats that came since the last
// one.
func (l *Limiter) sweep() {
	now := l.clock.Now()
	for name, c := range l.chats {
		if c.idle(now) {
			delete(l.chats, name)
		}
	}
	l.sweepAt = max(leastSweep, 2*len(l.chats))
}

// enqueue lets a waiter stand in line for its chat.
func (l *Limiter) enqueue(c *chat, w *waiter) {
	l.arrived++
	w.since, w.order = l.clock.Now(), l.arrived
	c.waiters = append(c.waiters, w)
	if !c.queued() {
		l.reorder(c)
	}
}

// reorder puts a chat where it belongs among those that wait, or takes it out.
func (l *Limiter) reorder(c *chat) {
	if len(c.waiters) == 0 {
		if c.queued() {
			heap.Remove(&l.waiting, c.index)
		}
		return
	}
	c.ready = latest(c.waiters[0].since, c.served, c.free(l.clock.Now()))
	if c.queued() {
		heap.Fix(&l.waiting, c.index)
	} else {
		heap.Push(&l.waiting, c)
	}
}

// chatHeap orders chats by when they are ready, then by who came first.
type chatHeap struct{ chats []*chat }

func (h *chatHeap) Len() int { return len(h.chats) }

func (h *chatHeap) Less(i, j int) bool {
	a, b := h.chats[i], h.chats[j]
	if !a.ready.Equal(b.ready) {
		return a.ready.Before(b.ready)
	}
	return a.waiters[0].order < b.waiters[0].order
}

func (h *chatHeap) Swap(i, j int) {
	h.chats[i], h.chats[j] = h.chats[j], h.chats[i]
	h.chats[i].index, h.chats[j].index = i, j
}

// Push and Pop are for package heap.
func (h *chatHeap) Push(x any) {
	c := x.(*chat) // the heap holds nothing else
	c.index = len(h.chats)
	h.chats = append(h.chats, c)
}

// Pop takes the last one.
func (h *chatHeap) Pop() any {
	last := len(h.chats) - 1
	c := h.chats[last]
	h.chats[last] = nil
	h.chats = h.chats[:last]
	c.index = -1
	return c
}

func latest(times ...time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
