package sqlite

import (
	"time"

	"github.com/parley-run/parley"
)

// appendEvents admits the change's inputs and appends its events, and brings
// what they determine up to date.
func (t *tx) appendEvents(at time.Time, h *head, c *change) error {
	var tally parley.Tally
	for i := range c.Admit {
		in, a := &c.Admit[i], &c.inputs[i]
		if err := t.appendEvent(h, &tally, at, in.Turn, in.Principal.Identity, &a.encoded); err != nil {
			return err
		}
		if err := t.insertInput(at, h, in, a); err != nil {
			return err
		}
		if in.State == parley.InputQueued {
			h.queued++
		}
	}
	for i := range c.Events {
		d := &c.Events[i]
		when := d.At
		if when.IsZero() {
			when = at
		}
		if err := t.appendEvent(h, &tally, when, d.Turn, d.Identity, &c.events[i]); err != nil {
			return err
		}
		switch body := d.Body.(type) {
		case *parley.Message:
			if err := t.markShown(h, body); err != nil {
				return err
			}
		case *parley.TurnCompleted:
			if err := t.spend(h, when, d.Identity, body.Usage); err != nil {
				return err
			}
		}
	}
	return t.applyTally(h, &tally)
}

func (t *tx) appendEvent(h *head, tally *parley.Tally, at time.Time, turn parley.TurnID, by parley.IdentityID, e *encoded) error {
	h.lastSeq++
	t.pos++
	tally.Add(h.lastSeq, at, e.body)
	id := eventID(h.nr, h.lastSeq)
	err := t.c.exec(`INSERT INTO events (id, pos, type, turn, at, identity, body) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		id, t.pos, e.body.EventType(), orNull(turn), at, orNull(by), e.json)
	if err != nil || len(e.blobs) == 0 {
		return err
	}
	return t.refer(id, e.blobs)
}

// markShown notes on inputs which message has their content, so that a
// redaction of either finds the other.
func (t *tx) markShown(h *head, m *parley.Message) error {
	for _, ref := range m.Inputs {
		marked, err := t.c.changed(`UPDATE inputs SET shown = ? WHERE origin = ? AND id = ? AND session = ? AND shown IS NULL`,
			h.lastSeq, ref.Origin, ref.ID, h.nr)
		if err != nil {
			return err
		}
		if marked {
			continue
		}
		if known, err := t.c.exists(`SELECT 1 FROM inputs WHERE origin = ? AND id = ? AND session = ?`, ref.Origin, ref.ID, h.nr); err != nil {
			return err
		} else if !known {
			return notFound("session %q has no input %q to show", h.id, ref.ID)
		}
		return conflict("input %q is shown by another message already", ref.ID)
	}
	return nil
}

// applyTally adds what new events determine to the session.
func (t *tx) applyTally(h *head, tally *parley.Tally) error {
	n := tally.Counters
	h.counters.Messages += n.Messages
	h.counters.Turns += n.Turns
	h.counters.Usage = h.counters.Usage.Plus(n.Usage)
	if n.LastPromptTokens > 0 {
		h.counters.LastPromptTokens = n.LastPromptTokens
	}
	if !tally.LastActivity.IsZero() {
		h.updatedAt = tally.LastActivity
	}
	if tally.PreviewSeq > 0 {
		h.edits.previewSeq, h.edits.preview = tally.PreviewSeq, tally.Preview
	}
	return t.setParticipants(h.nr, tally.Participants)
}

func (t *tx) setParticipants(session int64, changes []parley.ParticipantChanged) error {
	for _, p := range changes {
		sql := `INSERT INTO participants (session, identity) VALUES (?, ?) ON CONFLICT DO NOTHING`
		if p.Left {
			sql = `DELETE FROM participants WHERE session = ? AND identity = ?`
		}
		if err := t.c.exec(sql, session, p.Identity); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) insertInput(at time.Time, h *head, in *parley.Input, a *admission) error {
	return t.c.exec(`INSERT INTO inputs (origin, id, session, seq, hash, kind, state, user, role, via, busy, decision, not_before, turn, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		in.Ref.Origin, in.Ref.ID, h.nr, h.lastSeq, a.hash, in.Kind, in.State,
		orNull(in.Principal.User), in.Principal.Role, orNull(in.Principal.Via), orNull(in.Busy), orNull(in.Decision), in.NotBefore, orNull(in.Turn), at)
}
