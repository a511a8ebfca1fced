package bench

import (
	"context"
	"strconv"

	"github.com/parley-run/parley"
)

func verifyAll(ctx context.Context, store parley.Store, inboxes []*inbox) error {
	for _, c := range inboxes {
		if err := c.verify(ctx, store); err != nil {
			return err
		}
	}
	return nil
}

// verify reads back what was left in an inbox: a log without gaps, every
// acknowledged admission in it once and in order, nothing waiting.
func (c *inbox) verify(ctx context.Context, store parley.Store) error {
	var seq uint64
	inputs := 0
	for {
		events, err := store.Events(ctx, parley.SeeAll(), c.id, parley.EventQuery{After: seq, Limit: parley.MaxPageSize})
		if err != nil {
			return err
		}
		for _, e := range events {
			if seq++; e.Seq != seq {
				return lost("session %s has event %d where %d should be", c.id, e.Seq, seq)
			}
			if e.Type != parley.EventInput {
				continue
			}
			body, err := e.Decode()
			if err != nil {
				return err
			}
			inputs++
			if in, ok := body.(*parley.Admitted); !ok || in.ID != strconv.Itoa(inputs) {
				return lost("session %s has another input where number %d should be", c.id, inputs)
			}
		}
		if len(events) < parley.MaxPageSize {
			break
		}
	}
	if inputs != c.admitted {
		return lost("session %s acknowledged %d admissions and has %d", c.id, c.admitted, inputs)
	}
	s, err := store.Session(ctx, parley.SeeAll(), c.id)
	if err != nil {
		return err
	}
	if s.LastSeq != seq || s.Queued != 0 {
		return lost("session %s says last seq %d and %d waiting, and has %d and none", c.id, s.LastSeq, s.Queued, seq)
	}
	return nil
}

// verify looks at some of the conversations: name, key, aliases, people and log
// must be there.
func (p population) verify(ctx context.Context, store parley.Store) error {
	for i := range min(p.n, 200) {
		c := p.conversation(p.random(uint32(i)))
		for _, alias := range c.aliases {
			entry, err := store.Lookup(ctx, parley.SeeAll(), string(alias))
			if err != nil {
				return err
			}
			if entry.Key != c.key || entry.Current != c.id {
				return lost("alias %s does not lead to its session %s", alias, c.id)
			}
		}
		s, err := store.Session(ctx, parley.SeeAll(), c.id)
		if err != nil {
			return err
		}
		if want := uint64(2 + len(c.people)); s.LastSeq != want || !s.UpdatedAt.Equal(c.at) {
			return lost("session %s was stored with %d events and has %d", c.id, want, s.LastSeq)
		}
		people, err := store.Participants(ctx, parley.SeeAll(), c.id)
		if err != nil {
			return err
		}
		if len(people) != len(c.people) {
			return lost("session %s was stored with %d participants and has %d", c.id, len(c.people), len(people))
		}
	}
	return nil
}

func lost(format string, args ...any) error {
	e := parley.Errorf(parley.CodeInternal, format, args...)
	e.Message = "the store is not as it was left: " + e.Message
	return e
}
