package channel

import (
	"context"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
)

// event puts what one event of the change says into the outbox.
func (s *sessionPlan) event(ctx context.Context, i int) error {
	d := &s.change.Events[i]
	switch body := d.Body.(type) {
	case *parley.Message:
		if !d.At.IsZero() {
			return nil // it comes from elsewhere, where it was read long ago
		}
		return s.message(ctx, i, d.Turn, body)
	case *parley.ApprovalRequested:
		return s.ask(ctx, i, d.Turn, body)
	case *parley.TurnCompleted:
		return s.completed(ctx, d.Turn)
	}
	return nil
}

// message puts a message into the outbox that people read: what the agent says, and
// what is for people alone.
func (s *sessionPlan) message(ctx context.Context, i int, turn parley.TurnID, m *parley.Message) error {
	kind := parley.DeliveryMessage
	switch {
	case m.Hidden && (m.Role == parley.MessageSystem || m.Role == parley.MessageAssistant):
		kind = parley.DeliveryNotice
	case m.Role != parley.MessageAssistant:
		return nil
	}
	text, silent := group.Strip(parley.PlainText(m.Parts))
	media := mediaOf(m)
	if silent || text == "" && len(media) == 0 {
		return nil
	}
	if turn == "" {
		if kind != parley.DeliveryNotice {
			return nil
		}
		target, err := s.addressee(ctx, m)
		if err != nil || target == nil {
			return err
		}
		s.enter(*target, i, parley.Delivery{Kind: kind, Text: text, Media: media})
		return nil
	}
	t, err := s.turn(ctx, turn)
	if err != nil || t.target == nil {
		return err
	}
	if text != "" && s.intoBeginning(t, i+1, text, media) {
		return nil
	}
	s.enter(*t.target, i, parley.Delivery{Kind: kind, Turn: turn, Text: text, Media: media})
	return nil
}

// addressee finds out who reads a message of no turn: who gave the command that it
// answers, or else the session's chat.
func (s *sessionPlan) addressee(ctx context.Context, m *parley.Message) (*parley.Target, error) {
	if len(m.Inputs) == 0 {
		return s.o.chatOf(ctx, s.change.Session)
	}
	for _, ref := range m.Inputs {
		for j := range s.change.Admit {
			if in := &s.change.Admit[j]; in.Ref == ref && in.Target != nil {
				return in.Target, nil
			}
		}
	}
	return nil, nil
}

// enter puts a delivery into the outbox that carries an event of the change.
func (s *sessionPlan) enter(to parley.Target, i int, d parley.Delivery) {
	if d.ID == "" {
		d.ID = parley.DeliveryID("d_" + s.o.cfg.IDFunc())
	}
	d.Target, d.State = to, parley.DeliveryPending
	s.put(to, parley.DeliveryChange{New: &d, Event: i + 1})
}

// put adds a change of the outbox.
func (s *sessionPlan) put(to parley.Target, c parley.DeliveryChange) {
	s.changed = true
	s.change.Deliveries = append(slices.Clip(s.change.Deliveries), c)
	s.wakes = append(s.wakes, placeOf(to))
}

// intoBeginning makes a message the end of a reply whose beginning the chat shows, or
// may show. It says whether there is one.
func (s *sessionPlan) intoBeginning(t *liveTurn, event int, text string, media []parley.Media) bool {
	c := parley.DeliveryChange{Event: event, Text: &text, Media: &media, Draft: new(false)}
	ended := func(c parley.DeliveryChange) bool { return c.ID == t.draft.ID } // by a message of the same commit
	if d := t.draft; d != nil && !slices.ContainsFunc(s.change.Deliveries, ended) {
		c.ID, c.State = d.ID, new(parley.DeliveryPending)
		if d.PlatformID == "" && d.State != parley.DeliveryPending {
			c.State = new(parley.DeliveryUnknown)
		}
		s.expect(parley.DeliveryIs{Delivery: d.ID, State: d.State})
		s.done = append(s.done, func() { t.draft = nil })
		s.undo = append(s.undo, s.lookAgain(d.Turn))
		s.unsure = append(s.unsure, s.lookAgain(d.Turn))
		s.put(d.Target, c)
		return true
	}
	s.o.mu.Lock()
	st := t.stream
	s.o.mu.Unlock()
	if st == nil || slices.Contains(s.locked, st) {
		return false
	}
	st.mu.Lock()
	s.locked = append(s.locked, st)
	s.done = append(s.done, func() {
		st.ended = true
		t.stream = nil
		s.o.forgetStream(st)
	})
	s.unsure = append(s.unsure, s.lookAgain(st.turn), func() {
		st.ended = true
		s.o.forgetStream(st)
	})
	if st.row == "" {
		return false
	}
	c.ID = st.row
	switch {
	case st.id != "":
		c.State = new(parley.DeliveryPending)
	case st.unsure:
		c.State = new(parley.DeliveryUnknown)
	}
	s.expect(parley.DeliveryIs{Delivery: st.row, State: parley.DeliverySending})
	s.put(st.target, c)
	return true
}

// lookAgain has a turn looked up when it is needed next.
func (s *sessionPlan) lookAgain(turn parley.TurnID) func() {
	id := s.change.Session
	return func() {
		if t := s.o.sessions[id]; t != nil {
			delete(t.turns, turn)
			s.o.forgetIdle(id)
		}
	}
}

// completed ends what the chat shows of a reply that has no end.
func (s *sessionPlan) completed(ctx context.Context, turn parley.TurnID) error {
	t, err := s.turn(ctx, turn)
	if err != nil || t.target == nil {
		return err
	}
	s.intoBeginning(t, 0, textCut, nil)
	return nil
}

// ask puts a question into the outbox. Its text is a copy of the message that has the
// call, and goes with that.
func (s *sessionPlan) ask(ctx context.Context, i int, turn parley.TurnID, q *parley.ApprovalRequested) error {
	t, err := s.turn(ctx, turn)
	if err != nil || t.target == nil {
		return err
	}
	var call *parley.ToolCall
	for j := range s.change.Events {
		m, ok := s.change.Events[j].Body.(*parley.Message)
		if !ok {
			continue
		}
		for _, c := range m.Calls() {
			if c.ID == q.Call {
				call, i = &c, j
			}
		}
	}
	s.enter(*t.target, i, parley.Delivery{
		ID: approvalID(s.change.Session, turn, q.Call), Kind: parley.DeliveryApproval, Turn: turn, Call: q.Call, Text: question(q.Tool, call),
	})
	return nil
}

// answer has the chat show how a question was answered. One that is not in the chat
// yet is dropped, or brought up to date, when it is about to be sent.
func (s *sessionPlan) answer(ctx context.Context, c *parley.ApprovalChange) error {
	if c.State == parley.ApprovalPending {
		return nil
	}
	if t, err := s.turn(ctx, c.Turn); err != nil || t.target == nil {
		return err
	}
	id := approvalID(s.change.Session, c.Turn, c.Call)
	rows, err := s.o.store.Deliveries(ctx, parley.SeeAll(), parley.DeliveryQuery{ID: id})
	if err != nil || len(rows) == 0 {
		return err
	}
	d := &rows[0]
	s.expect(parley.DeliveryIs{Delivery: id, State: d.State})
	if d.State != parley.DeliverySent || d.PlatformID == "" {
		return nil
	}
	if d.Seq > 0 && d.Text != "" {
		s.expect(parley.EventIntact{Session: d.Session, Seq: d.Seq})
	}
	s.put(d.Target, parley.DeliveryChange{
		ID: id, State: new(parley.DeliveryPending), Text: new(answered(d.Text, c.State)), Attempts: new(0), NextAttempt: new(s.batch.At),
	})
	return nil
}
