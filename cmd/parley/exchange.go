package main

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/scripted"
)

// exchange is a message and what came of it.
type exchange struct {
	Session    parley.SessionID  `json:"session_id"`
	Input      string            `json:"input_id"`
	State      parley.InputState `json:"state"`
	Turn       parley.TurnID     `json:"turn_id,omitempty"`
	Text       string            `json:"text"` // what the agent said last
	Model      string            `json:"model,omitempty"`
	Offline    bool              `json:"offline,omitempty"` // a script has answered, and no language model
	StopReason parley.StopReason `json:"stop_reason,omitempty"`
	Usage      *parley.Usage     `json:"usage,omitempty"`
	Error      *parley.TurnError `json:"error,omitempty"`

	talk     *talk
	view     *view
	calls    map[parley.CallID]string      // with their arguments
	turn     atomic.Pointer[parley.TurnID] // once it is known
	stopping chan struct{}                 // closed when somebody stops the turn
}

// begin notes what became of the message.
func (x *exchange) begin(r parley.Receipt) {
	x.Input, x.State = r.ID, r.State
	x.in(r.Turn)
	if r.State == parley.InputQueued && r.Position > 0 {
		x.view.note("waiting: " + counted(int64(r.Position), "message") + " before this one")
	}
}

// in notes the turn that works on the message.
func (x *exchange) in(turn parley.TurnID) {
	if turn != "" {
		x.Turn = turn
		x.turn.Store(&turn)
	}
}

// follow shows what happens until the message is settled.
func (x *exchange) follow(ctx context.Context, from parley.Position) error {
	for {
		resync := false
		for update, err := range x.talk.host.Events(ctx, x.Session, from) {
			if err != nil {
				return err
			}
			from = update.Position
			if update.Resync != "" {
				if update.Resync != parley.ResyncSlow {
					return parley.Errorf(parley.CodeUnavailable, "the store is not the one it was; look at the session again")
				}
				resync = true
				break
			}
			done, err := x.update(ctx, update)
			if done || err != nil {
				return err
			}
		}
		if !resync {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return parley.Errorf(parley.CodeUnavailable, "the answer cannot be followed any more; look at the session again")
		}
	}
}

// update shows one update, and reports whether the message is settled.
func (x *exchange) update(ctx context.Context, u parley.Update) (done bool, err error) {
	switch {
	case u.Delta != nil && u.Delta.Turn == x.Turn && u.Delta.Kind == parley.PartText:
		x.view.delta(u.Delta.Stream, u.Delta.Text)
	case u.Snapshot != nil && u.Snapshot.Turn == x.Turn:
		x.view.whole(u.Snapshot.Stream, parley.PlainText(u.Snapshot.Parts))
	case u.Event != nil:
		return x.event(ctx, u.Event)
	}
	return false, nil
}

func (x *exchange) event(ctx context.Context, e *parley.Event) (done bool, err error) {
	body, err := e.Decode()
	if err != nil {
		return false, err
	}
	mine := e.Turn == x.Turn && x.Turn != ""
	if completed, ok := body.(*parley.TurnCompleted); !ok || completed.Error == nil {
		x.view.flush() // what was held back is no part of the error
	}
	switch b := body.(type) {
	case *parley.Message:
		return x.message(e, b, mine), nil
	case *parley.DirectiveInjected:
		if slices.ContainsFunc(b.Inputs, x.isMine) {
			x.State = parley.InputSteered
			x.in(e.Turn)
		}
	case *parley.TurnStarted:
		if mine && b.Attempt > 1 {
			x.view.note("the turn goes on")
		}
	case *parley.ToolCompleted:
		if mine && b.State != parley.CallFinished {
			x.view.note(b.Tool + ": " + string(b.State))
		}
	case *parley.ApprovalRequested:
		if mine {
			return false, x.approve(ctx, b)
		}
	case *parley.ApprovalResolved:
		if mine {
			x.view.note("the call is " + string(b.State))
		}
	case *parley.Ended:
		if x.State == parley.InputCarriedOut {
			break // the answer to the command follows
		}
		x.view.note("the session has ended: " + b.Reason)
		return !mine && x.Turn == "", nil
	case *parley.TurnCompleted:
		if mine {
			x.State, x.StopReason, x.Usage, x.Error = parley.InputDone, b.StopReason, &b.Usage, b.Error
		}
		return mine, nil
	}
	return false, nil
}

func (x *exchange) isMine(ref parley.InputRef) bool { return ref.ID == x.Input }

// message shows a message that was stored, and reports whether it answers a command.
func (x *exchange) message(e *parley.Event, m *parley.Message, mine bool) (done bool) {
	asked := slices.ContainsFunc(m.Inputs, x.isMine)
	switch {
	case m.Role == parley.MessageUser && asked:
		x.in(e.Turn)
		return x.State == parley.InputLogged
	case m.Role == parley.MessageSystem && asked:
		x.Text = parley.PlainText(m.Parts)
		x.view.whole(m.ID, x.Text)
		x.view.end()
		return true
	case m.Role == parley.MessageSystem && m.Hidden && (mine || e.Turn == ""):
		x.view.hold(parley.PlainText(m.Parts))
	case m.Role == parley.MessageAssistant && mine:
		x.Text, x.Model = parley.PlainText(m.Parts), m.Model
		x.Offline = strings.HasPrefix(m.Model, scripted.Provider+"/")
		x.view.whole(m.ID, x.Text)
		x.view.end()
		for _, call := range m.Calls() {
			x.calls[call.ID] = call.Name + " " + string(call.Arguments)
			x.view.note(x.calls[call.ID])
		}
		if x.Offline && len(m.Calls()) == 0 {
			x.view.note(m.Model + " is an offline model: a script with fixed answers")
		}
	}
	return false
}

// Exit statuses of chat besides the usual.
const exitCutOff = 3

// status is how the program ends after the exchange; nil: well.
func (x *exchange) status() error {
	switch x.StopReason {
	case parley.StopError:
		if x.Error != nil {
			return &statusError{exitFailed, x.Error.Message + " (" + x.Error.Code + ")"}
		}
		return &statusError{exitFailed, "the turn failed"}
	case parley.StopAborted:
		return &statusError{exitInterrupted, "stopped"}
	case parley.StopLength:
		return &statusError{exitCutOff, "the answer was cut off, as it got too long"}
	case parley.StopContentFilter:
		return &statusError{exitCutOff, "the answer was cut off by the provider's filter"}
	}
	if x.State == parley.InputDropped || x.StopReason == "" && x.State == parley.InputQueued {
		return &statusError{exitFailed, "the message was dropped, as the conversation was started anew"}
	}
	return nil
}
