package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-run/parley"
)

// sessionTopic is a session that somebody follows, or in which a reply is being
// written.
type sessionTopic struct {
	topic
	feed *Feed
	id   parley.SessionID

	// What follows is guarded by the topic's mutex; the pump alone changes what
	// it reads without it.
	window  window[*parley.Event] // by seq
	started bool
	origin  uint64 // events up to here it has never looked at
	last    uint64 // the last event it has
	lastPos uint64 // and its pos, 0 if not known
	people  map[parley.IdentityID]struct{}
	reads   uint64 // how often the pump began to read
	whole   uint64 // the last of these that it finished
	awaited bool   // somebody waits for the end of a read
	putOff  bool   // what may be unread is left for the first who follows: no pump runs for it
	closer  uint64 // the last event seen that ends a stream
	fence   parley.Fence
	stream  *stream
	// bound is how much of the stream had come when the pump began to read.
	bound      int
	boundAbout *stream
}

// closers are the events that end whatever reply was being written before them:
// a session has one turn at a time.
var closers = []parley.EventType{parley.EventTurnStarted, parley.EventTurnCompleted, parley.EventEnded}

// possibleClosers are the closers, and messages: one of them is what the reply has become.
var possibleClosers = append([]parley.EventType{parley.EventMessage}, closers...)

func newSessionTopic(f *Feed, id parley.SessionID) *sessionTopic {
	return &sessionTopic{
		topic: newTopic(), feed: f, id: id,
		window: window[*parley.Event]{first: 1, maxItems: f.cfg.Events, maxBytes: f.cfg.Bytes},
	}
}

// startAt says that the events up to seq are not the topic's concern.
func (t *sessionTopic) startAt(seq uint64) {
	t.started, t.origin, t.last = true, seq, seq
	t.window.startAt(seq + 1)
}

func (t *sessionTopic) over() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.err != nil
}

// idle reports whether nobody needs the topic.
func (t *sessionTopic) idle() bool { return t.topic.idle() && (t.stream == nil || t.err != nil) }

// wake says that the log has grown, or something else about the session has
// changed. If that may be put off it is read when somebody follows.
func (t *sessionTopic) wake(mayPutOff bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requestRead(mayPutOff)
}

// requestRead has the log read: now, or, if that may be put off, when somebody follows.
func (t *sessionTopic) requestRead(mayPutOff bool) {
	t.putOff = mayPutOff && t.subs == 0 && !t.running
	if !t.putOff && t.mark() {
		t.feed.spawn(t.pump)
	}
}

// endUnfollowed ends a reply of which a commit has told that it is over, if nobody follows
// it, and reports whether nobody needs the topic any more.
func (t *sessionTopic) endUnfollowed(isOver func(*stream) bool) (idle bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.subs > 0 || t.running {
		return false // the wake-up that comes next has the end read
	}
	if t.stream != nil && isOver(t.stream) {
		t.stream = nil
	}
	return t.idle()
}

// publish takes a delta.
func (t *sessionTopic) publish(d parley.Delta, mayPutOff bool) {
	if t.err != nil || d.Fence < t.fence {
		return
	}
	t.fence = d.Fence
	if t.stream != nil && t.stream.fence < d.Fence {
		t.stream = nil
	}
	if t.stream == nil || t.stream.name != d.Stream {
		// One whose beginning was missed, or whose end was seen, is not shown.
		if d.N != 1 || t.started && d.After < t.closer {
			return
		}
		t.stream = newStream(d)
		t.stream.checked = t.started && d.After >= t.origin
		if !t.stream.checked || t.last < d.After || t.people == nil || t.putOff {
			t.requestRead(mayPutOff)
		}
	} else if t.putOff {
		t.requestRead(mayPutOff)
	}
	t.stream.add(d)
	if t.putOff {
		t.stream.unfollowed = t.stream.total()
	}
	if !t.putOff && !t.dirty && !t.reading {
		t.show(t.stream.total())
	}
}

// show lets readers have the deltas up to n.
func (t *sessionTopic) show(n int) {
	s := t.stream
	if s.broken || !s.checked || n <= s.shown {
		return
	}
	if views := *t.feed.alls.Load(); len(views) > 0 {
		// They get a reply from when they came on, and not what was written before.
		for i := max(s.shown, s.unfollowed) + 1; i <= n; i++ {
			d := s.delta(t.id, i)
			for _, a := range views {
				a.offer(offered{delta: d, lastSeq: t.last, lastPos: t.lastPos})
			}
		}
	}
	s.shown = n
	t.tell()
}

// pump reads what is unread, and ends.
func (t *sessionTopic) pump(ctx context.Context) {
	for t.begin() {
		if err := t.read(ctx); err != nil {
			switch {
			case errors.Is(err, parley.ErrNotFound):
				err = errNotFound(t.id)
			case ctx.Err() != nil:
				err = errClosed()
			}
			t.fail(err)
		}
	}
	t.feed.drop(t)
}

func (t *sessionTopic) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.dirty || t.err != nil {
		t.running, t.reading = false, false
		return false
	}
	t.dirty, t.putOff, t.reading = false, false, true
	t.reads++
	t.boundAbout = t.stream
	if t.stream != nil {
		t.bound = t.stream.total()
	}
	t.window.begin()
	return true
}

func (t *sessionTopic) read(ctx context.Context) error {
	if !t.started {
		if err := t.start(ctx); err != nil {
			return err
		}
	}
	var p pager
	for more := true; more; {
		after := t.last
		if t.lastPos > 0 {
			after-- // to see that it is still the same session
		}
		limit := p.limit()
		events, err := t.feed.store.Events(ctx, parley.SeeAll(), t.id, parley.EventQuery{After: after, Limit: limit})
		if err != nil {
			return err
		}
		more = len(events) == limit
		p.learn(events)
		if t.lastPos > 0 {
			if len(events) == 0 || events[0].Pos != t.lastPos {
				return errNotFound(t.id) // it was deleted, and another has its name
			}
			events = events[1:]
		}
		if len(events) > 0 && events[0].Seq != t.last+1 {
			return &parley.Error{
				Code: parley.CodeInternal, Op: "subscribe",
				Message: fmt.Sprintf("the log of session %s goes on with event %d after %d; run `parley doctor`", t.id, events[0].Seq, t.last),
			}
		}
		people, err := t.readPeople(ctx, events)
		if err != nil {
			return err
		}
		t.apply(events, people)
	}
	if err := t.check(ctx); err != nil {
		return err
	}
	t.settle()
	return nil
}

// start finds the end of the log: what is there already is read by each
// subscription for itself.
func (t *sessionTopic) start(ctx context.Context) error {
	events, err := t.feed.store.Events(ctx, parley.SeeAll(), t.id, parley.EventQuery{Last: true, Limit: 1})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.startAt(0)
	for _, e := range events {
		t.startAt(e.Seq)
		t.lastPos = e.Pos
	}
	return nil
}

// readPeople reads who takes part, if that is not known or one of the events
// changed it. It gives nil if what is known is right.
//
// It is read after the events: so nobody is shown an event who had left before
// it was written.
func (t *sessionTopic) readPeople(ctx context.Context, events []parley.Event) (map[parley.IdentityID]struct{}, error) {
	isChange := func(e parley.Event) bool { return e.Type == parley.EventParticipant }
	if t.people != nil && !slices.ContainsFunc(events, isChange) {
		return nil, nil
	}
	list, err := t.feed.store.Participants(ctx, parley.SeeAll(), t.id)
	if err != nil {
		return nil, err
	}
	people := make(map[parley.IdentityID]struct{}, len(list))
	for _, id := range list {
		people[id] = struct{}{}
	}
	return people, nil
}

// apply shows a page of events.
func (t *sessionTopic) apply(events []parley.Event, people map[parley.IdentityID]struct{}) {
	t.mu.Lock()
	defer t.unlock()
	if people != nil {
		t.people = people
		t.version.Add(1)
	}
	redacted := false
	for i := range events {
		e := &events[i]
		t.last, t.lastPos = e.Seq, e.Pos
		redacted = redacted || e.Type == parley.EventRedacted
		t.close(e)
		if len(t.live) > 0 {
			t.window.add(e, len(e.Data))
		}
	}
	switch {
	case len(t.live) == 0:
		t.window.startAt(t.last + 1)
	case redacted:
		// What was read before may have a body that is gone.
		t.window.drop()
	}
	if len(events) > 0 || people != nil {
		t.newRound()
		t.tell()
	}
}

// close ends the stream, if e does.
func (t *sessionTopic) close(e *parley.Event) {
	if slices.Contains(closers, e.Type) {
		t.closer = e.Seq
	}
	if t.stream != nil && t.stream.endedBy(e) {
		t.stream = nil
	}
}

// check looks for the end of a stream that began before the topic did: it may have been stored
// before the topic first looked, and an owner that has lost the session may not know it yet.
func (t *sessionTopic) check(ctx context.Context) error {
	t.mu.RLock()
	s := t.stream
	t.mu.RUnlock()
	if s == nil || s.checked {
		return nil
	}
	ended, err := t.endsBeforeOrigin(ctx, s)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.checked = true
	if t.stream == s && (ended || t.closer > s.after) {
		t.stream = nil
	}
	return nil
}

// endsBeforeOrigin reports whether one of the events that the topic has never looked at ends a stream.
func (t *sessionTopic) endsBeforeOrigin(ctx context.Context, s *stream) (bool, error) {
	var p pager
	for after := s.after; after < t.origin; {
		limit := p.limit()
		events, err := t.feed.store.Events(ctx, parley.SeeAll(), t.id, parley.EventQuery{After: after, Types: possibleClosers, Limit: limit})
		if err != nil {
			return false, err
		}
		for i := range events {
			if s.endedBy(&events[i]) {
				return true, nil
			}
		}
		if len(events) < limit {
			break
		}
		p.learn(events)
		after = events[len(events)-1].Seq
	}
	return false, nil
}

// settle shows the deltas that waited for the read.
func (t *sessionTopic) settle() {
	t.mu.Lock()
	defer t.unlock()
	t.reading = false
	t.whole = t.reads
	if t.awaited {
		t.awaited = false
		t.tell()
	}
	switch {
	case t.stream == nil:
	case !t.dirty:
		t.show(t.stream.total())
	case t.stream == t.boundAbout:
		t.show(min(t.bound, t.stream.total()))
	}
	t.boundAbout = nil
}
