package channel

import (
	"context"

	"github.com/parley-run/parley"
)

// MostCounted is where the counts of [Stats] end.
const MostCounted = 100

// Stats are what has not arrived. Counts end at [MostCounted].
type Stats struct {
	Open int // on the way; not what is shown while it is being written
	Held int
	Dead int
}

// StatsOf looks into the outbox of a store.
func StatsOf(ctx context.Context, store parley.Store) (Stats, error) {
	var s Stats
	for _, c := range []struct {
		q parley.DeliveryQuery
		n *int
	}{
		{parley.DeliveryQuery{Draft: new(false)}, &s.Open},
		{parley.DeliveryQuery{State: parley.DeliveryHeld}, &s.Held},
		{parley.DeliveryQuery{State: parley.DeliveryDead}, &s.Dead},
	} {
		c.q.Limit = MostCounted
		rows, err := store.Deliveries(ctx, parley.SeeAll(), c.q)
		if err != nil {
			return Stats{}, err
		}
		*c.n = len(rows)
	}
	return s, nil
}

// mayManage refuses who is no owner.
func mayManage(by parley.Principal) error {
	if by.Role != parley.RoleOwner {
		return parley.Errorf(parley.CodeForbidden, "only an owner may look into the outbox")
	}
	return nil
}

// List gives deliveries, for an owner: those in a state, or without one the open ones.
// Others are refused with [parley.CodeForbidden].
func (o *Outbox) List(ctx context.Context, by parley.Principal, q parley.DeliveryQuery) ([]parley.Delivery, error) {
	if err := mayManage(by); err != nil {
		return nil, err
	}
	return o.store.Deliveries(ctx, parley.SeeAll(), q)
}

// Delivery gives one delivery, such as the one below which a button was pressed. One
// that is not there is [parley.CodeNotFound]. Who may know of it is decided above.
func (o *Outbox) Delivery(ctx context.Context, id parley.DeliveryID) (parley.Delivery, error) {
	rows, err := o.store.Deliveries(ctx, parley.SeeAll(), parley.DeliveryQuery{ID: id})
	if err != nil {
		return parley.Delivery{}, err
	}
	if len(rows) == 0 {
		return parley.Delivery{}, parley.Errorf(parley.CodeNotFound, "there is no delivery %q", id)
	}
	return rows[0], nil
}

// Retry has a delivery sent that was held or given up, or that waits for its next
// attempt, for an owner. What else of its reply was held or given up goes with it, in its
// order, also if the delivery itself has arrived. If there is nothing of that kind, what is
// under way or done is [parley.CodeConflict].
func (o *Outbox) Retry(ctx context.Context, by parley.Principal, id parley.DeliveryID) error {
	return o.manage(ctx, by, id, "outbox_retry", func(d *parley.Delivery) ([]parley.DeliveryChange, []parley.Expectation, error) {
		switch d.State {
		case parley.DeliveryPending:
			return []parley.DeliveryChange{o.anew(d.ID)}, nil, nil
		case parley.DeliveryUnknown:
			return []parley.DeliveryChange{{ID: d.ID, NextAttempt: new(o.cfg.Clock.Now())}}, nil, nil
		case parley.DeliveryHeld, parley.DeliveryDead, parley.DeliverySent:
		default:
			return nil, nil, nil
		}
		parts, err := o.stuck(ctx, d)
		var changes []parley.DeliveryChange
		var expect []parley.Expectation
		for i := range parts {
			changes = append(changes, o.anew(parts[i].ID))
			expect = append(expect, parley.DeliveryIs{Delivery: parts[i].ID, State: parts[i].State})
		}
		return changes, expect, err
	})
}

// anew is what makes a delivery as good as one that was never tried: it waits since now.
func (o *Outbox) anew(id parley.DeliveryID) parley.DeliveryChange {
	return parley.DeliveryChange{
		ID: id, State: new(parley.DeliveryPending), Attempts: new(0), NextAttempt: new(o.cfg.Clock.Now()), LastError: new(""),
	}
}

// Drop takes a delivery out of the outbox unsent, for an owner. What is under way or
// done is [parley.CodeConflict].
func (o *Outbox) Drop(ctx context.Context, by parley.Principal, id parley.DeliveryID) error {
	return o.manage(ctx, by, id, "outbox_drop", func(d *parley.Delivery) ([]parley.DeliveryChange, []parley.Expectation, error) {
		switch d.State {
		case parley.DeliverySending, parley.DeliverySent, parley.DeliveryDropped:
			return nil, nil, nil
		}
		return []parley.DeliveryChange{{ID: d.ID, State: new(parley.DeliveryDropped)}}, nil, nil
	})
}

// manage changes a delivery, and others of its reply, as somebody wishes, and writes that
// down. Decide gives the changes, none if nothing can be done, and what they rely on.
func (o *Outbox) manage(
	ctx context.Context, by parley.Principal, id parley.DeliveryID, action string,
	decide func(*parley.Delivery) ([]parley.DeliveryChange, []parley.Expectation, error),
) error {
	if err := mayManage(by); err != nil {
		return err
	}
	d, err := o.Delivery(ctx, id)
	if err != nil {
		return err
	}
	changes, expect, err := decide(&d)
	if err != nil {
		return err
	}
	if len(changes) == 0 || d.Draft {
		return parley.Errorf(parley.CodeConflict, "delivery %s is %s; nothing can be done about it", id, d.State)
	}
	_, err = o.store.Commit(ctx, parley.Batch{
		At:       o.cfg.Clock.Now(),
		Expect:   append(expect, parley.DeliveryIs{Delivery: d.ID, State: d.State}),
		Sessions: []parley.SessionChange{{Session: d.Session, Deliveries: changes}},
		Audit:    []parley.AuditEntry{{Action: action, Actor: by.Identity, Via: by.Via, Session: d.Session, Subject: string(d.ID)}},
	})
	if err == nil {
		o.wake(placeOf(d.Target))
	}
	return err
}

// Release has sent what is held in a chat, as somebody there wishes who pressed the
// button below the announcement: their answers, in their chat. It says how many
// messages that are. What is no announcement is [parley.CodeConflict].
func (o *Outbox) Release(ctx context.Context, by parley.Principal, announcement parley.DeliveryID) (int, error) {
	d, err := o.Delivery(ctx, announcement)
	if err != nil {
		return 0, err
	}
	if d.Kind != parley.DeliveryBacklog {
		return 0, parley.Errorf(parley.CodeConflict, "delivery %s does not announce anything", announcement)
	}
	at := placeOf(d.Target)
	rows, err := o.store.Deliveries(ctx, parley.SeeAll(), parley.DeliveryQuery{State: parley.DeliveryHeld, Chat: at.target(), Limit: parley.MaxPageSize})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	b := parley.Batch{At: o.cfg.Clock.Now()}
	index := map[parley.SessionID]int{}
	for i := range rows {
		held := &rows[i]
		if _, ok := index[held.Session]; !ok {
			index[held.Session] = len(b.Sessions)
			b.Sessions = append(b.Sessions, parley.SessionChange{Session: held.Session})
			b.Audit = append(b.Audit, parley.AuditEntry{
				Action: "outbox_release", Actor: by.Identity, Via: by.Via, Session: held.Session, Subject: string(announcement),
			})
		}
		s := &b.Sessions[index[held.Session]]
		s.Deliveries = append(s.Deliveries, o.anew(held.ID))
		b.Expect = append(b.Expect, parley.DeliveryIs{Delivery: held.ID, State: parley.DeliveryHeld})
	}
	if _, err := o.store.Commit(ctx, b); err != nil {
		return 0, err
	}
	o.wake(at)
	return len(rows), nil
}
