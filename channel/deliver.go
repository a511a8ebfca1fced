package channel

import (
	"context"
	"errors"
	"time"

	"github.com/parley-run/parley"
)

// textRemoved stands where a message was that somebody took away while it was being
// delivered.
const textRemoved = "(This message was removed.)"

// mostAgain is how often something is called out whose outcome stays unknown, before
// a person has to decide.
const mostAgain = 5

// commitTime is how long a commit may take.
const commitTime = 30 * time.Second

// deliver brings the first delivery of the chat a step further.
func (l *line) deliver(ctx context.Context, d parley.Delivery) error {
	now := l.o.cfg.Clock.Now()
	if d.Kind == parley.DeliveryApproval && d.PlatformID == "" {
		if a, err := l.o.approval(ctx, &d); err != nil {
			return err
		} else if a.State != parley.ApprovalPending && (d.State == parley.DeliveryPending || !l.canTell(&d, now)) {
			return l.drop(&d, "it was answered before it was sent")
		}
	}
	switch {
	case d.Text == "" && len(d.Media) == 0 && d.PlatformID == "":
		return l.drop(&d, "it was redacted")
	case d.PlatformID != "":
		return l.edit(ctx, d)
	case l.o.stale(&d, now), d.Kind == parley.DeliveryBacklog:
		// An announcement covers what has become old behind it, too.
		if did, err := l.hold(ctx, now); did || err != nil {
			return err
		}
	}
	if d.State == parley.DeliveryPending {
		return l.send(ctx, d)
	}
	return l.resolve(ctx, d)
}

// send sends a delivery that was never sent, or did not arrive.
func (l *line) send(ctx context.Context, d parley.Delivery) error {
	done, err := l.office.limiter.Wait(ctx, d.Target)
	if err != nil {
		return err
	}
	defer done()
	var parts []parley.DeliveryChange
	if d.Markup == "" && d.Kind != parley.DeliveryApproval {
		if parts = l.office.divide(&d, false); parts == nil {
			return l.drop(&d, nothingToSee)
		}
	}
	now := l.o.cfg.Clock.Now()
	return l.callOut(d, parley.DeliveryChange{AttemptedAt: &now}, parts, done)
}

// callOut makes durable that a delivery is being sent, with the parts it is the first
// of, and sends it. Done tells the limiter that the platform has answered.
func (l *line) callOut(d parley.Delivery, c parley.DeliveryChange, parts []parley.DeliveryChange, done func()) error {
	c.State, c.Attempts = new(parley.DeliverySending), new(d.Attempts+1)
	if len(parts) > 0 {
		c.Text, c.Markup, c.Media = parts[0].Text, parts[0].Markup, parts[0].Media
		parts = parts[1:]
	}
	reading, stop := l.call(&d)
	defer stop()
	content, err := l.open(reading, &d, &c)
	if err != nil {
		return l.postpone(&d, 0, err)
	}
	defer content.close()
	m, err := l.office.outgoing(&d)
	if err != nil {
		return l.fail(&d, err)
	}
	content.into(&m)
	ok, err := l.o.change(&d, c, parts...)
	if !ok || err != nil {
		return err
	}
	d.State, d.Attempts = parley.DeliverySending, d.Attempts+1
	ctx, cancel := l.call(&d) // its time begins now
	defer cancel()
	id, err := l.office.Send(ctx, m)
	done()
	became, wait := l.judge(ctx, err)
	if became == missing {
		became = refused // the chat itself
	}
	if became != arrived {
		return l.failed(&d, became, wait, err)
	}
	// What was sent again may be there with an older text.
	return l.arrived(&d, id, c.AttemptedAt == nil)
}

// arrived notes that a message is in its chat. Stale says that it may be there with
// another text; then it is edited next, if it can be.
func (l *line) arrived(d *parley.Delivery, id string, stale bool) error {
	stale = stale && l.office.can.Edits && len(d.Media) == 0
	return l.o.insist(func(ctx context.Context) error {
		c := parley.DeliveryChange{State: new(parley.DeliverySent), PlatformID: &id, LastError: new("")}
		var expect []parley.Expectation
		if d.Kind == parley.DeliveryApproval {
			a, err := l.o.approval(ctx, d)
			if err != nil {
				return err
			}
			stale = false // a question is sent as it is
			if a.State == parley.ApprovalPending {
				expect = append(expect, parley.ApprovalIs{Session: d.Session, Turn: d.Turn, Call: d.Call, State: parley.ApprovalPending})
			} else {
				c.Text, stale = new(answered(d.Text, a.State)), true
			}
		}
		if stale {
			c.State = new(parley.DeliveryPending)
		}
		c.ID = d.ID
		_, err := l.o.commit(ctx, d, []parley.DeliveryChange{c}, nil, expect...)
		if e, ok := errors.AsType[*parley.ExpectError](err); ok {
			if _, answered := e.Expect.(parley.ApprovalIs); answered {
				return errChanged // look again how it was answered
			}
		}
		return moved(err)
	})
}

// errChanged says that something is to be tried again at once.
var errChanged = errors.New("it has changed meanwhile")

// failed notes that a message did not arrive, or that nobody knows.
func (l *line) failed(d *parley.Delivery, became outcome, wait time.Duration, cause error) error {
	now := l.o.cfg.Clock.Now()
	if became == refused {
		if d.Markup != "" && d.Markup != "[]" && errors.Is(cause, parley.ErrInvalid) {
			// Better without its looks than not at all.
			return l.settle(d, parley.DeliveryChange{State: new(parley.DeliveryPending), Markup: new("[]"), LastError: reason(cause)})
		}
		return l.fail(d, cause)
	}
	next := now.Add(max(wait, l.o.pause(d.Attempts)))
	c := parley.DeliveryChange{State: new(parley.DeliveryPending), NextAttempt: &next, LastError: reason(cause)}
	if became == unknown {
		c.State = new(parley.DeliveryUnknown)
	}
	return l.settle(d, c)
}

// reason is an error as it is kept with a delivery.
func reason(err error) *string {
	text := err.Error()
	return new(clean(text[:min(len(text), parley.MaxTextBytes/2)]))
}

// edit makes a message in the chat into what it is to be by now. That may be repeated,
// so nothing has to be durable before.
func (l *line) edit(ctx context.Context, d parley.Delivery) error {
	if !l.office.can.Edits { // it stays as it was sent
		return l.settle(&d, parley.DeliveryChange{State: new(parley.DeliverySent)})
	}
	if d.Markup == "" && d.Kind != parley.DeliveryApproval && d.Text != "" {
		parts := l.office.divide(&d, true)
		_, err := l.o.change(&d, parts[0], parts[1:]...)
		return err
	}
	m, err := l.office.outgoing(&d)
	if err != nil {
		return l.fail(&d, err)
	}
	done, err := l.office.limiter.Wait(ctx, d.Target)
	if err != nil {
		return err
	}
	defer done()
	call, cancel := l.call(&d)
	defer cancel()
	err = l.office.Edit(call, d.PlatformID, m)
	done()
	switch became, wait := l.judge(call, err); became {
	case arrived:
		return l.settle(&d, parley.DeliveryChange{State: new(parley.DeliverySent), LastError: new("")})
	case missing:
		// Somebody has taken it away. What nobody can read any more need not change;
		// an answer is sent anew.
		if d.Kind == parley.DeliveryApproval || d.Text == "" {
			return l.settle(&d, parley.DeliveryChange{State: new(parley.DeliveryDropped), LastError: reason(err)})
		}
		return l.settle(&d, parley.DeliveryChange{PlatformID: new("")})
	case refused:
		return l.failed(&d, refused, 0, err)
	default:
		return l.postpone(&d, wait, err)
	}
}

// postpone leaves a delivery as it is, for a while.
func (l *line) postpone(d *parley.Delivery, wait time.Duration, cause error) error {
	attempts := d.Attempts + 1
	next := l.o.cfg.Clock.Now().Add(max(wait, l.o.pause(attempts)))
	return l.settle(d, parley.DeliveryChange{Attempts: &attempts, NextAttempt: &next, LastError: reason(cause)})
}

// resolve finds out about a message that may be in its chat, or sends it again.
func (l *line) resolve(ctx context.Context, d parley.Delivery) error {
	done, err := l.office.limiter.Wait(ctx, d.Target)
	if err != nil {
		return err
	}
	defer done()
	now := l.o.cfg.Clock.Now()
	var parts []parley.DeliveryChange
	if d.Markup == "" && d.Kind != parley.DeliveryApproval {
		if parts = l.office.divide(&d, true); parts == nil {
			return l.drop(&d, nothingToSee)
		}
	}
	finder, readable := l.office.Platform.(Finder)
	switch {
	case l.knowsKey(&d, now):
		return l.callOut(d, parley.DeliveryChange{}, parts, done)
	case readable:
		m, err := l.office.outgoing(&d)
		if err != nil {
			return l.fail(&d, err)
		}
		call, cancel := l.call(&d)
		defer cancel()
		id, found, err := finder.Find(call, m, d.AttemptedAt)
		if err != nil {
			_, wait := l.judge(call, err)
			d.Attempts++
			next := now.Add(max(wait, l.o.pause(d.Attempts)))
			return l.settle(&d, parley.DeliveryChange{State: new(parley.DeliveryUnknown), Attempts: &d.Attempts, NextAttempt: &next, LastError: reason(err)})
		}
		if found {
			return l.arrived(&d, id, true)
		}
		return l.callOut(d, parley.DeliveryChange{AttemptedAt: &now}, parts, done)
	case d.Attempts >= mostAgain:
		return l.fail(&d, parley.Errorf(parley.CodeUnavailable, "it was sent %d times, and the platform never said whether it arrived", d.Attempts))
	}
	d.Again = true
	return l.callOut(d, parley.DeliveryChange{AttemptedAt: &now, Again: new(true)}, parts, done)
}

// knowsKey reports whether the platform still knows a delivery again that it may have.
func (l *line) knowsKey(d *parley.Delivery, now time.Time) bool {
	return l.office.can.Idempotent > 0 && now.Sub(d.AttemptedAt) < l.office.can.Idempotent
}

// canTell reports whether it can be found out if a delivery is in its chat.
func (l *line) canTell(d *parley.Delivery, now time.Time) bool {
	_, readable := l.office.Platform.(Finder)
	return readable || l.knowsKey(d, now)
}

// nothingToSee is why some deliveries are dropped.
const nothingToSee = "there is nothing to see in it"

// drop takes a delivery out of the outbox that need not be sent.
func (l *line) drop(d *parley.Delivery, why string) error {
	return l.settle(d, parley.DeliveryChange{State: new(parley.DeliveryDropped), LastError: &why})
}

// settle notes what became of a delivery, and does not give up.
func (l *line) settle(d *parley.Delivery, c parley.DeliveryChange) error {
	return l.o.insist(func(ctx context.Context) error {
		c.ID = d.ID
		_, err := l.o.commit(ctx, d, []parley.DeliveryChange{c}, nil)
		return moved(err)
	})
}
