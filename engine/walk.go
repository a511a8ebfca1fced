package engine

import (
	"context"
	"slices"

	"github.com/parley-run/parley"
)

// turnBackward goes through the messages and starts of a turn, the last one first,
// until f has enough or the turn began. At a start there is no message.
func turnBackward(ctx context.Context, store parley.LogReader, id parley.SessionID, turn parley.TurnID, f func(e parley.Event, m *parley.Message) bool) error {
	types := []parley.EventType{parley.EventMessage, parley.EventTurnStarted}
	for before := uint64(0); ; {
		page, err := store.Events(ctx, parley.SeeAll(), id, parley.EventQuery{Last: true, Before: before, Types: types, Limit: 200})
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(page) {
			if e.Turn != turn {
				continue
			}
			body, err := e.Decode()
			if err != nil {
				return err
			}
			m, _ := body.(*parley.Message)
			start, _ := body.(*parley.TurnStarted)
			if m == nil && start == nil {
				continue // it was redacted
			}
			if !f(e, m) || start != nil && start.Attempt == 1 {
				return nil
			}
		}
		if len(page) == 0 || page[0].Seq <= 1 {
			return nil
		}
		before = page[0].Seq
	}
}
