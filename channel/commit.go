package channel

import (
	"context"
	"errors"
	"time"

	"github.com/parley-run/parley"
)

// commit changes deliveries of a session, if d is still in the state it was read in.
func (o *Outbox) commit(ctx context.Context, d *parley.Delivery, changes []parley.DeliveryChange, events []parley.NewEvent, expect ...parley.Expectation) (parley.Result, error) {
	return o.store.Commit(ctx, parley.Batch{
		At:       o.cfg.Clock.Now(),
		Expect:   append([]parley.Expectation{parley.DeliveryIs{Delivery: d.ID, State: d.State}}, expect...),
		Sessions: []parley.SessionChange{{Session: d.Session, Deliveries: changes, Events: events}},
	})
}

// change changes a delivery, and adds parts of it, if it is still as it was read: in
// its state, and not redacted. It says whether it was.
func (o *Outbox) change(d *parley.Delivery, c parley.DeliveryChange, more ...parley.DeliveryChange) (bool, error) {
	ctx, cancel := o.writes()
	defer cancel()
	c.ID = d.ID
	var expect []parley.Expectation
	if d.Seq > 0 && (d.Text != "" || len(d.Media) > 0) {
		expect = append(expect, parley.EventIntact{Session: d.Session, Seq: d.Seq})
	}
	_, err := o.commit(ctx, d, append([]parley.DeliveryChange{c}, more...), nil, expect...)
	if moved(err) == nil && err != nil {
		return false, nil
	}
	return err == nil, err
}

// moved is err, unless that says that the delivery is another by now, or gone: then
// there is nothing to change.
func moved(err error) error {
	if _, ok := errors.AsType[*parley.ExpectError](err); ok || errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	return err
}

// writes gives a context for a commit. It does not end with Run: what a platform has
// answered is written down.
func (o *Outbox) writes() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), commitTime)
}

// mostInsistPause is how long is waited at most until something is written down again:
// others may wait for it.
const mostInsistPause = 5 * time.Second

// insist writes down what has happened, and tries again until it can. If the outbox is
// to end, it gives up: then the next one finds a delivery whose outcome is unknown.
func (o *Outbox) insist(write func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		ctx, cancel := o.writes()
		err := write(ctx)
		cancel()
		if errors.Is(err, errChanged) {
			continue
		}
		if err == nil || !errors.Is(err, parley.ErrUnavailable) {
			return err
		}
		o.mu.Lock()
		calls := o.calls
		o.mu.Unlock()
		woken := make(chan struct{})
		stop := o.cfg.Clock.AfterFunc(min(o.pause(attempt), mostInsistPause), func() { close(woken) })
		select {
		case <-woken:
		case <-calls.Done():
			stop()
			return err
		}
	}
}
