package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

// lane is the goroutine that works for one session. It is there while there is
// something to do, and no longer.
type lane struct {
	*Engine
	id parley.SessionID

	again bool // somebody came since the last look; guarded by the engine's mutex
	free  bool // the commit that ended the last turn found nothing else to do

	// For who holds the session:
	turn     parley.TurnID // the turn that runs
	cancel   context.CancelCauseFunc
	canceled parley.TurnID // the last turn whose cancellation became durable
}

// wake makes sure that somebody looks after a session.
func (e *Engine) wake(id parley.SessionID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l := e.lanes[id]; l != nil {
		l.again = true
		return
	}
	if !e.working {
		return // what there is to do is found at the next start
	}
	l := e.newLane(id)
	e.work.Go(func() { l.run(nil) })
}

// newLane makes the lane of a session that has none. The mutex is held.
func (e *Engine) newLane(id parley.SessionID) *lane {
	if due := e.timers[id]; due != nil {
		due.stop()
		delete(e.timers, id)
	}
	l := &lane{Engine: e, id: id}
	e.lanes[id] = l
	return l
}

// reserve takes the lane of a session that has none, and a slot, so that a turn
// can be started together with the admission of its input. It gives nil if
// somebody works for the session, or all slots are taken.
func (e *Engine) reserve(id parley.SessionID) *lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.working || e.lanes[id] != nil || !e.slots.try() {
		return nil
	}
	e.work.Add(1) // from here on, so that a drain waits for it
	return e.newLane(id)
}

// launch starts a reserved lane. Without a turn it gives the slot back; then it
// ends at once, unless somebody came meanwhile or look is set.
func (l *lane) launch(b *begun, look bool) {
	if b == nil {
		l.slots.release()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b == nil && !look && !l.again {
		delete(l.lanes, l.id)
		l.work.Done()
		return
	}
	l.again = false
	go func() {
		defer l.work.Done()
		l.run(b)
	}()
}

// wakeAt wakes a session at a time.
func (e *Engine) wakeAt(id parley.SessionID, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.working {
		return
	}
	if earlier := e.timers[id]; earlier != nil {
		earlier.stop()
	}
	due := &alarm{}
	due.stop = e.cfg.Clock.AfterFunc(max(at.Sub(e.cfg.Clock.Now()), 0), func() {
		e.mu.Lock()
		if e.timers[id] == due {
			delete(e.timers, id)
		}
		e.mu.Unlock()
		e.wake(id)
	})
	e.timers[id] = due
}

// alarm wakes a session at a time.
type alarm struct{ stop func() bool }

// run works until there is nothing more to do.
func (l *lane) run(b *begun) {
	ctx := l.laneCtx
	more := true
	pause := firstPause
	for b != nil || l.goOn(more) {
		var err error
		if b != nil {
			more, err = l.oneTurn(ctx, *b)
			b = nil
		} else {
			more, err = l.step(ctx)
		}
		if err == nil {
			pause = firstPause
			continue
		}
		more = false
		if ctx.Err() == nil {
			l.cfg.Log.Error("work for a session", "session", l.id, "error", err)
			// Nothing is lost by waiting: what there is to do is in the store.
			l.wakeAt(l.id, l.cfg.Clock.Now().Add(pause))
			pause = min(2*pause, longestPause)
		}
	}
	if more {
		l.leave(ctx)
	}
}

// leave is for a lane that the engine stops while there may be more to do: its
// session does not stay busy for what was taken back meanwhile. What still waits is
// found at the next start.
func (l *lane) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	s, err := l.store.Session(ctx, parley.SeeAll(), l.id)
	if err != nil || s.Status != parley.StatusRunning || s.Queued > 0 {
		return
	}
	turns, err := l.store.OpenTurns(ctx, parley.SeeAll(), l.id)
	if err != nil || len(turns) > 0 {
		return
	}
	if _, err := l.rest(ctx, s); err != nil {
		l.cfg.Log.Error("let a session rest", "session", l.id, "error", err)
	}
}

// goOn reports whether to look for more; if not, the lane is gone.
func (l *lane) goOn(more bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.working && (more || l.again) {
		l.again = false
		return true
	}
	delete(l.lanes, l.id)
	return false
}

const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// step does the next thing, and reports whether there may be more.
func (l *lane) step(ctx context.Context) (more bool, err error) {
	s, err := l.store.Session(ctx, parley.SeeAll(), l.id)
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil // deleted
	}
	if err != nil {
		return false, err
	}
	turns, err := l.store.OpenTurns(ctx, parley.SeeAll(), l.id)
	if err != nil {
		return false, err
	}
	if len(turns) > 0 {
		return l.takeUp(ctx, s, turns[0])
	}
	// The time from before they are read: a burst that goes on meanwhile is not over.
	now := l.cfg.Clock.Now()
	inputs, err := l.store.OpenInputs(ctx, parley.SeeAll(), l.id, parley.InputRef{}, parley.MaxPageSize)
	if err != nil {
		return false, err
	}
	chosen, until := choose(inputs, l.busy(s), now)
	if len(chosen) == 0 {
		if !until.IsZero() {
			l.wakeAt(l.id, until)
		}
		return l.rest(ctx, s)
	}
	if ok, err := l.slot(ctx, chosen[0].Principal); !ok {
		return false, err
	}
	b, err := l.start(ctx, s, chosen)
	if err != nil || b == nil {
		l.slots.release()
		return moved(err)
	}
	return l.oneTurn(ctx, *b)
}

// oneTurn works on one turn, and reports whether there may be more to do. Who comes
// after the commit that ended it wakes the lane. If what became of the turn cannot
// be written, that is an error: then it is not taken up again at once.
func (l *lane) oneTurn(ctx context.Context, b begun) (more bool, err error) {
	l.free = false
	err = l.workOn(ctx, b)
	return !l.free, err
}

// rest makes a session idle that was between two turns, if the second does not
// come, or not yet.
func (l *lane) rest(ctx context.Context, s parley.Session) (more bool, err error) {
	if s.Status != parley.StatusRunning {
		return false, nil
	}
	idle := parley.StatusIdle
	if s.Ended != nil {
		idle = parley.StatusInactive
	}
	_, err = l.store.Commit(ctx, parley.Batch{
		At: l.cfg.Clock.Now(),
		Expect: []parley.Expectation{
			parley.FenceIs{Session: l.id, Fence: s.Fence},
			parley.StatusIn{Session: l.id, Any: []parley.Status{parley.StatusRunning}},
		},
		Sessions: []parley.SessionChange{{Session: l.id, Patch: parley.SessionPatch{Status: &idle}}},
	})
	if changedMeanwhile(err) {
		return true, nil
	}
	return false, err
}

// slot waits for a slot. There is none any more when the engine stops.
func (l *lane) slot(ctx context.Context, p parley.Principal) (ok bool, err error) {
	if err := l.slots.acquire(ctx, speaker(p)); err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.working {
		l.slots.release()
	}
	return l.working, nil
}

// moved makes of an expectation that did not hold another look.
func moved(err error) (more bool, _ error) {
	if changedMeanwhile(err) {
		return true, nil
	}
	return err == nil, err
}

// speaker is whom a slot is given to.
func speaker(p parley.Principal) parley.UserID {
	if p.User != "" {
		return p.User
	}
	return parley.UserID(p.Identity)
}

func (e *Engine) busy(s parley.Session) parley.BusyMode {
	if s.Busy != "" {
		return s.Busy
	}
	return e.cfg.Busy
}

// insist repeats a commit that the store could not take, until ctx ends. The
// commit must be one that fails with a conflict if it has been made before.
func (e *Engine) insist(ctx context.Context, commit func(context.Context) error) error {
	for pause := firstPause / 10; ; pause = min(2*pause, longestPause) {
		err := commit(ctx)
		if !errors.Is(err, parley.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		e.cfg.Log.Warn("the store does not take a change; trying again", "error", err)
		waited := make(chan struct{})
		stop := e.cfg.Clock.AfterFunc(pause, func() { close(waited) })
		select {
		case <-waited:
		case <-ctx.Done():
			stop()
			return fmt.Errorf("%w, and the program stops", err)
		}
	}
}
