package channel

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

// stale reports whether a delivery has waited so long that it is not sent without
// asking. Somebody who had it tried again has asked.
func (o *Outbox) stale(d *parley.Delivery, now time.Time) bool {
	if d.Kind == parley.DeliveryBacklog || d.PlatformID != "" {
		return false
	}
	since := d.CreatedAt
	if d.Attempts == 0 && d.NextAttempt.After(since) {
		since = d.NextAttempt
	}
	return now.Sub(since) > o.cfg.HoldAfter
}

// hold keeps back what has waited too long in the chat, and announces that, in one
// commit. An announcement that has not been sent yet is brought up to date: an outage
// in which one reply after the other becomes old is announced once. It says whether there
// was something to keep back.
func (l *line) hold(ctx context.Context, now time.Time) (did bool, err error) {
	rows, err := l.o.store.Deliveries(ctx, parley.SeeAll(), parley.DeliveryQuery{Chat: l.at.target(), Draft: new(false), Limit: parley.MaxPageSize})
	if err != nil {
		return false, err
	}
	held, err := l.o.store.Deliveries(ctx, parley.SeeAll(), parley.DeliveryQuery{State: parley.DeliveryHeld, Chat: l.at.target(), Limit: parley.MaxPageSize})
	if err != nil {
		return false, err
	}
	b := parley.Batch{At: now}
	at := map[parley.SessionID]int{}
	change := func(id parley.SessionID, c parley.DeliveryChange) {
		if _, ok := at[id]; !ok {
			at[id] = len(b.Sessions)
			b.Sessions = append(b.Sessions, parley.SessionChange{Session: id})
		}
		s := &b.Sessions[at[id]]
		s.Deliveries = append(s.Deliveries, c)
	}
	var last, announcement *parley.Delivery
	for i := range rows {
		d := &rows[i]
		if d.Kind == parley.DeliveryBacklog && d.PlatformID == "" {
			announcement = d
		}
		if !l.o.stale(d, now) {
			continue
		}
		c := parley.DeliveryChange{ID: d.ID, State: new(parley.DeliveryHeld)}
		if d.State != parley.DeliveryPending {
			c.Again = new(true)
		}
		change(d.Session, c)
		b.Expect = append(b.Expect, parley.DeliveryIs{Delivery: d.ID, State: d.State})
		last = d
		held = append(held, *d)
	}
	if last == nil {
		return false, nil
	}
	text := l.backlog(replies(held))
	if announcement != nil {
		change(announcement.Session, parley.DeliveryChange{ID: announcement.ID, Text: &text, Markup: new("")})
		b.Expect = append(b.Expect, parley.DeliveryIs{Delivery: announcement.ID, State: announcement.State})
	} else {
		to := last.Target
		to.ReplyTo = ""
		change(last.Session, parley.DeliveryChange{New: &parley.Delivery{
			ID: parley.DeliveryID("b_" + l.o.cfg.IDFunc()), Kind: parley.DeliveryBacklog, Target: to, Text: text, State: parley.DeliveryPending,
		}})
	}
	write, cancel := l.o.writes()
	defer cancel()
	_, err = l.o.store.Commit(write, b)
	return true, moved(err)
}

// replies counts the replies of which something is among deliveries.
func replies(list []parley.Delivery) int {
	firsts := map[parley.DeliveryID]bool{}
	for i := range list {
		firsts[replyOf(&list[i])] = true
	}
	return len(firsts)
}

// backlog announces how much is held.
func (l *line) backlog(n int) string {
	what := "A reply from earlier was not sent in time and waits."
	if n > 1 {
		what = fmt.Sprintf("%d replies from earlier were not sent in time and wait.", n)
	}
	if l.office.can.Buttons {
		return what + " Ask again, or have them sent now."
	}
	return what + " Ask again, or have the owner send them with `parley outbox retry`."
}
