package channel

import (
	"context"
	"errors"
	"time"

	"github.com/parley-run/parley"
)

// line is what goes to one chat: one thing after the other. It has a goroutine while
// there is something to do, and is forgotten when there is nothing to wait for.
type line struct {
	o      *Outbox
	at     place
	office *office

	// guarded by the outbox's mutex
	working bool        // it has its goroutine
	again   bool        // something came since it looked
	stop    func() bool // of the timer that wakes it; nil: none is set
	due     time.Time   // when that is
	streams []*stream
	typing  map[string]parley.Target // where an answer is on its way, and to what

	// of the goroutine alone
	typed time.Time // when that was last shown
}

// wake starts the line's goroutine, or has it look again. The outbox is locked.
func (l *line) wake() {
	if l.working {
		l.again = true
		return
	}
	if l.o.works == nil {
		return
	}
	l.cancelTimer()
	l.working = true
	works := l.o.works
	l.o.wg.Go(func() { l.work(works) })
}

// wakeAt has the line woken at some time, if it is not earlier anyway. The outbox is
// locked.
func (l *line) wakeAt(at time.Time) {
	if l.working || l.stop != nil && !at.Before(l.due) {
		return
	}
	l.cancelTimer()
	l.due = at
	l.stop = l.o.cfg.Clock.AfterFunc(max(0, at.Sub(l.o.cfg.Clock.Now())), func() { l.o.wake(l.at) })
}

func (l *line) cancelTimer() {
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

// work does one thing after the other until there is nothing to do.
func (l *line) work(ctx context.Context) {
	for {
		more, next, err := l.step(ctx)
		if err != nil && ctx.Err() == nil {
			l.o.cfg.Log.Warn("bring deliveries to a chat", "channel", l.at.channel, "error", err)
			more, next = false, l.o.cfg.Clock.Now().Add(l.o.cfg.Pause)
		}
		l.o.mu.Lock()
		if ctx.Err() == nil && (more || l.again) {
			l.again = false
			l.o.mu.Unlock()
			continue
		}
		l.working = false
		switch {
		case ctx.Err() != nil:
		case !next.IsZero():
			l.wakeAt(next)
		case len(l.streams) == 0 && len(l.typing) == 0:
			delete(l.o.lines, l.at)
		}
		l.o.mu.Unlock()
		return
	}
}

// step does the next thing: what is durable comes first, then the beginnings of
// replies, then that one is on its way. It says whether there may be more to do, or
// when.
func (l *line) step(ctx context.Context) (more bool, next time.Time, err error) {
	if ctx.Err() != nil {
		return false, time.Time{}, ctx.Err()
	}
	rows, err := l.o.store.Deliveries(ctx, parley.SeeAll(), parley.DeliveryQuery{Chat: l.at.target(), Draft: new(false), Limit: 1})
	if err != nil {
		return false, time.Time{}, err
	}
	if len(rows) > 0 {
		if at := rows[0].NextAttempt; at.After(l.o.cfg.Clock.Now()) {
			return false, at, nil
		}
		return true, time.Time{}, l.deliver(ctx, rows[0])
	}
	more, shown, err := l.show()
	if more || err != nil {
		return more, time.Time{}, err
	}
	typed := l.showTyping()
	return false, earlier(shown, typed), nil
}

// earlier gives the earlier of two times, where the zero time is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// mediaRate is how many bytes of a medium reach a platform in a second at least.
const mediaRate = 64 << 10

// call gives a context for one call to the platform. A delivery with media gets the time
// that these may take; nil: it is not about one.
func (l *line) call(d *parley.Delivery) (context.Context, context.CancelFunc) {
	most := l.o.cfg.CallTime
	if d != nil && len(d.Media) > 0 {
		size := l.office.can.MaxMedia
		if known := d.Media[0].Size; known > 0 {
			size = min(size, known)
		}
		most += time.Duration(size/mediaRate) * time.Second
	}
	l.o.mu.Lock()
	ctx, cancel := context.WithCancel(l.o.calls)
	l.o.mu.Unlock()
	stop := l.o.cfg.Clock.AfterFunc(most, cancel)
	return ctx, func() { stop(); cancel() }
}

// outcome is what became of a call to a platform.
type outcome int

const (
	arrived outcome = iota
	later           // nothing arrived; it may be tried again
	unknown         // nobody knows
	refused         // for good
	missing         // what was to be edited is not there
)

// judge says what an error of a platform means, and notes for how long it wants to be
// left alone. A call that was given up may have arrived.
func (l *line) judge(ctx context.Context, err error) (outcome, time.Duration) {
	retry, limited := errors.AsType[*RetryError](err)
	switch {
	case err == nil:
		return arrived, 0
	case errors.Is(err, parley.ErrOutcomeUnknown):
		return unknown, 0
	case limited:
		l.office.leaveAlone(l.at.target(), retry)
		return later, retry.After
	case ctx.Err() != nil:
		return unknown, 0
	}
	if e, ok := errors.AsType[*parley.Error](err); ok && e.RetryAfter > 0 {
		l.office.limiter.Pause(l.at.target(), e.RetryAfter)
		return later, e.RetryAfter
	}
	switch parley.CodeOf(err) {
	case parley.CodeNotFound:
		return missing, 0
	case parley.CodeInvalid, parley.CodeForbidden, parley.CodeTooLarge:
		return refused, 0
	}
	return later, 0
}
