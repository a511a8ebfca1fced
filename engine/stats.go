package engine

import (
	"context"
	"time"

	"github.com/parley-run/parley"
)

// Stats is what the engine has to do at a moment.
type Stats struct {
	Running  int // turns
	Parked   int // turns that wait for a model
	Awaiting int // turns that wait for a person
	Queued   int // inputs
	Lanes    int // sessions that something is done for
	Waiting  int // of them, those that wait for their turn to run
	// OldestQueued is when the one that waits longest was admitted; zero: none
	// waits.
	OldestQueued time.Time
}

// Stats counts. It costs as much as there is work.
func (e *Engine) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Waiting: e.slots.tickets()}
	e.mu.Lock()
	s.Lanes = len(e.lanes)
	e.mu.Unlock()
	turns, err := e.store.OpenTurns(ctx, parley.SeeAll(), "")
	if err != nil {
		return s, err
	}
	for _, t := range turns {
		switch t.State {
		case parley.TurnRunning:
			s.Running++
		case parley.TurnParked:
			s.Parked++
		case parley.TurnAwaitingApproval:
			s.Awaiting++
		}
	}
	var after parley.InputRef
	for {
		inputs, err := e.store.OpenInputs(ctx, parley.SeeAll(), "", after, parley.MaxPageSize)
		if err != nil {
			return s, err
		}
		for i := range inputs {
			after = inputs[i].Ref
			if inputs[i].State != parley.InputQueued {
				continue
			}
			s.Queued++
			if s.OldestQueued.IsZero() || inputs[i].At.Before(s.OldestQueued) {
				s.OldestQueued = inputs[i].At
			}
		}
		if len(inputs) < parley.MaxPageSize {
			return s, nil
		}
	}
}
