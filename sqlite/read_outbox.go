package sqlite

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-run/parley"
)

const deliveryColumns = `o.id, s.id, ifnull(o.turn, ''), o.kind, ifnull(o.call, ''), o.seq, o.target,
	ifnull((SELECT f.id FROM outbox f WHERE f.nr = o.first AND f.nr <> o.nr), ''), o.part, o.text, o.markup, o.draft, o.again,
	o.state, o.attempts, o.next_attempt, o.attempted_at, o.platform_id, o.last_error, o.created_at, o.media`

// decodeDelivery reads deliveryColumns.
func decodeDelivery(r row) (d parley.Delivery, err error) {
	d = parley.Delivery{
		ID: parley.DeliveryID(r.text(0)), Session: parley.SessionID(r.text(1)), Turn: parley.TurnID(r.text(2)),
		Kind: parley.DeliveryKind(r.text(3)), Call: parley.CallID(r.text(4)), Seq: r.seq(5),
		Of: parley.DeliveryID(r.text(7)), Part: int(r.int(8)), Text: r.text(9), Markup: r.text(10), Draft: r.bool(11), Again: r.bool(12),
		State: parley.DeliveryState(r.text(13)), Attempts: int(r.int(14)), NextAttempt: r.time(15), AttemptedAt: r.time(16),
		PlatformID: r.text(17), LastError: r.text(18), CreatedAt: r.time(19),
	}
	return d, errors.Join(fromJSON(r.text(6), &d.Target), fromJSON(r.text(20), &d.Media))
}

// Deliveries implements [parley.WorkReader].
func (s *Store) Deliveries(ctx context.Context, v parley.Visibility, q parley.DeliveryQuery) ([]parley.Delivery, error) {
	if q.ID != "" {
		q = parley.DeliveryQuery{ID: q.ID}
	}
	if q.Session == "" && v.Empty() && q.After == "" {
		return nil, nil
	}
	var list []parley.Delivery
	err := s.read(ctx, "read deliveries", func(c *conn) error {
		condition, args, err := visibleIn(c, v, q.Session)
		if err != nil {
			return err
		}
		index, chosen, values := chooseDeliveries(q)
		if q.After != "" {
			var first, part, nr int64
			found, err := c.one(func(r row) { first, part, nr = r.int(0), r.int(1), r.int(2) },
				`SELECT o.first, o.part, o.nr FROM outbox o JOIN sessions s ON s.nr = o.session WHERE o.id = ? AND `+condition,
				slices.Concat([]any{q.After}, args)...)
			if err != nil {
				return err
			}
			if !found {
				return notFound("there is no delivery %q", q.After)
			}
			chosen += ` AND (o.first, o.part, o.nr) > (?, ?, ?)`
			values = append(values, first, part, nr)
		}
		return c.each(func(r row) error {
			d, err := decodeDelivery(r)
			list = append(list, d)
			return err
		}, `SELECT `+deliveryColumns+` FROM outbox o `+index+` CROSS JOIN sessions s ON s.nr = o.session WHERE `+chosen+` AND `+condition+
			` ORDER BY o.first, o.part, o.nr LIMIT ?`, slices.Concat(values, args, []any{parley.PageSize(q.Limit)})...)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// chooseDeliveries gives the index that a query goes through, and its condition, which
// repeats that of the index. What has been sent is looked at only if it is asked for.
func chooseDeliveries(q parley.DeliveryQuery) (index, condition string, args []any) {
	switch {
	case q.ID != "":
		return ``, `o.id = ?`, []any{q.ID}
	case q.Draft != nil && *q.Draft:
		index, condition = `INDEXED BY outbox_drafts`, `o.draft = 1`
	case q.State == "" && q.Chat != (parley.Target{}):
		index, condition = `INDEXED BY outbox_chat`, `1`
	case q.State == "":
		index, condition = `INDEXED BY outbox_open`, `1`
	case q.State == parley.DeliveryHeld || q.State == parley.DeliveryDead:
		index, condition = `INDEXED BY outbox_stuck`, `o.state IN ('held', 'dead')`
	default:
		condition = `1`
	}
	if q.State == "" {
		condition += ` AND o.state IN ('pending', 'sending', 'unknown')`
	} else {
		condition += ` AND o.state = ?`
		args = append(args, q.State)
	}
	if q.Chat != (parley.Target{}) {
		condition += ` AND o.chat = ?`
		args = append(args, chatOf(q.Chat))
	}
	if q.Draft != nil && !*q.Draft {
		condition += ` AND o.draft = 0`
	}
	if !q.Due.IsZero() {
		condition += ` AND ifnull(o.next_attempt, 0) <= ?`
		args = append(args, q.Due)
	}
	return index, condition, args
}
