package sqlite

import (
	"errors"
	"time"

	"github.com/parley-run/parley"
)

// place is an event by its log and seq.
type place struct {
	log int64
	seq uint64
}

// redact takes away the body of an event, and every copy of it: a message goes
// with the inputs it shows, an input with the message that shows it, and each
// with the deliveries, journalled results, previews and titles made from it.
// What else the message of an input showed stays where it was said.
func (t *tx) redact(at time.Time, h *head, seq uint64) error {
	list, err := segments(t.c, h.nr, h.parentSeq, h.lastSeq)
	if err != nil {
		return err
	}
	id, ok := eventAt(list, seq)
	if !ok {
		return notFound("session %q has no event %d", h.id, seq)
	}
	t.scrub = true
	copies, err := t.redactEvent(at, h, place{log: logOf(id), seq: seq})
	for _, p := range copies {
		if err != nil {
			break
		}
		// A copy may have gone with the session that had it.
		if _, err = t.redactEvent(at, h, p); errors.Is(err, parley.ErrNotFound) {
			err = nil
		}
	}
	return err
}

// redactEvent takes away one body and gives the places of its copies.
func (t *tx) redactEvent(at time.Time, h *head, p place) (copies []place, err error) {
	var event parley.Event
	found, err := t.c.one(func(r row) {
		event = parley.Event{Type: parley.EventType(r.text(0)), Turn: parley.TurnID(r.text(1)), Data: []byte(r.text(2))}
	}, `SELECT type, ifnull(turn, ''), body FROM events WHERE id = ?`, eventID(p.log, p.seq))
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, notFound("session %q has no event %d", h.id, p.seq)
	case !event.Type.Redactable():
		return nil, invalid("event %d of session %q is a %s, which holds nothing that somebody wrote", p.seq, h.id, event.Type)
	case event.Redacted():
		return nil, t.redactUses(p) // something may have been made from it since
	}
	body, err := event.Decode()
	if err != nil {
		return nil, err
	}
	if err := t.c.exec(`UPDATE events SET body = ? WHERE id = ?`, string(parley.TombstoneData), eventID(p.log, p.seq)); err != nil {
		return nil, err
	}
	if len(parley.BlobsIn(body)) > 0 {
		if err := t.dropRefs(at, eventID(p.log, p.seq), eventID(p.log, p.seq)); err != nil {
			return nil, err
		}
	}
	switch b := body.(type) {
	case *parley.Admitted:
		copies, err = t.redactInput(p, parley.InputRef{Origin: b.Origin, ID: b.ID})
	case *parley.Message:
		copies, err = t.redactMessage(p, event.Turn, b)
	}
	if err != nil {
		return nil, err
	}
	return copies, t.redactUses(p)
}

// redactInput forgets an input's content; the message that showed it is a copy.
func (t *tx) redactInput(p place, ref parley.InputRef) ([]place, error) {
	if err := t.c.exec(`INSERT INTO redacted_inputs (event, origin, id) VALUES (?, ?, ?)`, eventID(p.log, p.seq), ref.Origin, ref.ID); err != nil {
		return nil, err
	}
	if err := t.c.exec(`UPDATE inputs SET hash = x'' WHERE origin = ? AND id = ?`, ref.Origin, ref.ID); err != nil {
		return nil, err
	}
	var shown uint64
	_, err := t.c.one(func(r row) { shown = r.seq(0) }, `SELECT shown FROM inputs WHERE origin = ? AND id = ?`, ref.Origin, ref.ID)
	if err != nil || shown == 0 {
		return nil, err
	}
	return []place{{log: p.log, seq: shown}}, nil
}

// redactMessage empties the journalled results of a message, and the opaque state of its turn, which may have the message in the form of a
// provider; the inputs it shows are copies.
func (t *tx) redactMessage(p place, turn parley.TurnID, m *parley.Message) (copies []place, err error) {
	if err := t.c.exec(`UPDATE turns SET opaque = NULL WHERE session = ? AND id = ? AND opaque IS NOT NULL`, p.log, turn); err != nil {
		return nil, err
	}
	for _, part := range m.Parts {
		if part.Result == nil {
			continue
		}
		if err := t.c.exec(`UPDATE calls SET result = NULL WHERE session = ? AND turn = ? AND id = ?`, p.log, turn, part.Result.CallID); err != nil {
			return nil, err
		}
	}
	for _, ref := range m.Inputs {
		_, err := t.c.one(func(r row) { copies = append(copies, place{log: p.log, seq: r.seq(0)}) },
			`SELECT seq FROM inputs WHERE origin = ? AND id = ? AND session = ?`, ref.Origin, ref.ID, p.log)
		if err != nil {
			return nil, err
		}
	}
	return copies, nil
}

// redactUses empties deliveries of an event and removes previews and titles made
// from it, in every session that shows it.
func (t *tx) redactUses(p place) error {
	type viewer struct {
		nr                 int64
		parentSeq, lastSeq uint64
		preview            bool
	}
	var viewers []viewer
	err := t.c.each(func(r row) error {
		viewers = append(viewers, viewer{nr: r.int(0), parentSeq: r.seq(1), lastSeq: r.seq(2), preview: r.seq(3) == p.seq})
		return nil
	}, `SELECT s.nr, h.parent_seq, h.last_seq, h.preview_seq
		FROM (SELECT ?1 AS nr UNION SELECT session FROM session_logs WHERE log = ?1 AND upto >= ?2) AS l
		JOIN sessions s ON s.nr = l.nr JOIN heads h ON h.nr = s.nr`, p.log, p.seq)
	if err != nil {
		return err
	}
	for _, v := range viewers {
		if err := t.c.exec(`UPDATE outbox SET text = '', markup = '', media = '' WHERE session = ? AND seq = ?`, v.nr, p.seq); err != nil {
			return err
		}
		if err := t.c.exec(`UPDATE sessions SET title = '', title_seq = 0 WHERE nr = ? AND title_seq = ?`, v.nr, p.seq); err != nil {
			return err
		}
		if !v.preview {
			continue
		}
		list, err := segments(t.c, v.nr, v.parentSeq, v.lastSeq)
		if err != nil {
			return err
		}
		if err := t.resetPreview(v.nr, list, v.lastSeq); err != nil {
			return err
		}
	}
	return nil
}
