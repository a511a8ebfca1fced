package storetest

import (
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// changeWork applies the parts of a change that are about work: inputs, turns
// and what belongs to them.
func (o *oracle) changeWork(at time.Time, s *oracleSession, c *parley.SessionChange) error {
	for _, in := range c.Inputs {
		if err := o.changeInput(s, in); err != nil {
			return err
		}
	}
	for _, t := range c.Turns {
		if err := s.changeTurn(at, t); err != nil {
			return err
		}
	}
	for _, call := range c.Calls {
		if err := s.changeCall(at, call); err != nil {
			return err
		}
	}
	for _, a := range c.Approvals {
		if err := o.changeApproval(at, s, a); err != nil {
			return err
		}
	}
	for _, d := range c.Deliveries {
		if err := o.changeDelivery(at, s, d, len(c.Events)); err != nil {
			return err
		}
	}
	for _, n := range c.Notices {
		if err := s.changeNotice(at, n); err != nil {
			return err
		}
	}
	return nil
}

func (o *oracle) changeInput(s *oracleSession, c parley.InputChange) error {
	in, ok := o.inputs[c.Ref]
	if !ok || in.owner != s.order {
		return missing("input %v in session %s", c.Ref, s.row.ID)
	}
	in.row.State = c.State
	if c.Decision != "" {
		in.row.Decision = c.Decision
	}
	if c.Turn != "" {
		in.row.Turn = c.Turn
	}
	set(&in.row.NotBefore, c.NotBefore)
	o.inputs[c.Ref] = in
	return nil
}

func (s *oracleSession) changeTurn(at time.Time, c parley.TurnChange) error {
	t, known := s.turns[c.ID]
	switch {
	case c.Start && known:
		return conflict("turn %s has started", c.ID)
	case c.Start:
		t = parley.Turn{ID: c.ID, Session: s.row.ID, State: parley.TurnRunning, Attempt: 1, StartedAt: instant(at)}
	case !known:
		return missing("turn %s", c.ID)
	case t.State == parley.TurnDone:
		return conflict("turn %s is completed", c.ID)
	}
	set(&t.State, c.State)
	set(&t.Attempt, c.Attempt)
	set(&t.StopReason, c.StopReason)
	set(&t.Prompt, c.Prompt)
	set(&t.Usage, c.Usage)
	set(&t.ParkedUntil, c.ParkedUntil)
	t.CancelRequested = t.CancelRequested || c.Cancel
	if c.Opaque != nil {
		t.Opaque = slices.Clone(c.Opaque)
	}
	t.UpdatedAt = instant(at)
	if t.State == parley.TurnDone {
		t.Opaque = nil
		s.calls = without(s.calls, func(call parley.Call) bool { return call.Turn == c.ID })
	}
	s.turns[c.ID] = t
	return nil
}

func (s *oracleSession) changeCall(at time.Time, c parley.CallChange) error {
	t, known := s.turns[c.Turn]
	if !known {
		return missing("turn %s", c.Turn)
	}
	if t.State == parley.TurnDone {
		return conflict("turn %s is completed", c.Turn)
	}
	i := slices.IndexFunc(s.calls, func(call parley.Call) bool { return call.Turn == c.Turn && call.ID == c.ID })
	if c.State == parley.CallStarted {
		if i >= 0 {
			return conflict("call %s has started", c.ID)
		}
		s.calls = append(s.calls, parley.Call{
			Turn: c.Turn, ID: c.ID, Tool: c.Tool, State: c.State, Result: c.Result, StartedAt: instant(at),
		})
		return nil
	}
	if i < 0 {
		return missing("call %s", c.ID)
	}
	if s.calls[i].State == parley.CallFinished {
		return conflict("call %s is finished", c.ID)
	}
	s.calls[i].State, s.calls[i].Result = c.State, c.Result
	return nil
}

// approval gives the index of an approval, or -1.
func (o *oracle) approval(id parley.SessionID, turn parley.TurnID, call parley.CallID) int {
	return slices.IndexFunc(o.approvals, func(a parley.Approval) bool {
		return a.Session == id && a.Turn == turn && a.Call == call
	})
}

func (o *oracle) changeApproval(at time.Time, s *oracleSession, c parley.ApprovalChange) error {
	if _, known := s.turns[c.Turn]; !known {
		return missing("turn %s", c.Turn)
	}
	i := o.approval(s.row.ID, c.Turn, c.Call)
	if c.State == parley.ApprovalPending {
		if i >= 0 {
			return conflict("approval for call %s was asked for", c.Call)
		}
		o.approvals = append(o.approvals, parley.Approval{
			Session: s.row.ID, Turn: c.Turn, Call: c.Call, Tool: c.Tool, State: c.State,
			Default: c.Default, Deadline: c.Deadline, RequestedAt: instant(at),
		})
		return nil
	}
	if i < 0 {
		return missing("approval for call %s", c.Call)
	}
	a := &o.approvals[i]
	if a.State != parley.ApprovalPending {
		return conflict("approval for call %s is settled", c.Call)
	}
	a.State, a.DecidedBy, a.DecidedAt = c.State, c.By, instant(at)
	return nil
}

// delivery gives the index of a delivery, or -1.
func (o *oracle) delivery(id parley.DeliveryID) int {
	return slices.IndexFunc(o.deliveries, func(d parley.Delivery) bool { return d.ID == id })
}

// changeDelivery applies a change of the outbox, after the change's own events.
func (o *oracle) changeDelivery(at time.Time, s *oracleSession, c parley.DeliveryChange, events int) error {
	seq := uint64(len(s.shows) - events + c.Event)
	if c.New != nil {
		d := *c.New
		if d.Of != "" {
			i := o.delivery(d.Of)
			if i < 0 || o.deliveries[i].Session != s.row.ID {
				return missing("delivery %s in session %s", d.Of, s.row.ID)
			}
			if first := o.deliveries[i].Of; first != "" {
				d.Of = first
			}
		}
		if o.delivery(d.ID) >= 0 {
			return conflict("delivery %s exists", d.ID)
		}
		if c.Event > 0 {
			d.Seq = seq
		}
		d.Session, d.CreatedAt = s.row.ID, instant(at)
		o.deliveries = append(o.deliveries, d)
		return nil
	}
	i := o.delivery(c.ID)
	if i < 0 || o.deliveries[i].Session != s.row.ID {
		return missing("delivery %s in session %s", c.ID, s.row.ID)
	}
	d := &o.deliveries[i]
	if c.Event > 0 {
		d.Seq = seq
	}
	set(&d.Text, c.Text)
	set(&d.Markup, c.Markup)
	set(&d.Media, c.Media)
	set(&d.Draft, c.Draft)
	set(&d.Again, c.Again)
	set(&d.AttemptedAt, c.AttemptedAt)
	set(&d.State, c.State)
	set(&d.Attempts, c.Attempts)
	set(&d.NextAttempt, c.NextAttempt)
	set(&d.PlatformID, c.PlatformID)
	set(&d.LastError, c.LastError)
	return nil
}

func (s *oracleSession) changeNotice(at time.Time, c parley.NoticeChange) error {
	named := func(id parley.NoticeID) int {
		return slices.IndexFunc(s.notices, func(n parley.Notice) bool { return n.ID == id })
	}
	if c.Add != nil {
		if named(c.Add.ID) >= 0 {
			return conflict("notice %s exists", c.Add.ID)
		}
		n := *c.Add
		n.Session, n.CreatedAt = s.row.ID, instant(at)
		s.notices = append(s.notices, n)
		return nil
	}
	i := named(c.Consume)
	if i < 0 {
		return missing("notice %s", c.Consume)
	}
	s.notices = slices.Delete(s.notices, i, i+1)
	return nil
}
