package sqlite

import (
	"time"

	"github.com/parley-run/parley"
)

func (t *tx) changeDelivery(at time.Time, h *head, c *parley.DeliveryChange) error {
	if c.New != nil {
		return t.insertDelivery(at, h, c.New)
	}
	found, err := t.c.exists(`SELECT 1 FROM outbox WHERE id = ? AND session = ?`, c.ID, h.nr)
	if err != nil {
		return err
	}
	if !found {
		return notFound("session %q has no delivery %q", h.id, c.ID)
	}
	set := func(column string, value any) error {
		return t.c.exec(`UPDATE outbox SET `+column+` = ? WHERE id = ?`, value, c.ID)
	}
	if c.State != nil {
		if err := set("state", *c.State); err != nil {
			return err
		}
	}
	if c.Attempts != nil {
		if err := set("attempts", *c.Attempts); err != nil {
			return err
		}
	}
	if c.NextAttempt != nil {
		if err := set("next_attempt", *c.NextAttempt); err != nil {
			return err
		}
	}
	if c.PlatformID != nil {
		if err := set("platform_id", *c.PlatformID); err != nil {
			return err
		}
	}
	if c.LastError != nil {
		return set("last_error", *c.LastError)
	}
	return nil
}

func (t *tx) insertDelivery(at time.Time, h *head, d *parley.Delivery) error {
	target, err := toJSON(d.Target)
	if err != nil {
		return err
	}
	added, err := t.c.changed(`INSERT INTO outbox (id, session, turn, seq, target, part, text, state, attempts, next_attempt, platform_id, last_error, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		d.ID, h.nr, orNull(d.Turn), d.Seq, target, d.Part, d.Text, d.State, d.Attempts, d.NextAttempt, d.PlatformID, d.LastError, at)
	if err == nil && !added {
		err = conflict("there is a delivery %q already", d.ID)
	}
	return err
}
