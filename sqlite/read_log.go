package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// Events implements [parley.LogReader].
func (s *Store) Events(ctx context.Context, v parley.Visibility, id parley.SessionID, q parley.EventQuery) ([]parley.Event, error) {
	var events []parley.Event
	err := s.read(ctx, "read events", func(c *conn) error {
		at, err := see(c, v, id)
		if err != nil {
			return err
		}
		list, err := segments(c, at.nr, at.parentSeq, at.lastSeq)
		if err != nil {
			return err
		}
		if q.Last {
			events, err = lastEvents(c, id, list, q)
		} else {
			events, err = nextEvents(c, id, list, q)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}

const eventColumns = `id, pos, type, ifnull(turn, ''), at, ifnull(identity, ''), body`

func readEvent(r row, session parley.SessionID) parley.Event {
	return parley.Event{
		Session: session, Seq: seqOf(r.int(0)), Pos: r.seq(1), Type: parley.EventType(r.text(2)),
		Turn: parley.TurnID(r.text(3)), At: r.time(4), Identity: parley.IdentityID(r.text(5)), Data: slices.Clip(r.s.ColumnBlob(6, nil)),
	}
}

// fewTypes is how many types are compared one by one. For more of them SQLite makes
// a table of its own, which costs as much as it takes to read some ten rows.
const fewTypes = 8

// typeFilter gives the condition for the types of a query.
func typeFilter(types []parley.EventType) (condition string, args []any) {
	if len(types) == 0 {
		return "", nil
	}
	if len(types) <= fewTypes {
		for _, t := range types {
			args = append(args, string(t))
		}
		// The plus keeps it a filter: the rows are found by their id.
		return ` AND (+type = ?` + strings.Repeat(` OR +type = ?`, len(types)-1) + `)`, args
	}
	// A list of strings cannot fail to encode.
	list, _ := json.Marshal(types)
	return ` AND type IN (SELECT value FROM json_each(?))`, []any{string(list)}
}

// fewEvents is for how many events there is room at once: a page may have far fewer than
// it could.
const fewEvents = 64

// nextEvents gives the first events after a seq.
func nextEvents(c *conn, id parley.SessionID, list []segment, q parley.EventQuery) (events []parley.Event, err error) {
	limit := parley.PageSize(q.Limit)
	if q.After == math.MaxUint64 {
		return nil, nil
	}
	for _, s := range list {
		first := max(s.first, q.After+1)
		if first > s.last || len(events) == limit {
			continue
		}
		more, err := c.segmentEvents(s, first, limit-len(events), q.Types)
		if err != nil {
			return nil, err
		}
		if events == nil {
			events = more // most logs have one segment
		} else {
			events = append(events, more...)
		}
	}
	for i := range events {
		events[i].Session = id
	}
	return events, nil
}

// segmentEvents gives the first events of a segment, from a seq on: those of some types as far as they
// are kept, and the others from the file.
func (c *conn) segmentEvents(s segment, first uint64, limit int, types []parley.EventType) ([]parley.Event, error) {
	if c.recall == nil || len(types) == 0 {
		return c.storedEvents(nil, s, first, limit, types)
	}
	key := runKey{s.log, typesKey(types)}
	events, next := c.recall.known(c.generation, key, first, s.last, limit)
	known := len(events)
	if next > s.last || known == limit {
		return events, nil
	}
	events, err := c.storedEvents(events, s, next, limit-known, types)
	if err != nil {
		return nil, err
	}
	last := s.last
	if len(events) == limit {
		last = events[limit-1].Seq
	}
	c.recall.keep(c.generation, key, next, last, events[known:])
	return events, nil
}

// storedEvents appends the first events of a segment from a seq on, without their session.
func (c *conn) storedEvents(events []parley.Event, s segment, first uint64, limit int, types []parley.EventType) ([]parley.Event, error) {
	filter, args := typeFilter(types)
	events = slices.Grow(events, int(min(s.last-first+1, uint64(limit), fewEvents)))
	err := c.each(func(r row) error {
		events = append(events, readEvent(r, ""))
		return nil
	}, `SELECT `+eventColumns+` FROM events WHERE id BETWEEN ? AND ?`+filter+` ORDER BY id LIMIT ?`,
		slices.Concat([]any{eventID(s.log, first), eventID(s.log, s.last)}, args, []any{limit})...)
	return events, err
}

// lastEvents gives the last events before a seq.
func lastEvents(c *conn, id parley.SessionID, list []segment, q parley.EventQuery) (events []parley.Event, err error) {
	limit := parley.PageSize(q.Limit)
	filter, args := typeFilter(q.Types)
	for _, s := range slices.Backward(list) {
		last := s.last
		if q.Before > 0 {
			last = min(last, q.Before-1)
		}
		if s.first > last || len(events) == limit {
			continue
		}
		err := c.each(func(r row) error {
			events = append(events, readEvent(r, id))
			return nil
		}, `SELECT `+eventColumns+` FROM events WHERE id BETWEEN ? AND ?`+filter+` ORDER BY id DESC LIMIT ?`,
			slices.Concat([]any{eventID(s.log, s.first), eventID(s.log, last)}, args, []any{limit - len(events)})...)
		if err != nil {
			return nil, err
		}
	}
	slices.Reverse(events)
	return events, nil
}

// Log implements [parley.LogReader].
func (s *Store) Log(ctx context.Context, v parley.Visibility, after uint64, limit int) (events []parley.Event, next uint64, err error) {
	if v.Empty() || after > math.MaxInt64 {
		return nil, after, nil
	}
	limit = parley.PageSize(limit)
	err = s.read(ctx, "read log", func(c *conn) error {
		events, next = nil, after
		// What is hidden is counted too, so that a page takes no longer for who sees little. Its
		// body is never read: that of a row is read when it is selected, so the rows to show are
		// selected one by one.
		scan := limit
		if !seesEverything(v) {
			scan = max(limit, maxScan)
		}
		condition, args := visible(v)
		ids := map[int64]parley.SessionID{}
		err := c.each(func(r row) error {
			pos, log := r.seq(0), logOf(r.int(1))
			id, ok := ids[log]
			if !ok {
				_, err := c.one(func(r row) { id = parley.SessionID(r.text(0)) },
					`SELECT s.id FROM sessions s WHERE s.nr = ? AND `+condition, append([]any{log}, args...)...)
				if err != nil {
					return err
				}
				ids[log] = id
			}
			next = pos
			if id == "" {
				return nil
			}
			_, err := c.one(func(r row) { events = append(events, readEvent(r, id)) }, `SELECT `+eventColumns+` FROM events WHERE pos = ?`, pos)
			if err == nil && len(events) == limit {
				err = errStop
			}
			return err
		}, `SELECT pos, id FROM events WHERE pos > ? ORDER BY pos LIMIT ?`, after, scan)
		if errors.Is(err, errStop) {
			err = nil
		}
		return err
	})
	if err != nil {
		return nil, after, err
	}
	return events, next, nil
}

// Head implements [parley.LogReader].
func (s *Store) Head(ctx context.Context) (head parley.Head, err error) {
	err = s.read(ctx, "read head", func(c *conn) error {
		if head.Pos, err = lastPos(c); err != nil {
			return err
		}
		_, err := c.one(func(r row) { head.Epoch = r.text(0) },
			`SELECT ifnull((SELECT value FROM meta WHERE name = 'epoch'), (SELECT value FROM meta WHERE name = 'store_id'))`)
		return err
	})
	return head, err
}
