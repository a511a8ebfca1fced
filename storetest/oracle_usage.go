package storetest

import (
	"context"
	"time"

	"github.com/parley-run/parley"
)

// Spent implements [parley.Store]. Every event that was ever written is still
// there, so they are what is added up.
func (o *oracle) Spent(_ context.Context, q parley.SpentQuery) (parley.Usage, error) {
	var sum parley.Usage
	for i := range o.events {
		e := &o.events[i]
		done, ok := e.body.(*parley.TurnCompleted)
		switch {
		case !ok,
			q.Agent != "" && e.agent != q.Agent,
			q.Identity != "" && e.Identity != q.Identity,
			q.User != "" && o.identities[e.Identity].User != q.User,
			!q.From.IsZero() && date(e.At) < date(q.From),
			!q.Until.IsZero() && date(e.At) >= date(q.Until):
			continue
		}
		sum = sum.Plus(done.Usage)
	}
	return sum, nil
}

// date gives the day of an instant in UTC, so that days can be compared.
func date(at time.Time) string { return at.UTC().Format(time.DateOnly) }
