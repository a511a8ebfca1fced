package channel

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/parley-run/parley"
)

// textCut ends a reply whose beginning was shown and whose end never came.
const textCut = "(This answer was not finished.)"

// Store gives a store whose commits put what is written for people into the outbox, in
// the same commit: what the agent says, what the runtime says, and questions whether a
// call may run, for the chat that the turn's inputs came from. What came another way is
// answered nowhere but in the session.
//
// It is one with the outbox's own store in all other respects. Sessions that nobody
// speaks to from a chat cost no read and no write more.
func (o *Outbox) Store() parley.Store { return &recorder{Store: o.store, outbox: o} }

type recorder struct {
	parley.Store
	outbox *Outbox
}

// mostPlans is how often a commit is planned anew because a delivery has changed
// meanwhile.
const mostPlans = 10

// Commit implements [parley.Store].
func (r *recorder) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	for attempt := 1; ; attempt++ {
		p, err := r.outbox.plan(ctx, b)
		if err != nil {
			return parley.Result{}, err
		}
		result, err := r.Store.Commit(ctx, p.batch)
		e, ok := errors.AsType[*parley.ExpectError](err)
		stale := ok && e.Index >= len(b.Expect) // what was remembered, or read, is not so any more
		p.finish(err == nil && result.Duplicate == nil, stale || errors.Is(err, parley.ErrOutcomeUnknown))
		if stale && attempt < mostPlans {
			continue
		}
		return result, err
	}
}

// plan is a batch with what it puts into the outbox.
type plan struct {
	o      *Outbox
	batch  parley.Batch
	locked []*stream
	// done is what to remember if it is committed; undo, what to forget if it is not;
	// unsure, what to forget if nobody knows. They are called with the outbox locked.
	done, undo, unsure []func()
	wakes              []place
}

func (o *Outbox) plan(ctx context.Context, b parley.Batch) (*plan, error) {
	p := &plan{o: o, batch: b}
	copied := false
	for i := range b.Sessions {
		s := &sessionPlan{plan: p, change: b.Sessions[i], started: map[parley.TurnID]*liveTurn{}}
		if err := s.look(ctx); err != nil {
			p.finish(false, false)
			return nil, err
		}
		if !s.changed {
			continue
		}
		if !copied { // the caller's batch stays as it is
			p.batch.Sessions = slices.Clone(b.Sessions)
			copied = true
		}
		p.batch.Sessions[i] = s.change
	}
	return p, nil
}

// finish is called when the commit has been made, or not.
func (p *plan) finish(committed, unknown bool) {
	p.o.mu.Lock()
	effects := p.undo
	switch {
	case committed:
		effects = p.done
	case unknown:
		effects = p.unsure
	}
	for _, f := range effects {
		f()
	}
	p.o.mu.Unlock()
	for _, s := range p.locked {
		s.mu.Unlock()
	}
	p.locked = nil
	if committed || unknown {
		for _, at := range p.wakes {
			p.o.wake(at)
		}
	}
}

// expect adds an expectation behind those of the caller.
func (p *plan) expect(e parley.Expectation) {
	p.batch.Expect = append(slices.Clip(p.batch.Expect), e)
}

// sessionPlan is the change of one session, as it is planned.
type sessionPlan struct {
	*plan
	change  parley.SessionChange
	changed bool
	started map[parley.TurnID]*liveTurn
}

// look finds out what a change puts into the outbox.
func (s *sessionPlan) look(ctx context.Context) error {
	if err := s.inherit(ctx); err != nil {
		return err
	}
	s.admit()
	if err := s.start(ctx); err != nil {
		return err
	}
	s.inputs()
	for i := range s.change.Events {
		if err := s.event(ctx, i); err != nil {
			return err
		}
	}
	for i := range s.change.Approvals {
		if err := s.answer(ctx, &s.change.Approvals[i]); err != nil {
			return err
		}
	}
	s.turns()
	if id := s.change.Session; s.change.Delete {
		s.done = append(s.done, func() {
			if t := s.o.sessions[id]; t != nil {
				for _, turn := range t.turns {
					if turn.stream != nil {
						s.o.forgetStream(turn.stream)
					}
				}
			}
			delete(s.o.sessions, id)
			delete(s.o.chats, id)
		})
	}
	return nil
}

// inherit gives a session that replaces another its chat.
func (s *sessionPlan) inherit(ctx context.Context) error {
	if s.change.Create == nil {
		return nil
	}
	for i := range s.change.Events {
		reset, ok := s.change.Events[i].Body.(*parley.Reset)
		if !ok {
			continue
		}
		chat, err := s.o.chatOf(ctx, reset.From)
		if err != nil || chat == nil {
			return err
		}
		create := *s.change.Create
		create.Chat = chat
		s.change.Create, s.changed = &create, true
	}
	return nil
}

// admit remembers where admitted inputs came from, and lets the session know its chat.
func (s *sessionPlan) admit() {
	id := s.change.Session
	for i := range s.change.Admit {
		in := &s.change.Admit[i]
		from := originOf(in)
		if in.State == parley.InputQueued {
			s.o.mu.Lock()
			s.o.live(id).waits[in.Ref] = from
			s.o.mu.Unlock()
			s.undo = append(s.undo, func() { s.o.forgetInput(id, from.ref) })
		}
		if from.target == nil {
			continue
		}
		if in.State == parley.InputQueued {
			s.done = append(s.done, func() { s.o.startTyping(typingInput(from.ref), *from.target) })
		}
		chat := *from.target
		chat.ReplyTo = ""
		s.o.mu.Lock()
		known, ok := s.o.chats[id]
		s.o.mu.Unlock()
		if ok && known == chat {
			continue
		}
		s.change.Patch.Chat, s.changed = &chat, true
		s.done = append(s.done, func() {
			if len(s.o.chats) >= maxChats {
				clear(s.o.chats)
			}
			s.o.chats[id] = chat
		})
	}
}

// forgetInput forgets an input that waits no longer. The outbox is locked.
func (o *Outbox) forgetInput(id parley.SessionID, ref parley.InputRef) {
	t := o.sessions[id]
	if t == nil {
		return
	}
	if from, ok := t.waits[ref]; ok && from.target != nil {
		o.stopTyping(typingInput(ref), *from.target)
	}
	delete(t.waits, ref)
	o.forgetIdle(id)
}

// start finds out where the answers of turns go that the change starts.
func (s *sessionPlan) start(ctx context.Context) error {
	for _, c := range s.change.Turns {
		if c.Attempt != nil { // it goes on
			if _, err := s.turn(ctx, c.ID); err != nil {
				return err
			}
		}
		if !c.Start {
			continue
		}
		var inputs []origin
		for i := range s.change.Admit {
			if s.change.Admit[i].Turn == c.ID {
				inputs = append(inputs, originOf(&s.change.Admit[i]))
			}
		}
		for _, in := range s.change.Inputs {
			if in.Turn != c.ID {
				continue
			}
			from, err := s.o.originOfInput(ctx, s.change.Session, in.Ref)
			if err != nil {
				return err
			}
			inputs = append(inputs, from)
		}
		target, err := s.o.targetOf(ctx, s.change.Session, inputs)
		if err != nil {
			return err
		}
		s.started[c.ID] = &liveTurn{target: target}
	}
	return nil
}

// inputs forgets inputs that wait no longer.
func (s *sessionPlan) inputs() {
	id := s.change.Session
	for _, c := range s.change.Inputs {
		if ref := c.Ref; c.State != parley.InputQueued {
			s.done = append(s.done, func() { s.o.forgetInput(id, ref) })
		}
	}
}

// turn gives a turn of the session.
func (s *sessionPlan) turn(ctx context.Context, id parley.TurnID) (*liveTurn, error) {
	if t := s.started[id]; t != nil {
		return t, nil
	}
	t, err := s.o.turnOf(ctx, s.change.Session, id)
	if err == nil {
		s.started[id] = t // until the end of the plan it is this one
	}
	return t, err
}

// turns remembers turns that go on, and forgets those that are over.
func (s *sessionPlan) turns() {
	id := s.change.Session
	over := map[parley.TurnID]bool{}
	shows := map[parley.TurnID]bool{}
	for _, c := range s.change.Turns {
		switch {
		case c.State == nil:
			shows[c.ID] = c.Start
		case *c.State == parley.TurnDone:
			over[c.ID] = true
		default:
			shows[c.ID] = *c.State == parley.TurnRunning
		}
	}
	started := maps.Clone(s.started)
	if len(started) == 0 && len(s.change.Turns) == 0 {
		return
	}
	changes := s.change.Turns
	s.done = append(s.done, func() {
		live := s.o.live(id)
		for turn, t := range started {
			if live.turns[turn] == nil {
				live.turns[turn] = t
			}
		}
		for _, c := range changes {
			t := live.turns[c.ID]
			if t == nil || t.target == nil {
				continue
			}
			switch what := typingTurn(id, c.ID); {
			case over[c.ID]:
				s.o.stopTyping(what, *t.target)
			case shows[c.ID]:
				s.o.startTyping(what, *t.target)
			case c.State != nil:
				s.o.stopTyping(what, *t.target)
			}
		}
		for turn := range over {
			delete(live.turns, turn)
		}
		s.o.forgetIdle(id)
	})
}
