package feed

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// allTopic is all sessions that a visibility sees, as one list. The store's log
// is read with that visibility, so what it hides never gets here.
type allTopic struct {
	topic
	feed *Feed
	v    parley.Visibility
	key  string

	// What follows is guarded by the topic's mutex; the pump alone changes what
	// it reads without it.
	window  window[item]
	started bool
	origin  uint64 // events up to this position it has never looked at
	last    uint64 // the position up to which the log was read
	floor   uint64 // the window has every event after this position
	// waiting are deltas that wait for the log to be read, or for the answer
	// whether their session is seen.
	waiting []offered
	// seen are sessions of running replies that v sees: the store was asked since the last
	// wake-up of each, and what may have ended its reply is in closing. woken are those that were
	// woken during a read, and gone those of them to which nothing was appended.
	seen, woken, gone map[parley.SessionID]struct{}
	// closing has the seq of the last event of a session that may end a reply;
	// older has what was in it before it was full.
	closing, older map[parley.SessionID]uint64
}

// item is an event, or a delta and the position of the event before it.
type item struct {
	pos   uint64
	event *parley.Event
	delta *parley.Delta
}

// offered is a delta, with the seq and the position of the last event of its session that came
// before it. lastPos is 0 if it is not known.
type offered struct {
	delta            *parley.Delta
	lastSeq, lastPos uint64
}

const (
	maxWaiting  = 16 // times Config.Deltas, because many sessions share a view
	maxSessions = 1_024
)

// viewKey gives equal visibilities equal keys. No part of an identity or a
// namespace is a control character.
func viewKey(v parley.Visibility) string {
	ids := make([]string, 0, len(v.Identities))
	if !v.All {
		for _, id := range v.Identities {
			ids = append(ids, string(id))
		}
	}
	slices.Sort(ids)
	kind := "some"
	if v.All {
		kind = "all"
	}
	return strings.Join(append([]string{kind, v.Namespace}, slices.Compact(ids)...), "\x00")
}

func newAllTopic(f *Feed, v parley.Visibility, key string) *allTopic {
	return &allTopic{
		topic: newTopic(), feed: f, v: v, key: key,
		window: window[item]{maxItems: f.cfg.Events, maxBytes: f.cfg.Bytes},
		seen:   map[parley.SessionID]struct{}{},
		woken:  map[parley.SessionID]struct{}{},
		gone:   map[parley.SessionID]struct{}{},
	}
}

func (a *allTopic) over() bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.err != nil
}

// wake says that a session has changed: whether it is seen must be asked anew. It
// may be gone, if nothing was appended to it: then what the window has of it must
// not be shown to anybody any more.
func (a *allTopic) wake(id parley.SessionID, gone bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.seen, id)
	if a.reading {
		a.woken[id] = struct{}{}
		if gone {
			a.gone[id] = struct{}{}
		}
	}
	if gone && slices.ContainsFunc(a.window.items, func(it item) bool { return it.event != nil && it.event.Session == id }) {
		a.readAnew()
	}
	a.startPump()
}

// readAnew has all readers read from the store what they have not taken yet.
func (a *allTopic) readAnew() {
	a.window.drop()
	a.floor = a.last
}

// startPump sees to it that the log is read, once it is known from where.
func (a *allTopic) startPump() {
	if !a.started {
		a.dirty = true
	} else if a.mark() {
		a.feed.spawn(a.pump)
	}
}

// offer takes a delta that readers of its session may have.
func (a *allTopic) offer(o offered) {
	a.mu.Lock()
	defer a.unlock()
	if len(a.live) == 0 || a.err != nil || !a.v.Allows(o.delta.Session, a.v.Identities) {
		return
	}
	if a.answered(o) && !a.dirty && !a.reading {
		a.show(o)
		a.newRound()
		a.tell()
		return
	}
	if len(a.waiting) < maxWaiting*a.feed.cfg.Deltas {
		a.waiting = append(a.waiting, o)
	}
	if !a.dirty && !a.reading {
		a.startPump()
	}
}

// answered reports whether the store was asked about the session of a delta since its last
// wake-up, or need not be.
func (a *allTopic) answered(o offered) bool {
	_, asked := a.seen[o.delta.Session]
	return asked || a.needsNoAnswer(o)
}

// needsNoAnswer reports whether the store need not be asked about a delta: all sessions are
// seen, and the topic itself has read every event since the one before the delta.
func (a *allTopic) needsNoAnswer(o offered) bool {
	return a.v.All && o.lastPos > 0 && o.lastPos >= a.origin
}

// show puts a delta into the window, unless an event has got there first that
// may have ended its reply.
func (a *allTopic) show(o offered) {
	if max(a.closing[o.delta.Session], a.older[o.delta.Session]) > o.lastSeq {
		return
	}
	a.add(item{pos: a.last, delta: o.delta}, len(o.delta.Text))
}

func (a *allTopic) add(it item, size int) {
	if len(a.live) > 0 {
		a.floor = max(a.floor, a.window.add(it, size).pos)
	}
}

// forget empties the window.
func (a *allTopic) forget() {
	a.window.clear()
	a.floor = a.last
}

// pump reads what is unread, and ends.
func (a *allTopic) pump(ctx context.Context) {
	for a.begin() {
		if err := a.read(ctx); err != nil {
			if ctx.Err() != nil {
				err = errClosed()
			}
			a.fail(err)
		}
	}
	a.feed.dropView(a)
}

func (a *allTopic) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.dirty || a.err != nil {
		a.running, a.reading = false, false
		return false
	}
	a.dirty, a.reading = false, true
	clear(a.woken)
	clear(a.gone)
	a.window.begin()
	return true
}

func (a *allTopic) read(ctx context.Context) error {
	a.mu.RLock()
	waiting := slices.Clone(a.waiting)
	a.mu.RUnlock()
	var p pager
	for {
		events, next, err := a.feed.store.Log(ctx, a.v, a.last, p.limit())
		if err != nil {
			return err
		}
		if next == a.last {
			break
		}
		p.learn(events)
		a.apply(events, next)
	}
	answers, err := a.ask(ctx, waiting)
	if err != nil {
		return err
	}
	a.settle(waiting, answers)
	return nil
}

// apply shows a page of events.
func (a *allTopic) apply(events []parley.Event, next uint64) {
	a.mu.Lock()
	defer a.unlock()
	redacted := false
	for i := range events {
		e := &events[i]
		_, gone := a.gone[e.Session]
		redacted = redacted || gone || e.Type == parley.EventRedacted
		if slices.Contains(possibleClosers, e.Type) {
			a.noteClosing(e)
		}
		a.add(item{pos: e.Pos, event: e}, len(e.Data))
	}
	a.last = next
	switch {
	case len(a.live) == 0:
		a.forget()
	case redacted:
		// What was read before may have a body that is gone.
		a.readAnew()
	}
	if len(events) > 0 {
		a.newRound()
		a.tell()
	}
}

func (a *allTopic) noteClosing(e *parley.Event) {
	if len(a.closing) >= maxSessions {
		a.older, a.closing = a.closing, nil
	}
	if a.closing == nil {
		a.closing = map[parley.SessionID]uint64{}
	}
	// The last one counts, not the highest: a session that was made again counts from 1.
	a.closing[e.Session] = e.Seq
	delete(a.older, e.Session)
}

// answer is what the store says about the session of a delta.
type answer struct {
	seen    bool
	closing []parley.Event // the last event that may have ended a reply, if there is one
}

// ask finds out which sessions of the deltas are seen, and what may have ended their replies: that
// may lie where the topic has not looked.
func (a *allTopic) ask(ctx context.Context, waiting []offered) (map[parley.SessionID]answer, error) {
	answers := map[parley.SessionID]answer{}
	for _, o := range waiting {
		id := o.delta.Session
		if _, asked := answers[id]; asked || a.needsNoAnswer(o) {
			continue
		}
		closing, err := a.feed.store.Events(ctx, a.v, id, parley.EventQuery{Last: true, Types: possibleClosers, Limit: 1})
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return nil, err
		}
		answers[id] = answer{seen: err == nil, closing: closing}
	}
	return answers, nil
}

// settle shows the deltas that waited for the read, if their session is seen.
func (a *allTopic) settle(waited []offered, answers map[parley.SessionID]answer) {
	a.mu.Lock()
	defer a.unlock()
	a.reading = false
	if len(a.seen) >= maxSessions {
		clear(a.seen) // most of their replies are over; the others are asked about again
	}
	for id, answer := range answers {
		if _, again := a.woken[id]; answer.seen && !again {
			a.seen[id] = struct{}{}
		}
		for i := range answer.closing {
			a.noteClosing(&answer.closing[i])
		}
	}
	for _, o := range waited {
		if answers[o.delta.Session].seen || a.needsNoAnswer(o) {
			a.show(o)
		}
	}
	// The list only grew meanwhile.
	a.waiting = append([]offered(nil), a.waiting[len(waited):]...)
	if len(a.waiting) > 0 {
		a.dirty = true
	}
	if len(waited) > 0 {
		a.newRound()
		a.tell()
	}
}
