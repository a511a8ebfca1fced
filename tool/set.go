package tool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/parley-run/parley"
)

// Set has the tools of an agent as one person, in one session, may have them run.
// It does not change, and may be used by many goroutines at once.
type Set struct {
	registry  *Registry
	principal parley.Principal
	judged    map[string]judgement // of all tools
	names     []string             // of those that are not denied, sorted
}

// Effect says whether a call runs, waits for an approval or is refused, and why,
// for people. A tool that does not exist is refused.
func (s *Set) Effect(call parley.ToolCall) (parley.ToolEffect, string) {
	j, ok := s.judged[call.Name]
	if !ok {
		return parley.ToolDeny, "there is no tool called " + quote(s.registry.scrub(call.Name)) + meant(call.Name, s.names)
	}
	return j.effect, j.why
}

// Run runs a call, for the person the set is for. Who calls it has seen to the
// approval, if [Set.Effect] asks for one.
//
// A tool that does not exist, one that is denied and arguments that do not fit
// give results (IsError) that tell the model what to do instead, and so does a
// tool that panics. Text and the name of media are free of secrets, valid and not
// too long, however the tool ended; what was cut off is kept, see [Config.KeepFunc]. The error of a tool
// comes back with its code, without secrets; [errors.Is] finds in it what it
// found before.
func (s *Set) Run(ctx context.Context, by parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	if by.Principal.Role != s.principal.Role || by.Principal.User != s.principal.User {
		return parley.ToolResult{}, parley.Errorf(parley.CodeInternal, "the tools are for somebody else than who calls them")
	}
	if effect, why := s.Effect(call); effect != parley.ToolAllow && effect != parley.ToolApprove {
		return s.registry.failed(call, why), nil
	}
	e := s.registry.tools[call.Name]
	arguments, err := e.arguments.check(call.Arguments)
	if err != nil {
		return s.registry.failed(call, "The arguments of "+call.Name+" do not fit: "+err.Error()), nil //nolint:nilerr // the model reads it, and tries again
	}
	call.Arguments = arguments
	result, err := s.registry.guarded(ctx, e.tool, by, call)
	if err != nil {
		return parley.ToolResult{}, s.registry.cleanError(err)
	}
	return s.registry.finish(ctx, call, result), nil
}

// guarded runs a tool, and turns a panic into a result.
func (r *Registry) guarded(ctx context.Context, t parley.Tool, by parley.ToolCaller, call parley.ToolCall) (result parley.ToolResult, err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		if r.cfg.PanicFunc != nil {
			r.cfg.PanicFunc(ctx, call.Name, r.scrub(fmt.Sprint(value)), []byte(r.scrub(string(debug.Stack()))))
		}
		result = parley.ToolResult{
			Text:    "The tool " + call.Name + " failed by a fault of its own. What it did until then is not known; the same call would probably fail again.",
			IsError: true,
		}
		err = nil
	}()
	return t.Run(ctx, by, call)
}

// failed is the result of a call that did not run.
func (r *Registry) failed(call parley.ToolCall, text string) parley.ToolResult {
	return parley.ToolResult{CallID: call.ID, Text: head(r.clean(text), minResult), IsError: true}
}

// scrub takes secrets out of a text.
func (r *Registry) scrub(text string) string {
	if r.cfg.Scrubber == nil {
		return text
	}
	return r.cfg.Scrubber.Text(text)
}

// cleanError is an error of a tool without the secrets in its text.
func (r *Registry) cleanError(err error) error {
	clean := &toolError{inner: err, shown: parley.Error{Code: parley.CodeOf(err), Message: r.clean(err.Error())}}
	if e, ok := errors.AsType[*parley.Error](err); ok {
		clean.shown.RetryAfter = e.RetryAfter
	}
	return clean
}

// toolError hides an error behind a text. It does not unwrap to it, as its text
// may have secrets in it.
type toolError struct {
	inner error
	shown parley.Error
}

// Error gives the text.
func (e *toolError) Error() string { return e.shown.Error() }

// Is finds what is in the chain of the hidden error.
func (e *toolError) Is(target error) bool { return errors.Is(e.inner, target) }

// As gives the text and the code as a [parley.Error].
func (e *toolError) As(target any) bool {
	to, ok := target.(**parley.Error)
	if ok {
		shown := e.shown
		*to = &shown
	}
	return ok
}
