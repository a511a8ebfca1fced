package channel

import (
	"cmp"
	"context"
	"errors"

	"github.com/parley-run/parley"
)

// replyOf names the reply that a delivery is a part of: its first part.
func replyOf(d *parley.Delivery) parley.DeliveryID { return cmp.Or(d.Of, d.ID) }

// after gives the parts behind a delivery in its reply that are in one of some states, in
// their order; the empty state is all that is open.
func (o *Outbox) after(ctx context.Context, d *parley.Delivery, states ...parley.DeliveryState) ([]parley.Delivery, error) {
	var list []parley.Delivery
	for _, state := range states {
		q := parley.DeliveryQuery{State: state, Chat: placeOf(d.Target).target(), After: d.ID, Limit: parley.MaxPageSize}
		for more := true; more; {
			rows, err := o.store.Deliveries(ctx, parley.SeeAll(), q)
			if err != nil {
				return nil, err
			}
			more = len(rows) == parley.MaxPageSize
			for i := range rows {
				if replyOf(&rows[i]) != replyOf(d) { // the parts of a reply stand together
					more = false
					break
				}
				list = append(list, rows[i])
				q.After = rows[i].ID
			}
		}
	}
	return list, nil
}

// fail gives a delivery up, and the parts of the reply behind it: nobody is to read the end
// of something whose middle is missing. A person may have them tried again.
func (l *line) fail(d *parley.Delivery, cause error) error {
	why := reason(cause)
	l.o.cfg.Log.Warn("a delivery is refused", "delivery", d.ID, "channel", d.Target.Channel, "error", cause)
	return l.o.insist(func(ctx context.Context) error {
		rest, err := l.o.after(ctx, d, "", parley.DeliveryHeld)
		if err != nil {
			return moved(err)
		}
		changes := []parley.DeliveryChange{{ID: d.ID, State: new(parley.DeliveryDead), LastError: why}}
		var expect []parley.Expectation
		for i := range rest {
			changes = append(changes, parley.DeliveryChange{
				ID: rest[i].ID, State: new(parley.DeliveryDead), LastError: new("an earlier part of the reply was refused"),
			})
			expect = append(expect, parley.DeliveryIs{Delivery: rest[i].ID, State: rest[i].State})
		}
		_, err = l.o.commit(ctx, d, changes,
			[]parley.NewEvent{{Turn: d.Turn, Body: &parley.DeliveryFailed{Delivery: d.ID, Channel: d.Target.Channel, Reason: *why}}}, expect...)
		if e, ok := errors.AsType[*parley.ExpectError](err); ok && e.Index > 0 {
			return errChanged // of one behind it somebody has disposed
		}
		return moved(err)
	})
}

// stuck gives the parts of a delivery's reply, itself among them, that are held or were
// given up.
func (o *Outbox) stuck(ctx context.Context, d *parley.Delivery) ([]parley.Delivery, error) {
	first, err := o.Delivery(ctx, replyOf(d))
	if err != nil {
		return nil, err
	}
	list, err := o.after(ctx, &first, parley.DeliveryHeld, parley.DeliveryDead)
	if first.State == parley.DeliveryHeld || first.State == parley.DeliveryDead {
		list = append(list, first)
	}
	return list, err
}
