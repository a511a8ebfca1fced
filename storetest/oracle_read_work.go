package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/parley-run/parley"
)

// input gives an input as it stands, with its content if that is still there.
func (o *oracle) input(in oracleInput) parley.Input {
	row := in.row
	if !o.readable(in) {
		return row
	}
	body := o.event(in.event).body.(*parley.Admitted)
	row.Parts, row.Sender, row.Mentioned = body.Parts, body.Sender, body.Mentioned
	row.ReplyTo, row.MessageID, row.Target = body.ReplyTo, body.MessageID, body.Target
	return row
}

// Input implements [parley.Store]. An input whose session is gone has no
// participants, so only a reader of everything (of its namespace) sees it.
func (o *oracle) Input(_ context.Context, v parley.Visibility, ref parley.InputRef) (parley.Input, error) {
	in, known := o.inputs[ref]
	if !known {
		return parley.Input{}, missing("input %v", ref)
	}
	var takePart []parley.IdentityID
	if o.alive(in.row.Session, in.owner) {
		takePart = o.participants(o.sessions[in.row.Session])
	}
	if !v.Allows(in.row.Session, takePart) {
		return parley.Input{}, missing("input %v", ref)
	}
	return o.input(in), nil
}

// OpenInputs implements [parley.Store].
func (o *oracle) OpenInputs(
	_ context.Context, v parley.Visibility, id parley.SessionID, after parley.InputRef, limit int,
) ([]parley.Input, error) {
	sessions, err := o.visibleSessions(v, id)
	if err != nil {
		return nil, err
	}
	start, known := o.inputs[after]
	if after != (parley.InputRef{}) && !known {
		return nil, missing("input %v", after)
	}
	var list []oracleInput
	for _, s := range sessions {
		for _, in := range o.inputs {
			behind := cmp.Or(cmp.Compare(in.owner, start.owner), cmp.Compare(in.row.Seq, start.row.Seq)) > 0
			if in.owner == s.order && in.row.State.Open() && behind {
				list = append(list, in)
			}
		}
	}
	slices.SortFunc(list, func(a, b oracleInput) int {
		return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.row.Seq, b.row.Seq))
	})
	var inputs []parley.Input
	for _, in := range list[:min(parley.PageSize(limit), len(list))] {
		inputs = append(inputs, o.input(in))
	}
	return inputs, nil
}

// Turn implements [parley.Store].
func (o *oracle) Turn(
	_ context.Context, v parley.Visibility, id parley.SessionID, turn parley.TurnID,
) (parley.Turn, error) {
	s, err := o.visible(v, id)
	if err != nil {
		return parley.Turn{}, err
	}
	t, known := s.turns[turn]
	if !known {
		return parley.Turn{}, missing("turn %s", turn)
	}
	return t, nil
}

// OpenTurns implements [parley.Store].
func (o *oracle) OpenTurns(_ context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Turn, error) {
	sessions, err := o.visibleSessions(v, id)
	if err != nil {
		return nil, err
	}
	var list []parley.Turn
	for _, s := range sessions {
		for _, turn := range slices.Sorted(maps.Keys(s.turns)) {
			if t := s.turns[turn]; t.State != parley.TurnDone {
				list = append(list, t)
			}
		}
	}
	return list, nil
}

// Calls implements [parley.Store].
func (o *oracle) Calls(
	ctx context.Context, v parley.Visibility, id parley.SessionID, turn parley.TurnID,
) ([]parley.Call, error) {
	if _, err := o.Turn(ctx, v, id, turn); err != nil {
		return nil, err
	}
	return without(o.sessions[id].calls, func(c parley.Call) bool { return c.Turn != turn }), nil
}

// Approvals implements [parley.Store].
func (o *oracle) Approvals(_ context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Approval, error) {
	if _, err := o.visibleSessions(v, id); err != nil {
		return nil, err
	}
	return without(o.approvals, func(a parley.Approval) bool {
		if id != "" {
			return a.Session != id
		}
		_, err := o.visible(v, a.Session)
		return err != nil || a.State != parley.ApprovalPending
	}), nil
}

// Deliveries implements [parley.Store].
func (o *oracle) Deliveries(_ context.Context, v parley.Visibility, q parley.DeliveryQuery) ([]parley.Delivery, error) {
	if q.ID != "" {
		return without(o.deliveries, func(d parley.Delivery) bool {
			_, err := o.visible(v, d.Session)
			return err != nil || d.ID != q.ID
		}), nil
	}
	if _, err := o.visibleSessions(v, q.Session); err != nil {
		return nil, err
	}
	after, err := o.after(v, q)
	if err != nil {
		return nil, err
	}
	list := without(o.deliveries, func(d parley.Delivery) bool {
		_, err := o.visible(v, d.Session)
		wanted := d.State == q.State || q.State == "" && d.State.Open()
		due := q.Due.IsZero() || !d.NextAttempt.After(q.Due)
		inChat := q.Chat == parley.Target{} ||
			d.Target.Channel == q.Chat.Channel && d.Target.Account == q.Chat.Account && d.Target.Chat == q.Chat.Chat
		return err != nil || !wanted || !due || !inChat || q.Session != "" && d.Session != q.Session ||
			q.Draft != nil && d.Draft != *q.Draft || after != nil && slices.Compare(o.place(d), after) <= 0
	})
	slices.SortFunc(list, func(a, b parley.Delivery) int { return slices.Compare(o.place(a), o.place(b)) })
	return list[:min(parley.PageSize(q.Limit), len(list))], nil
}

// place is where a delivery stands in the outbox: with its first part, by its number.
func (o *oracle) place(d parley.Delivery) []int {
	own := o.delivery(d.ID)
	if d.Of == "" {
		return []int{own, d.Part, own}
	}
	return []int{o.delivery(d.Of), d.Part, own}
}

// after gives the place that a query starts behind, or nil.
func (o *oracle) after(v parley.Visibility, q parley.DeliveryQuery) ([]int, error) {
	if q.After == "" {
		return nil, nil
	}
	i := o.delivery(q.After)
	if i < 0 || q.Session != "" && o.deliveries[i].Session != q.Session {
		return nil, missing("delivery %s", q.After)
	}
	if _, err := o.visible(v, o.deliveries[i].Session); err != nil {
		return nil, missing("delivery %s", q.After)
	}
	return o.place(o.deliveries[i]), nil
}

// Notices implements [parley.Store].
func (o *oracle) Notices(_ context.Context, v parley.Visibility, id parley.SessionID) ([]parley.Notice, error) {
	s, err := o.visible(v, id)
	if err != nil {
		return nil, err
	}
	return s.notices, nil
}
