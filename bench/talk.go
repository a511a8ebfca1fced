package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// talk is an inbox whose messages are answered.
type talk struct {
	*inbox
	answer string // to each message
	caller access.Caller
	closed chan struct{} // gets one for each turn that is over
	fence  parley.Fence  // of the turns that are only committed
}

// newTalk makes a talk; it is not stored.
func newTalk(name string, base time.Time, answer string) *talk {
	c := newInbox(name, base)
	who := parley.Principal{Identity: c.people[0], User: parley.UserID(name), Role: parley.RoleUser, Via: "channel"}
	return &talk{inbox: c, answer: answer, caller: access.NewCaller(who), closed: make(chan struct{}, 1)}
}

// says gives the n-th message, as a channel posts it.
func (t *talk) says(n int) parley.Input {
	in := t.input(n)
	in.Principal, in.State, in.Decision = parley.Principal{}, "", ""
	return in
}

// commitTurn commits the next turn of the talk as the engine does when nobody is in
// its way: the message with the start of its turn, and the answer with its end.
func (t *talk) commitTurn(ctx context.Context, store parley.Store) error {
	t.made++
	id := parley.TurnID(fmt.Sprintf("t_%020x", t.made))
	res, err := store.Commit(ctx, t.starting(id, time.Now()))
	if err != nil {
		return err
	}
	t.fence = res.Sessions[0].Fence
	_, err = store.Commit(ctx, t.closing(id, time.Now()))
	return err
}

// starting is the commit that admits the talk's current message and starts its
// turn.
func (t *talk) starting(id parley.TurnID, at time.Time) parley.Batch {
	in := t.input(t.made)
	in.Session, in.Principal = t.id, t.caller.Principal()
	in.State, in.Turn, in.Decision = parley.InputRunning, id, "the session was free"
	running, sender := parley.StatusRunning, in.Sender
	return parley.Batch{
		At: at,
		Expect: []parley.Expectation{
			parley.KeyIs{Key: t.key, Session: t.id},
			parley.FenceIs{Session: t.id, Fence: t.fence},
			parley.StatusIn{Session: t.id, Any: []parley.Status{parley.StatusIdle}},
			parley.QueuedAtMost{Session: t.id},
		},
		Sessions: []parley.SessionChange{{
			Session: t.id, Claim: true,
			Patch: parley.SessionPatch{Status: &running},
			Admit: []parley.Input{in},
			Turns: []parley.TurnChange{{ID: id, Start: true}},
			Events: []parley.NewEvent{
				{Turn: id, Body: &parley.TurnStarted{Attempt: 1}},
				{Turn: id, Identity: in.Principal.Identity, Body: &parley.Message{
					ID: string(id) + ".in.1", Role: parley.MessageUser, Parts: in.Parts, Inputs: []parley.InputRef{in.Ref}, Sender: &sender,
				}},
			},
		}},
	}
}

// closing is the commit that stores the answer and ends the turn.
func (t *talk) closing(id parley.TurnID, at time.Time) parley.Batch {
	idle, done, reason := parley.StatusIdle, parley.TurnDone, parley.StopDone
	usage := parley.Usage{InputTokens: int64(200 * t.made), OutputTokens: int64(len(t.answer) / 4)}
	return parley.Batch{
		At:      at,
		MayWait: true,
		Expect: []parley.Expectation{
			parley.QueuedAtMost{Session: t.id},
			parley.KeyIs{Key: t.key, Session: t.id},
			parley.FenceIs{Session: t.id, Fence: t.fence},
			parley.TurnIs{Session: t.id, Turn: id, State: parley.TurnRunning},
		},
		Sessions: []parley.SessionChange{{
			Session: t.id,
			Patch:   parley.SessionPatch{Status: &idle},
			Turns:   []parley.TurnChange{{ID: id, State: &done, StopReason: &reason, Usage: &usage}},
			Inputs:  []parley.InputChange{{Ref: t.ref(t.made), State: parley.InputDone}},
			Events: []parley.NewEvent{
				{Turn: id, Body: &parley.Message{
					ID: string(id) + ".1.1", Role: parley.MessageAssistant, Model: "scripted/bench", Parts: []parley.Part{parley.TextPart(t.answer)},
				}},
				{Turn: id, Identity: t.people[0], Body: &parley.TurnCompleted{StopReason: reason, Usage: usage, PromptTokens: usage.InputTokens}},
			},
		}},
	}
}

// turnEvents are the events of a turn without tools, in their order.
var turnEvents = []parley.EventType{
	parley.EventInput, parley.EventTurnStarted, parley.EventMessage, parley.EventMessage, parley.EventTurnCompleted,
}

// answered reads back what was left in a talk: each of its messages, answered, in
// order and once, and nothing that is under way.
func (t *talk) answered(ctx context.Context, store parley.Store) error {
	s, err := store.Session(ctx, parley.SeeAll(), t.id)
	if err != nil {
		return err
	}
	if s.Status != parley.StatusIdle || s.Queued != 0 || s.Counters.Turns != int64(t.made) {
		return lost("session %s is %s, with %d turns done and %d messages waiting, and %d were answered", t.id, s.Status, s.Counters.Turns, s.Queued, t.made)
	}
	events, err := store.Events(ctx, parley.SeeAll(), t.id, parley.EventQuery{Types: turnEvents, Limit: parley.MaxPageSize})
	if err != nil {
		return err
	}
	var said []parley.Event
	for _, e := range events {
		if e.Turn != "" || e.Type == parley.EventInput {
			said = append(said, e)
		}
	}
	if len(said) != t.made*len(turnEvents) {
		return lost("session %s has %d events of %d turns", t.id, len(said), t.made)
	}
	for n := range t.made {
		if err := t.answeredOne(n+1, said[n*len(turnEvents):][:len(turnEvents)]); err != nil {
			return err
		}
	}
	return nil
}

// answeredOne checks the events of the n-th turn.
func (t *talk) answeredOne(n int, events []parley.Event) error {
	for i, e := range events {
		body, err := e.Decode()
		if err != nil {
			return err
		}
		ok := e.Type == turnEvents[i]
		switch b := body.(type) {
		case *parley.Admitted:
			ok = ok && b.ID == strconv.Itoa(n)
		case *parley.Message:
			want := t.answer
			if i == 2 {
				want = parley.PlainText(t.input(n).Parts)
			}
			ok = ok && parley.PlainText(b.Parts) == want
		case *parley.TurnCompleted:
			ok = ok && b.StopReason == parley.StopDone
		}
		if !ok {
			return lost("turn %d of session %s has %s %+v", n, t.id, e.Type, body)
		}
	}
	return nil
}
