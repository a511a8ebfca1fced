package feed

import (
	"context"
	"slices"

	"github.com/parley-run/parley"
)

// allReader is one subscription to all sessions.
type allReader struct {
	reader
	topic *allTopic
	epoch string
	pos   uint64 // every event up to here that it sees it has
	index uint64 // of the next item in the window
}

// followAll runs one subscription to all sessions.
func (f *Feed) followAll(ctx context.Context, v parley.Visibility, from parley.Position, yield yieldFunc) error {
	a, err := f.view(v)
	if err != nil {
		return err
	}
	place, stop := newReader(ctx)
	defer stop()
	r := &allReader{reader: place, topic: a, pos: from.Seq}
	defer f.releaseView(a, &r.reader)
	head, err := f.store.Head(ctx)
	if err != nil {
		return err
	}
	r.epoch = head.Epoch
	resync := parley.ResyncReason("")
	switch {
	case from.Epoch != "" && from.Epoch != head.Epoch:
		resync = parley.ResyncRestored
	case from.Seq > head.Pos:
		resync = parley.ResyncUnknown
	}
	if resync != "" {
		yield(parley.Update{Position: parley.Position{Epoch: r.epoch}, Resync: resync}, nil)
		return nil
	}
	for more := true; more && err == nil; {
		if more, err = r.catchUp(ctx, yield); more && err == nil {
			more, err = r.follow(ctx, yield)
		}
	}
	return err
}

// catchUp gives what the store has until the topic can go on from there.
func (r *allReader) catchUp(ctx context.Context, yield yieldFunc) (more bool, err error) {
	a := r.topic
	var p pager
	for {
		a.mu.RLock()
		reached, started := a.last, a.started
		a.mu.RUnlock()
		limit := p.limit()
		events, next, err := a.feed.store.Log(ctx, a.v, r.pos, limit)
		if err != nil {
			return false, err
		}
		p.learn(events)
		for i := range events {
			if err := r.allowed(); err != nil {
				return false, err
			}
			r.pos = events[i].Pos
			if !yield(parley.Update{Position: r.position(), Event: &events[i]}, nil) {
				return false, nil
			}
		}
		if next == r.pos && len(events) == 0 && started {
			// Nothing is left up to where the topic was.
			next = max(next, reached)
		}
		atEnd := next == r.pos || len(events) < limit
		r.pos = max(r.pos, next)
		if err := r.allowed(); err != nil {
			return false, err
		}
		if r.enter(atEnd) {
			return true, nil
		}
	}
}

func (r *allReader) position() parley.Position { return parley.Position{Epoch: r.epoch, Seq: r.pos} }

// allowed says whether the topic is over.
func (r *allReader) allowed() error {
	if r.topic.version.Load() == r.version {
		return nil
	}
	r.topic.mu.RLock()
	defer r.topic.mu.RUnlock()
	r.version = r.topic.version.Load()
	return r.topic.err
}

// enter makes the reader live, if the topic has what comes next for it. The
// first reader to get to the end of the log is where the topic starts.
func (r *allReader) enter(atEnd bool) bool {
	a := r.topic
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.started && atEnd {
		a.started, a.origin, a.last, a.floor = true, r.pos, r.pos, r.pos
		a.startPump()
	}
	if !a.started || r.pos < a.floor {
		return false
	}
	i, _ := slices.BinarySearchFunc(a.window.items, r.pos, func(it item, pos uint64) int {
		if it.pos > pos {
			return 1
		}
		return -1
	})
	r.index = a.window.first + uint64(i)
	a.enter(&r.reader, r.index < a.window.end())
	if r.pos > a.last {
		a.startPump()
	}
	return true
}

// follow gives what happens, until the reader has enough or has to read from
// the store again.
func (r *allReader) follow(ctx context.Context, yield yieldFunc) (more bool, err error) {
	a := r.topic
	for {
		u, state, err := r.next()
		switch {
		case err != nil:
			return false, err
		case state == foundTooOld:
			yield(parley.Update{Position: r.position(), Resync: parley.ResyncSlow}, nil)
			return false, nil
		case state == foundLost:
			a.mu.Lock()
			if a.leave(&r.reader) {
				a.forget()
			}
			a.mu.Unlock()
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
func (r *allReader) next() (u parley.Update, state found, err error) {
	a := r.topic
	a.mu.RLock()
	last := false
	defer func() {
		a.mu.RUnlock()
		if last {
			a.mu.Lock()
			if a.behind.Load() == 0 {
				a.forget()
			}
			a.mu.Unlock()
		}
	}()
	if a.err != nil {
		return u, foundEnd, a.err
	}
	for {
		it, state := a.window.get(r.index)
		switch {
		case state == foundEnd:
			last = a.caughtUp(&r.reader)
			return u, state, nil
		case state != foundItem:
			return u, state, nil
		}
		r.index++
		switch {
		case it.delta != nil && it.pos < r.pos:
			// It has events that the topic had not when this came.
		case it.delta != nil:
			return parley.Update{Position: r.position(), Delta: it.delta}, state, nil
		case it.pos > r.pos: // else it has it from the store
			r.pos = it.pos
			return parley.Update{Position: r.position(), Event: it.event}, state, nil
		}
	}
}
