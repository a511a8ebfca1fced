package sqlite

import (
	"time"

	"github.com/parley-run/parley"
)

// changeDelivery carries out one change of the outbox. The change's own events have
// been appended, so many, so that the seq of the one that a delivery shows is known.
func (t *tx) changeDelivery(at time.Time, h *head, c *parley.DeliveryChange, appended int) error {
	seq := h.lastSeq - uint64(appended) + uint64(c.Event)
	if c.New != nil {
		d := *c.New
		if c.Event > 0 {
			d.Seq = seq
		}
		return t.insertDelivery(at, h, &d)
	}
	found, err := t.c.exists(`SELECT 1 FROM outbox WHERE id = ? AND session = ?`, c.ID, h.nr)
	if err != nil {
		return err
	}
	if !found {
		return notFound("session %q has no delivery %q", h.id, c.ID)
	}
	if c.Event > 0 {
		if err := t.setDelivery(c.ID, "seq", seq); err != nil {
			return err
		}
	}
	return firstError(
		func() error { return setIf(t, c.ID, "text", c.Text) },
		func() error { return setIf(t, c.ID, "markup", c.Markup) },
		func() error {
			if c.Media == nil {
				return nil
			}
			media, err := mediaColumn(*c.Media)
			if err != nil {
				return err
			}
			return t.setDelivery(c.ID, "media", media)
		},
		func() error { return setIf(t, c.ID, "draft", c.Draft) },
		func() error { return setIf(t, c.ID, "again", c.Again) },
		func() error { return setIf(t, c.ID, "state", c.State) },
		func() error { return setIf(t, c.ID, "attempts", c.Attempts) },
		func() error { return setIf(t, c.ID, "next_attempt", c.NextAttempt) },
		func() error { return setIf(t, c.ID, "attempted_at", c.AttemptedAt) },
		func() error { return setIf(t, c.ID, "platform_id", c.PlatformID) },
		func() error { return setIf(t, c.ID, "last_error", c.LastError) },
	)
}

func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// setIf sets a column of a delivery, if there is a value for it.
func setIf[T any](t *tx, id parley.DeliveryID, column string, value *T) error {
	if value == nil {
		return nil
	}
	return t.setDelivery(id, column, *value)
}

func (t *tx) setDelivery(id parley.DeliveryID, column string, value any) error {
	return t.c.exec(`UPDATE outbox SET `+column+` = ? WHERE id = ?`, value, id)
}

func (t *tx) insertDelivery(at time.Time, h *head, d *parley.Delivery) error {
	target, err := toJSON(d.Target)
	if err != nil {
		return err
	}
	media, err := mediaColumn(d.Media)
	if err != nil {
		return err
	}
	var first int64 // 0: itself
	if d.Of != "" {
		found, err := t.c.one(func(r row) { first = r.int(0) }, `SELECT first FROM outbox WHERE id = ? AND session = ?`, d.Of, h.nr)
		if err != nil {
			return err
		}
		if !found {
			return notFound("session %q has no delivery %q to be a part of", h.id, d.Of)
		}
	}
	added, err := t.c.changed(`INSERT INTO outbox (id, session, turn, kind, call, seq, target, chat, first, part, text, markup, draft, again,
			state, attempts, next_attempt, attempted_at, platform_id, last_error, created_at, media)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		d.ID, h.nr, orNull(d.Turn), d.Kind, orNull(d.Call), d.Seq, target, chatOf(d.Target), first, d.Part, d.Text, d.Markup, d.Draft, d.Again,
		d.State, d.Attempts, d.NextAttempt, d.AttemptedAt, d.PlatformID, d.LastError, at, media)
	if err == nil && !added {
		return conflict("there is a delivery %q already", d.ID)
	}
	if err != nil || first != 0 {
		return err
	}
	return t.c.exec(`UPDATE outbox SET first = nr WHERE nr = ?`, t.c.db.LastInsertRowID())
}

// mediaColumn is the list of a delivery's media; empty: there are none.
func mediaColumn(list []parley.Media) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	return toJSON(list)
}

// chatOf names a chat in the column of that name. Nothing in a target holds a line
// break.
func chatOf(t parley.Target) string { return t.Channel + "\n" + t.Account + "\n" + t.Chat }
