package engine

import (
	"context"
	"slices"

	"github.com/parley-run/parley"
)

// tailMessages is how much of a session the next one starts with.
const tailMessages = 20

// tail gives the seqs of the last messages of a session, from the beginning of a
// turn: 0 if there is nothing.
func (e *Engine) tail(ctx context.Context, id parley.SessionID) (from, upto uint64, err error) {
	last, err := e.store.Events(ctx, parley.SeeAll(), id, parley.EventQuery{Last: true, Limit: 1})
	if err != nil || len(last) == 0 {
		return 0, 0, err
	}
	upto = last[0].Seq // a rewind after the last message is part of it
	page, err := e.store.Events(ctx, parley.SeeAll(), id, parley.EventQuery{
		Last: true, Before: upto + 1, Types: []parley.EventType{parley.EventMessage}, Limit: tailMessages,
	})
	if err != nil || len(page) == 0 {
		return 0, 0, err
	}
	first := 0
	if len(page) == tailMessages && page[0].Turn != "" {
		// The page may begin in the middle of a turn: that one is left out, unless
		// it is all there is.
		for first < len(page) && page[first].Turn == page[0].Turn {
			first++
		}
		if first == len(page) {
			first = 0
		}
	}
	return page[first].Seq, upto, nil
}

// withTail puts the messages that a reset carried over before those of the session.
func (e *Engine) withTail(ctx context.Context, events []parley.Event) ([]parley.Event, error) {
	for i := range events {
		if events[i].Type != parley.EventReset {
			continue
		}
		body, err := events[i].Decode()
		if err != nil {
			return nil, err
		}
		reset, ok := body.(*parley.Reset)
		if !ok || reset.TailUpto == 0 {
			continue
		}
		carried, err := e.events(ctx, reset.From, reset.TailFrom-1, reset.TailUpto, []parley.EventType{parley.EventMessage, parley.EventRewound})
		if err == nil {
			carried, err = inSight(carried)
		}
		if err != nil {
			if parley.CodeOf(err) == parley.CodeNotFound {
				continue // it was deleted since
			}
			return nil, err
		}
		return slices.Concat(carried, events), nil
	}
	return events, nil
}

// inSight gives the messages of another session that were not taken back there.
// They have no seq: those of the session they are carried to mean others.
func inSight(events []parley.Event) ([]parley.Event, error) {
	var kept []parley.Event
	for i := range events {
		if events[i].Type == parley.EventMessage {
			kept = append(kept, events[i])
			continue
		}
		body, err := events[i].Decode()
		if err != nil {
			return nil, err
		}
		if r, ok := body.(*parley.Rewound); ok {
			kept = slices.DeleteFunc(kept, func(e parley.Event) bool { return e.Seq > r.ToSeq })
		}
	}
	for i := range kept {
		kept[i].Seq = 0
	}
	return kept, nil
}
