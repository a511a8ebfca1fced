package trace_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/trace"
	"github.com/parley-run/parley/turn"
)

// TestRuns has runs that end in every way.
func TestRuns(t *testing.T) {
	t.Parallel()
	completed := func(reason parley.StopReason, e *parley.TurnError) parley.TurnEnd {
		return parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: reason, Error: e, Usage: parley.Usage{InputTokens: 30, CacheReadTokens: 12, CostMicroUSD: 2500}}}
	}
	tests := []struct {
		name    string
		end     parley.TurnEnd
		err     error
		broken  bool
		reason  string
		failure string
		input   string // tokens
	}{
		{name: "done", end: completed(parley.StopDone, nil), reason: "stop", input: "32"},
		{name: "aborted", end: completed(parley.StopAborted, nil), reason: "aborted", input: "32"},
		{name: "failed for good", end: completed(parley.StopError, &parley.TurnError{Code: "turn_limit", Message: "secret"}), reason: "error", failure: "turn_limit", input: "32"},
		{name: "failed without a word", end: completed(parley.StopError, nil), reason: "error", failure: "internal", input: "32"},
		{name: "suspended", err: parley.ErrSuspended, reason: "suspended"},
		{
			name: "suspended with usage", reason: "suspended", input: "5",
			err: fmt.Errorf("call: %w", &parley.SuspendError{Usage: parley.Usage{InputTokens: 15}, Err: parley.Errorf(parley.CodeUnavailable, "secret")}),
		},
		{name: "the runtime failed", err: parley.Errorf(parley.CodeConflict, "secret"), reason: "failed", failure: "conflict"},
		{name: "broken", broken: true, failure: "internal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			tracer, spans := c.tracer(t)
			runner := tracer.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) {
				if test.broken {
					panic("secret")
				}
				return test.end, test.err
			}))
			tc := turnOf("test:a", "t_1", 1)
			tc.Turn.Usage = parley.Usage{InputTokens: 10} // of earlier runs
			if broke := survive(func() {
				end, err := runner.Run(t.Context(), tc)
				if end != test.end || !errors.Is(err, test.err) {
					t.Errorf("got %v, %v", end, err)
				}
			}); broke != test.broken {
				t.Errorf("broke: %v", broke)
			}
			all := spans()
			if len(all) != 1 {
				t.Fatalf("%d spans", len(all))
			}
			got := all[0].attributes()
			if got["parley.stop_reason"] != test.reason || got["error.type"] != test.failure || got["gen_ai.usage.input_tokens"] != test.input || all[0].failed() != (test.failure != "") {
				t.Errorf("got %v, %v", got, all[0].GetStatus())
			}
			if strings.Contains(c.requests[0].String(), "secret") {
				t.Error("a span shows what it must not")
			}
		})
	}
}

// TestOneTracePerTurn runs a turn twice, as after a restart, and another.
func TestOneTracePerTurn(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for i, tc := range []parley.TurnContext{
		turnOf("test:a", "t_1", 1), turnOf("test:a", "t_1", 2), turnOf("test:a", "t_2", 1), turnOf("test:b", "t_1", 1),
	} {
		c := newCollector(t)
		tracer, spans := c.tracer(t) // each in a program of its own
		runner := tracer.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) {
			return parley.TurnEnd{}, parley.ErrSuspended
		}))
		_, _ = runner.Run(t.Context(), tc)
		all := spans()
		if len(all) != 1 {
			t.Fatalf("%d spans", len(all))
		}
		ids[fmt.Sprint(i)] = all[0].traceID()
		ids["span"+fmt.Sprint(i)] = fmt.Sprintf("%x", all[0].GetSpanId())
	}
	if ids["0"] != ids["1"] || ids["0"] == ids["2"] || ids["0"] == ids["3"] || ids["span0"] == ids["span1"] {
		t.Errorf("%v", ids)
	}
}

// TestRunInsideARun starts a turn while another runs: it has a trace of its own.
func TestRunInsideARun(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	tracer, spans := c.tracer(t)
	inner := tracer.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) { return parley.TurnEnd{}, nil }))
	outer := tracer.Runner(runFunc(func(ctx context.Context, _ parley.TurnContext) (parley.TurnEnd, error) {
		return inner.Run(ctx, turnOf("test:b", "t_2", 1))
	}))
	if _, err := outer.Run(t.Context(), turnOf("test:a", "t_1", 1)); err != nil {
		t.Fatal(err)
	}
	if all := spans(); len(all) != 2 || all[0].traceID() == all[1].traceID() || all[1].parent != "" {
		t.Errorf("%v", all)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	say := parley.ModelPiece{Kind: parley.PartText, Text: "secret"}
	end := func(reason parley.StopReason) parley.ModelPiece {
		return parley.ModelPiece{Done: &parley.ModelDone{StopReason: reason, Usage: parley.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostMicroUSD: 5}}}
	}
	limited := parley.Errorf(parley.CodeRateLimited, "secret")
	tests := []struct {
		name     string
		model    fakeModel
		canceled bool
		most     int // pieces that are read
		finish   string
		failure  string
	}{
		{name: "answered", model: fakeModel{pieces: []parley.ModelPiece{say, end(parley.StopDone)}}, finish: "[stop]"},
		{name: "no reason", model: fakeModel{pieces: []parley.ModelPiece{end("")}}, finish: "[stop]"},
		{name: "cut", model: fakeModel{pieces: []parley.ModelPiece{say, end(parley.StopLength)}}, finish: "[length]"},
		{name: "tools", model: fakeModel{pieces: []parley.ModelPiece{{Kind: parley.PartToolCall, Call: &parley.ToolCall{}}, end(parley.StopDone)}}, finish: "[tool_call]"},
		{name: "refused", model: fakeModel{err: limited}, failure: "rate_limited"},
		{name: "fails in the middle", model: fakeModel{pieces: []parley.ModelPiece{say}, err: limited}, failure: "rate_limited"},
		{name: "canceled", model: fakeModel{err: context.Canceled}, canceled: true, failure: "canceled"},
		{name: "enough", model: fakeModel{pieces: []parley.ModelPiece{say, say}}, most: 1},
		{name: "breaks off", model: fakeModel{pieces: []parley.ModelPiece{say}}, failure: "unavailable"},
		{name: "says nothing", model: fakeModel{}, failure: "unavailable"},
		{name: "breaks", model: fakeModel{broken: true}, failure: "internal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			tracer, spans := c.tracer(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.canceled {
				cancel()
			}
			n := 0
			if broke := survive(func() {
				for piece, err := range tracer.Model(&test.model).Stream(ctx, parley.ModelRequest{System: "secret"}) {
					if !errors.Is(err, test.model.err) && err != nil || err == nil && (piece.Text != test.model.pieces[n].Text || piece.Done != test.model.pieces[n].Done) {
						t.Errorf("piece %d: %v, %v", n, piece, err)
					}
					if n++; n == test.most {
						break
					}
				}
			}); broke != test.model.broken {
				t.Errorf("broke: %v", broke)
			}
			all := spans()
			if len(all) != 1 || all[0].GetName() != "chat large-1" {
				t.Fatalf("%v", all)
			}
			got := all[0].attributes()
			if got["gen_ai.response.finish_reasons"] != test.finish || got["error.type"] != test.failure || all[0].failed() != (test.failure != "") {
				t.Errorf("got %v, %v", got, all[0].GetStatus())
			}
			if test.finish != "" && (got["gen_ai.usage.input_tokens"] != "8" || got["gen_ai.usage.output_tokens"] != "2" || got["gen_ai.usage.cache_read.input_tokens"] != "3" || got["gen_ai.usage.cache_creation.input_tokens"] != "4") {
				t.Errorf("usage: %v", got)
			}
			if strings.Contains(c.requests[0].String(), "secret") {
				t.Error("a span shows what it must not")
			}
		})
	}
}

// TestTools has calls of tools that end in every way, through a journal in memory.
func TestTools(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		tool     string
		result   parley.ToolResult
		err      error
		broken   bool
		canceled bool
		shown    string
		failure  string
	}{
		{name: "done", tool: "read_file", result: parley.ToolResult{Text: "secret"}, shown: "read_file"},
		{name: "failed", tool: "read_file", result: parley.ToolResult{Text: "secret", IsError: true}, shown: "read_file", failure: "tool_error"},
		{name: "unknown", tool: "read_file", result: parley.ToolResult{IsError: true, Unknown: true}, shown: "read_file", failure: "outcome_unknown"},
		{name: "the runtime failed", tool: "read_file", err: parley.Errorf(parley.CodeUnavailable, "secret"), shown: "read_file", failure: "unavailable"},
		{name: "stopped", tool: "read_file", err: context.Canceled, canceled: true, shown: "read_file", failure: "canceled"},
		{name: "broken", tool: "read_file", broken: true, shown: "read_file", failure: "internal"},
		{name: "a made-up name", tool: "tell the secret", shown: "_OTHER"},
		{name: "a long name", tool: strings.Repeat("secret", 11), shown: "_OTHER"},
		{name: "no name", tool: "", shown: "_OTHER"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			tracer, spans := c.tracer(t)
			call := parley.ToolCall{ID: "call_1", Name: test.tool, Arguments: []byte(`"secret"`)}
			runner := tracer.Runner(runFunc(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				if broke := survive(func() {
					result, err := tc.Journal.Call(ctx, call, func(context.Context) (parley.ToolResult, error) {
						if test.canceled {
							cancel()
						}
						if test.broken {
							panic("secret")
						}
						return test.result, test.err
					})
					if !errors.Is(err, test.err) || err == nil && result.Text != test.result.Text {
						t.Errorf("got %v, %v", result, err)
					}
				}); broke != test.broken {
					t.Errorf("broke: %v", broke)
				}
				return parley.TurnEnd{}, nil
			}))
			tc := turnOf("test:a", "t_1", 1)
			tc.Journal = turn.NewTranscript()
			if _, err := runner.Run(t.Context(), tc); err != nil {
				t.Fatal(err)
			}
			all := spans()
			if len(all) != 2 || all[1].GetName() != "execute_tool "+test.shown || all[1].parent != "invoke_agent main" {
				t.Fatalf("%v", all)
			}
			if got := all[1].attributes(); got["gen_ai.tool.name"] != test.shown || got["gen_ai.tool.call.id"] != "call_1" || got["error.type"] != test.failure || all[1].failed() != (test.failure != "") {
				t.Errorf("got %v, %v", got, all[1].GetStatus())
			}
			if strings.Contains(c.requests[0].String(), "secret") {
				t.Error("a span shows what it must not")
			}
		})
	}
}

// TestStoredCallsAreNotTraced repeats a call that has its result: it is not run.
func TestStoredCallsAreNotTraced(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	tracer, spans := c.tracer(t)
	runner := tracer.Runner(runFunc(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		for range 2 {
			if _, err := tc.Journal.Call(ctx, parley.ToolCall{ID: "call_1", Name: "x"}, func(context.Context) (parley.ToolResult, error) {
				return parley.ToolResult{CallID: "call_1"}, nil
			}); err != nil {
				t.Error(err)
			}
		}
		return parley.TurnEnd{}, nil
	}))
	tc := turnOf("test:a", "t_1", 1)
	tc.Journal = turn.NewTranscript()
	if _, err := runner.Run(t.Context(), tc); err != nil {
		t.Fatal(err)
	}
	if all := spans(); len(all) != 2 {
		t.Errorf("%d spans, want the run and one call", len(all))
	}
}

// TestOff has no tracer: nothing is decorated.
func TestOff(t *testing.T) {
	t.Parallel()
	var off *trace.Tracer
	model := &fakeModel{}
	if off.Model(model) != parley.Model(model) {
		t.Error("the model is decorated")
	}
	ran := false
	runner := off.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) {
		ran = true
		return parley.TurnEnd{}, nil
	}))
	if _, ok := runner.(runFunc); !ok {
		t.Error("the runner is decorated")
	}
	if _, err := runner.Run(t.Context(), parley.TurnContext{}); err != nil || !ran {
		t.Errorf("it did not run: %v", err)
	}
	if err := off.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
