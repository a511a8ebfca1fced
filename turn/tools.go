package turn

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

const (
	defaultDeadline = 10 * time.Minute
	// patience is how long a tool may take to stop.
	patience = 30 * time.Second
)

var errStubborn = errors.New("the tool does not stop")

// What the model reads of calls that did not run to their end.
const (
	textCanceled = "Canceled: a person stopped the turn while this ran. What it had done by then is not undone."
	textTimeUp   = "Stopped: the turn's time is up. What it had done by then is not undone."
	textNotBegun = "Canceled: the turn was stopped before this ran. It has done nothing."
	textDenied   = "Refused: "
	textStubborn = "The outcome is unknown: this was stopped, and went on all the same. Look before you repeat it."
)

// runTools runs the calls that the turn's last round still waits for, one after
// the other, and reports whether there were any.
func (x *run) runTools(ctx context.Context) (ran bool, err error) {
	for _, call := range x.open() {
		ran = true
		result, err := x.t.Journal.Call(ctx, call, func(ctx context.Context) (parley.ToolResult, error) {
			return x.runTool(ctx, call)
		})
		if err != nil {
			return ran, err
		}
		x.turn = append(x.turn, parley.ResultMessage(result))
		if ctx.Err() != nil {
			return ran, context.Cause(ctx)
		}
	}
	return ran, nil
}

// open gives the calls of the turn that have no result.
func (x *run) open() []parley.ToolCall {
	var open []parley.ToolCall
	has := map[parley.CallID]bool{}
	for i := len(x.turn) - 1; i >= 0; i-- {
		m := &x.turn[i]
		for _, p := range m.Parts {
			if p.Result != nil {
				has[p.Result.CallID] = true
			}
		}
		if m.Role == parley.MessageAssistant {
			for _, call := range m.Calls() {
				if !has[call.ID] {
					open = append(open, call)
				}
			}
			break
		}
	}
	return open
}

func (x *run) effect(call parley.ToolCall) (parley.ToolEffect, string) {
	if x.agent.Tools == nil {
		return parley.ToolDeny, "this agent has no tools"
	}
	return x.agent.Tools.Effect(call)
}

// runTool runs one call. What a person stops has a result, so that the transcript
// says it; what the end of the process stops has none, and its outcome is unknown.
func (x *run) runTool(ctx context.Context, call parley.ToolCall) (parley.ToolResult, error) {
	if ctx.Err() != nil {
		// The journal has its start, which came with the message or with the result
		// before it, so it gets an end.
		if cause := context.Cause(ctx); !errors.Is(cause, parley.ErrCanceled) && !errors.Is(cause, errTurnTime) {
			return parley.ToolResult{}, &parley.SuspendError{Usage: x.total(), Err: cause}
		}
		return x.toolError(call, textNotBegun), nil
	}
	if effect, why := x.effect(call); effect == parley.ToolDeny {
		return x.toolError(call, textDenied+why), nil
	}
	by := parley.ToolCaller{Principal: x.t.Principal, Session: x.t.Session.ID, Turn: x.t.Turn.ID, Budget: x.budget.forTools()}
	result, err := x.give(ctx, by, call)
	if errors.Is(err, errStubborn) {
		result := x.toolError(call, textStubborn)
		result.Unknown = true
		return result, nil
	}
	if err != nil {
		switch cause := context.Cause(ctx); {
		case ctx.Err() == nil:
			return x.toolError(call, "The tool failed: "+err.Error()), nil
		case errors.Is(cause, parley.ErrCanceled):
			return x.toolError(call, textCanceled), nil
		case errors.Is(cause, errTurnTime):
			return x.toolError(call, textTimeUp), nil
		default:
			return parley.ToolResult{}, &parley.SuspendError{Usage: x.total(), Err: cause}
		}
	}
	result.CallID = call.ID
	result.Text = x.clean(result.Text)
	if result.Media != nil {
		m := *result.Media
		m.Name = x.runner.cfg.Scrubber.Text(m.Name)
		result.Media = &m
	}
	return result, nil
}

// give lets a tool run. One that goes on after it was stopped is given up after a
// while, so that it does not hold its session for ever: then nobody waits for it.
func (x *run) give(ctx context.Context, by parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	type outcome struct {
		result parley.ToolResult
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		// What holds if the tool ends this goroutine.
		o := outcome{err: parley.Errorf(parley.CodeInternal, "tool %s ended without a result", call.Name)}
		defer func() {
			if r := recover(); r != nil {
				o.err = parley.Errorf(parley.CodeInternal, "tool %s broke: %v", call.Name, r)
			}
			done <- o
		}()
		o.result, o.err = x.agent.Tools.Run(ctx, by, call)
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
	}
	late := make(chan struct{})
	stop := x.runner.cfg.Clock.AfterFunc(patience, func() { close(late) })
	defer stop()
	select {
	case o := <-done:
		return o.result, o.err
	case <-late:
		return parley.ToolResult{}, errStubborn
	}
}

func (x *run) toolError(call parley.ToolCall, text string) parley.ToolResult {
	return parley.ToolResult{CallID: call.ID, Text: x.clean(text), IsError: true}
}

// clean gives a text of a tool as it can be stored: without secrets, and not
// longer than an answer may be. A registry has cut it before, with more care.
func (x *run) clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	room := x.limits.Output
	text, _ = cutStored(x.runner.cfg.Scrubber.Text(text), &room)
	return text
}
