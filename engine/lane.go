package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

	// ending is held by who ends the turn that runs, and by who cancels it: so one
	// of both is first.
	ending sync.Mutex
	turn   parley.TurnID // the turn that runs
	cancel context.CancelCauseFunc
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
	if stop := e.timers[id]; stop != nil {
		stop()
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
		return
	}
	l.again = false
	l.work.Go(func() { l.run(b) })
}

// wakeAt wakes a session at a time.
func (e *Engine) wakeAt(id parley.SessionID, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.working {
		return
	}
	if stop := e.timers[id]; stop != nil {
		stop()
	}
	e.timers[id] = e.cfg.Clock.AfterFunc(max(at.Sub(e.cfg.Clock.Now()), 0), func() { e.wake(id) })
}

// run works until there is nothing more to do.
func (l *lane) run(b *begun) {
	ctx := l.laneCtx
	more := true
	if b != nil {
		more = l.oneTurn(ctx, *b)
	}
	pause := firstPause
	for l.goOn(more) {
		var err error
		more, err = l.step(ctx)
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
	inputs, err := l.store.OpenInputs(ctx, parley.SeeAll(), l.id, parley.InputRef{}, parley.MaxPageSize)
	if err != nil {
		return false, err
	}
	chosen, until := choose(inputs, l.busy(s), l.cfg.Clock.Now())
	if len(chosen) == 0 {
		if !until.IsZero() {
			l.wakeAt(l.id, until)
		}
		return false, nil
	}
	if err := l.slots.acquire(ctx, speaker(chosen[0].Principal)); err != nil {
		return false, err
	}
	b, err := l.start(ctx, s, chosen)
	if err != nil || b == nil {
		l.slots.release()
		return moved(err)
	}
	return l.oneTurn(ctx, *b), nil
}

// oneTurn works on one turn, and reports whether there may be more to do. Who comes
// after the commit that ended it wakes the lane.
func (l *lane) oneTurn(ctx context.Context, b begun) (more bool) {
	l.free = false
	l.workOn(ctx, b)
	return !l.free
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
