package feed

import (
	"context"
	"errors"

	"github.com/parley-run/parley"
)

// yieldFunc takes one update, and is false when the reader wants no more.
type yieldFunc = func(parley.Update, error) bool

// sessionReader is one subscription to a session.
type sessionReader struct {
	reader
	topic *sessionTopic
	v     parley.Visibility
	epoch string

	cursor uint64  // the last event it has
	stream string  // the last reply it had something of, and how many deltas
	n      int     //
	inside bool    // that reply is being written, or may be
	resume bool    // stream and n came from its position, and were not looked at yet
	midway *stream // a reply that was being written when it came
}

// followSession runs one subscription to a session. Like everything here it
// gives nil when the reader has enough.
func (f *Feed) followSession(ctx context.Context, v parley.Visibility, id parley.SessionID, from parley.Position, yield yieldFunc) error {
	t, err := f.session(id)
	if err != nil {
		return err
	}
	place, stop := newReader(ctx)
	defer stop()
	r := &sessionReader{reader: place, topic: t, v: v, cursor: from.Seq, stream: from.Stream, n: from.N}
	r.inside, r.resume = from.Stream != "", from.Stream != ""
	defer f.release(t, &r.reader)
	if err := r.ready(ctx); err != nil {
		return err
	}
	head, err := f.store.Head(ctx)
	if err != nil {
		return err
	}
	r.epoch = head.Epoch
	first, known, err := r.first(ctx)
	switch {
	case err != nil:
		return err
	case from.Epoch != "" && from.Epoch != r.epoch:
		yield(parley.Update{Position: parley.Position{Epoch: r.epoch}, Resync: parley.ResyncRestored}, nil)
		return nil
	case !known:
		yield(parley.Update{Position: parley.Position{Epoch: r.epoch}, Resync: parley.ResyncUnknown}, nil)
		return nil
	}
	if err := r.admit(ctx); err != nil {
		return err
	}
	more, err := r.give(first, yield)
	for more && err == nil {
		if more, err = r.catchUp(ctx, yield); more && err == nil {
			more, err = r.follow(ctx, yield)
		}
	}
	return err
}

// ready waits until the topic knows who takes part.
func (r *sessionReader) ready(ctx context.Context) error {
	t := r.topic
	for {
		t.mu.RLock()
		known, changed, err := t.people != nil, t.changed, t.err
		t.mu.RUnlock()
		if known || err != nil {
			return err
		}
		if err := wait(ctx, changed); err != nil {
			return err
		}
	}
}

// wait waits for a change.
func wait(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// admit checks a reader, which sees the session by the store's word, against who
// takes part by the topic's. If they differ the topic may not have heard of a
// change yet, and has to read once more.
func (r *sessionReader) admit(ctx context.Context) error {
	t := r.topic
	for read := uint64(0); ; {
		t.mu.Lock()
		err := r.allowedLocked()
		if err == nil || t.err != nil || read > 0 && t.whole >= read {
			t.mu.Unlock()
			return err
		}
		if read == 0 {
			read = t.reads + 1
			if t.mark() {
				t.feed.spawn(t.pump)
			}
		}
		t.awaited = true
		changed := t.changed
		t.mu.Unlock()
		if err := wait(ctx, changed); err != nil {
			return err
		}
	}
}

// first reads the first page, together with the event at the reader's position:
// a session's log has no gaps, so if that is not there, nor was the reader.
func (r *sessionReader) first(ctx context.Context) (events []parley.Event, known bool, err error) {
	q := parley.EventQuery{After: r.cursor, Limit: firstPage}
	if r.cursor > 0 {
		q.After--
	}
	if events, err = r.read(ctx, q); err != nil || r.cursor == 0 {
		return events, true, err
	}
	if len(events) == 0 || events[0].Seq != r.cursor {
		return nil, false, nil
	}
	return events[1:], true, nil
}

// read reads events as the reader sees them.
func (r *sessionReader) read(ctx context.Context, q parley.EventQuery) ([]parley.Event, error) {
	events, err := r.topic.feed.store.Events(ctx, r.v, r.topic.id, q)
	if errors.Is(err, parley.ErrNotFound) {
		err = errNotFound(r.topic.id)
	}
	return events, err
}

// catchUp gives what the store has until the topic can go on from there.
func (r *sessionReader) catchUp(ctx context.Context, yield yieldFunc) (more bool, err error) {
	var p pager
	for !r.enter() {
		events, err := r.read(ctx, parley.EventQuery{After: r.cursor, Limit: p.limit()})
		if err != nil {
			return false, err
		}
		if len(events) == 0 {
			// The topic has seen more than there is: it was another session.
			return false, errNotFound(r.topic.id)
		}
		p.learn(events)
		if more, err := r.give(events, yield); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// give yields events that were read from the store.
func (r *sessionReader) give(events []parley.Event, yield yieldFunc) (more bool, err error) {
	for i := range events {
		if err := r.allowed(); err != nil {
			return false, err
		}
		r.cursor = events[i].Seq
		if !yield(parley.Update{Position: r.position(), Event: &events[i]}, nil) {
			return false, nil
		}
	}
	return true, nil
}

func (r *sessionReader) position() parley.Position {
	at := parley.Position{Epoch: r.epoch, Seq: r.cursor}
	if r.inside {
		at.Stream, at.N = r.stream, r.n
	}
	return at
}

// allowed says whether the reader may go on: the topic is not over, and the
// reader sees the session. It costs little while nothing has changed.
func (r *sessionReader) allowed() error {
	if r.topic.version.Load() == r.version {
		return nil
	}
	r.topic.mu.RLock()
	defer r.topic.mu.RUnlock()
	return r.allowedLocked()
}

func (r *sessionReader) allowedLocked() error {
	t := r.topic
	if t.err != nil {
		return t.err
	}
	version := t.version.Load()
	if version == r.version {
		return nil
	}
	if !sees(r.v, t.id, t.people) {
		return errNotFound(t.id)
	}
	r.version = version
	return nil
}

// sees is [parley.Visibility.Allows] with a set.
func sees(v parley.Visibility, id parley.SessionID, people map[parley.IdentityID]struct{}) bool {
	if v.All || !v.Allows(id, v.Identities) {
		return v.All && v.Allows(id, nil)
	}
	for _, identity := range v.Identities {
		if _, ok := people[identity]; ok {
			return true
		}
	}
	return false
}

// enter makes the reader live, if the topic has what comes next for it.
func (r *sessionReader) enter() bool {
	t := r.topic
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.cursor+1 < t.window.first {
		return false
	}
	t.enter(&r.reader, r.cursor < t.last)
	if r.cursor > t.last && t.mark() {
		t.feed.spawn(t.pump)
	}
	s := t.stream
	switch {
	case s == nil || s.broken:
	case r.resume && r.stream == s.name && r.n <= s.total():
		r.resume = false
		return true
	case s.shown > 0 && r.stream != s.name:
		r.midway = s
	case s.shown > 0 && r.resume: // it claims to have more than there is
		r.midway, r.stream, r.n = s, "", 0
	}
	r.resume = false
	return true
}

// follow gives what happens, until the reader has enough or has to read from
// the store again.
func (r *sessionReader) follow(ctx context.Context, yield yieldFunc) (more bool, err error) {
	t := r.topic
	for {
		u, state, err := r.next()
		switch {
		case err != nil:
			return false, err
		case state == foundTooOld:
			yield(parley.Update{Position: r.position(), Resync: parley.ResyncSlow}, nil)
			return false, nil
		case state == foundLost:
			t.mu.Lock()
			if t.leave(&r.reader) {
				t.window.clear()
			}
			t.mu.Unlock()
			return true, nil
		case state == foundEnd:
			if err := r.wait(ctx); err != nil {
				return false, err
			}
		case !yield(u, nil):
			return false, nil
		}
	}
}

// next gives the next update, if there is one.
func (r *sessionReader) next() (u parley.Update, state found, err error) {
	t := r.topic
	t.mu.RLock()
	last := false
	defer func() {
		t.mu.RUnlock()
		if last {
			t.mu.Lock()
			if t.behind.Load() == 0 {
				t.window.clear()
			}
			t.mu.Unlock()
		}
	}()
	if err := r.allowedLocked(); err != nil {
		return u, foundEnd, err
	}
	r.inside = t.stream != nil && t.stream.name == r.stream
	event, state := t.window.get(r.cursor + 1)
	switch state {
	case foundItem:
		r.cursor++
		if r.cursor == t.last {
			last = t.caughtUp(&r.reader)
		}
		return parley.Update{Position: r.position(), Event: event}, state, nil
	case foundEnd:
		last = t.caughtUp(&r.reader)
		if r.delta(&u) {
			return u, foundItem, nil
		}
	}
	return u, state, nil
}

// delta gives the next of the reply that is being written, if there is more of
// it than the reader has. Who has not seen it begin, or is far behind in it,
// gets a snapshot first.
func (r *sessionReader) delta(u *parley.Update) bool {
	t, s := r.topic, r.topic.stream
	if s == nil || s.broken || r.cursor != t.last || r.cursor < s.after {
		return false
	}
	joins := r.stream != s.name
	if joins && s.shown > 0 {
		r.stream, r.n, r.inside = s.name, 0, true
	}
	if joins && s.shown == 0 || s.shown <= r.n {
		return false
	}
	if joins && r.midway == s || s.shown-r.n > t.feed.cfg.Deltas {
		r.n = s.shown
		*u = parley.Update{Position: r.position(), Snapshot: s.snapshot(t.id, r.n)}
		return true
	}
	r.n++
	*u = parley.Update{Position: r.position(), Delta: s.delta(t.id, r.n)}
	return true
}
