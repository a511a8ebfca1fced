package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// Answer is what became of a message.
type Answer struct {
	// Receipt is how the input stands.
	Receipt parley.Receipt
	// Message is the last thing the agent said in the turn, or what a command was
	// answered with; nil: nothing.
	Message *parley.Message
	// Completed is how the turn ended; nil: it has not, or there was none.
	Completed *parley.TurnCompleted
	// Awaits says that the turn waits for an approval.
	Awaits bool
}

// finished is a turn that has ended, or a receipt.
type finished struct {
	parley.Receipt
	Message    *messageView      `json:"message"`
	StopReason parley.StopReason `json:"stop_reason"`
	Usage      parley.Usage      `json:"usage"`
	Error      *parley.TurnError `json:"error"`
}

// Ask says something, as Post does, and waits until it is settled, or its turn
// waits for an approval: then Ask with the same input goes on waiting. When ctx ends
// before, that is an error, and the message stays said.
func (c *Client) Ask(ctx context.Context, id parley.SessionID, in parley.Input) (Answer, error) {
	body, made, err := c.body(in)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Receipt: parley.Receipt{ID: body.InputID}}
	// Half of what a request may take, so that the server's answer is always in time.
	wait := url.Values{"wait": {min(c.cfg.Timeout/2, time.Minute).String()}}
	for round := 0; ; round++ {
		var got finished
		var status int
		err := c.insist(ctx, func() error {
			got = finished{}
			var err error
			status, err = c.call(ctx, messageRequest(id, body, wait), &got)
			return err
		})
		if err != nil {
			return answer, err
		}
		got.Duplicate = got.Duplicate && !made && (round == 0 || answer.Receipt.Duplicate)
		answer.Receipt = got.Receipt
		if status == http.StatusOK {
			answer.fill(&got)
			return answer, nil
		}
		if got.State == parley.InputDropped {
			return answer, nil
		}
		s, err := c.Session(ctx, id)
		if err != nil {
			return answer, err
		}
		if s.Status == parley.StatusAwaitingApproval {
			answer.Awaits = true
			return answer, nil
		}
	}
}

func (a *Answer) fill(got *finished) {
	if got.Message != nil {
		m := got.Message.message()
		a.Message = &m
	}
	if got.StopReason != "" {
		a.Completed = &parley.TurnCompleted{StopReason: got.StopReason, Usage: got.Usage, Error: got.Error}
	}
}

// AskEvents says something, as Post does, and gives what happens to it: the events
// of its turn, and the deltas of its replies, until the turn is completed, or, if
// there is none, until it is logged, carried out as a command, or dropped.
// ReceiptFunc, if it is not nil, is given the receipt first, once. Like Events it
// goes on with another connection when one is lost, and events come once; unlike
// Events its end without an error is the end of the turn, or that of ctx, and until
// there is a receipt it tries as often as Post does.
func (c *Client) AskEvents(ctx context.Context, id parley.SessionID, in parley.Input, receiptFunc func(parley.Receipt)) iter.Seq2[parley.Update, error] {
	return func(yield func(parley.Update, error) bool) {
		body, made, err := c.body(in)
		if err != nil {
			yield(parley.Update{}, err)
			return
		}
		f := &follower{client: c, yield: yield, session: id, counted: true, tries: c.cfg.Tries}
		told := false
		f.requestFunc = func() request { return messageRequest(id, body, nil) }
		f.statusFunc = func(s status) bool {
			if s.Receipt == nil {
				return false
			}
			if !told && receiptFunc != nil {
				receipt := *s.Receipt
				receipt.Duplicate = receipt.Duplicate && !made
				receiptFunc(receipt)
			}
			told, f.tries, f.maybe = true, 0, false
			return s.Receipt.State == parley.InputDropped
		}
		f.lastFunc = func(u *parley.Update) bool { return settles(u, body.InputID) }
		f.run(ctx)
	}
}

// settles reports whether nothing comes after an update on the stream of an input.
func settles(u *parley.Update, input string) bool {
	if u.Event == nil {
		return false
	}
	switch u.Event.Type {
	case parley.EventTurnCompleted:
		return true
	case parley.EventMessage:
		body, err := u.Event.Decode()
		if err != nil {
			return false
		}
		m, ok := body.(*parley.Message)
		mine := func(ref parley.InputRef) bool { return ref.ID == input }
		// It was logged, or this is the answer to a command.
		return ok && slices.ContainsFunc(m.Inputs, mine) && (u.Event.Turn == "" || m.Hidden)
	}
	return false
}
