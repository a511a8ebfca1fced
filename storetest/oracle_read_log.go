package storetest

import (
	"context"
	"slices"

	"github.com/parley-run/parley"
)

// Events implements [parley.Store].
func (o *oracle) Events(
	_ context.Context, v parley.Visibility, id parley.SessionID, q parley.EventQuery,
) ([]parley.Event, error) {
	s, err := o.visible(v, id)
	if err != nil {
		return nil, err
	}
	var list []parley.Event
	for i, pos := range s.shows {
		seq, e := uint64(i)+1, o.event(pos).Event
		inRange := seq > q.After
		if q.Last {
			inRange = q.Before == 0 || seq < q.Before
		}
		if inRange && (len(q.Types) == 0 || slices.Contains(q.Types, e.Type)) {
			e.Session = id
			list = append(list, e)
		}
	}
	limit := min(parley.PageSize(q.Limit), len(list))
	if q.Last {
		return list[len(list)-limit:], nil
	}
	return list[:limit], nil
}

// Log implements [parley.Store]. Events whose session was deleted are no longer
// anybody's, although a fork may still show them.
func (o *oracle) Log(
	_ context.Context, v parley.Visibility, after uint64, limit int,
) (events []parley.Event, next uint64, err error) {
	sees := map[parley.SessionID]bool{}
	readable, _ := o.visibleSessions(v, "")
	for _, s := range readable {
		sees[s.row.ID] = true
	}
	next = after
	for pos := after + 1; pos <= uint64(len(o.events)) && len(events) < parley.PageSize(limit); pos++ {
		if e := o.event(pos); sees[e.Session] && o.alive(e.Session, e.writer) {
			events, next = append(events, e.Event), pos
		}
	}
	return events, next, nil
}

// Head implements [parley.Store].
func (o *oracle) Head(context.Context) (parley.Head, error) {
	return parley.Head{Epoch: o.epoch, Pos: uint64(len(o.events))}, nil
}
