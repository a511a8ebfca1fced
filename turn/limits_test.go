package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/turn"
)

func TestToolRounds(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	n := 0
	again := says(text("Once more."), call("look", `{}`))
	m := plays(again, again, again)
	tools := &bench{tools: map[string]func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error){"look": gives("x", &n)}}
	end := l.run(runner(t, turn.Agent{Models: models(m), Tools: tools, Limits: turn.Limits{ToolRounds: 2}}), l.ask(parley.TextPart("Go")))
	if e := end.Completed.Error; n != 2 || e == nil || e.Code != "turn_limit" || end.Completed.StopReason != parley.StopError {
		t.Errorf("ran %d, %+v", n, end.Completed)
	}
	if end.Last == nil || len(end.Last.Calls()) != 0 || parley.PlainText(end.Last.Parts) != "Once more." {
		t.Errorf("last words: %+v", end.Last)
	}
}

func TestTimeLimits(t *testing.T) {
	t.Parallel()
	soon := time.Millisecond
	tests := []struct {
		name   string
		limits turn.Limits
		pieces []parley.ModelPiece
		code   string // of the turn's error; "": the turn waits
		last   string
	}{
		{name: "turn", limits: turn.Limits{Time: soon}, pieces: []parley.ModelPiece{text("So far.")}, code: "turn_timeout", last: "So far."},
		{name: "first piece", limits: turn.Limits{FirstPiece: soon}},
		{name: "model", limits: turn.Limits{ModelTime: soon}, pieces: []parley.ModelPiece{text("So far.")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			end, err := runner(t, turn.Agent{Models: models(plays(hangs(test.pieces...))), Limits: test.limits}).Run(t.Context(), l.context(l.ask(parley.TextPart("Hi"))))
			if test.code == "" {
				if !errors.Is(err, parley.ErrSuspended) || !errors.Is(err, parley.ErrUnavailable) {
					t.Errorf("%+v, %v", end, err)
				}
				return
			}
			if err != nil || end.Completed.Error == nil || end.Completed.Error.Code != test.code || parley.PlainText(end.Last.Parts) != test.last {
				t.Errorf("%+v, %v", end, err)
			}
		})
	}
}

// TestFirstPieceInTime has a model that is slow after it began: that is allowed.
func TestFirstPieceInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := plays(func(ctx context.Context, yield func(parley.ModelPiece, error) bool) {
			if !yield(text("Slow"), nil) {
				return
			}
			select {
			case <-ctx.Done():
				yield(parley.ModelPiece{}, ctx.Err())
			case <-time.After(2 * time.Minute):
				if yield(text("ly."), nil) {
					yield(done(parley.StopDone), nil)
				}
			}
		})
		end, err := runner(t, turn.Agent{Models: models(m), Limits: turn.Limits{FirstPiece: time.Minute}}).Run(t.Context(), inMemory("Hi"))
		if err != nil || end.Last == nil || parley.PlainText(end.Last.Parts) != "Slowly." {
			t.Errorf("%+v, %v", end, err)
		}
	})
}

func TestOutput(t *testing.T) {
	t.Parallel()
	endless := func(_ context.Context, yield func(parley.ModelPiece, error) bool) {
		for yield(text("äöü<>"), nil) {
		}
	}
	l := newLab(t)
	end := l.run(runner(t, turn.Agent{Models: models(plays(endless)), Limits: turn.Limits{Output: 100}}), l.ask(parley.TextPart("Hi")))
	got := parley.PlainText(end.Last.Parts)
	if end.Completed.StopReason != parley.StopLength || !strings.HasPrefix(strings.Repeat("äöü<>", 20), got) || len(got) < 20 || len(got) > 100 {
		t.Errorf("%d bytes, %+v", len(got), end.Completed)
	}
	// What it costs to read so much is not known, but it is not nothing.
	if end.Completed.Usage.OutputTokens == 0 || end.Completed.Usage.InputTokens == 0 {
		t.Errorf("usage: %+v", end.Completed.Usage)
	}
	// The largest answer that is taken can be stored, whatever is in it.
	worst := func(_ context.Context, yield func(parley.ModelPiece, error) bool) {
		for yield(text(strings.Repeat("<\x01\u2028\"\\", 1000)), nil) {
		}
	}
	l.run(runner(t, turn.Agent{Models: models(plays(worst)), Limits: turn.Limits{Output: 10 << 20}}), l.ask(parley.TextPart("Hi")))
}

// TestHalfACall does not run what a model could not write to its end.
func TestHalfACall(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	n := 0
	tools := &bench{tools: map[string]toolFunc{"look": gives("x", &n)}}
	end := l.run(runner(t, turn.Agent{Models: models(plays(says(text("Let me"), call("look", `{}`), done(parley.StopLength)))), Tools: tools}), l.ask(parley.TextPart("Hi")))
	if n != 0 || end.Completed.StopReason != parley.StopLength || parley.PlainText(end.Last.Parts) != "Let me" {
		t.Errorf("ran %d, %+v", n, end)
	}
}

// purse is a budget with so much in it.
type purse struct {
	left     int64
	reserved []int64
	spent    []int64
}

func (p *purse) Reserve(_ context.Context, n int64) (func(int64), error) {
	if n > p.left {
		return nil, parley.Errorf(parley.CodeBudgetExceeded, "the budget is used up")
	}
	p.reserved = append(p.reserved, n)
	return func(spent int64) { p.left -= spent; p.spent = append(p.spent, spent) }, nil
}

func TestBudget(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := &purse{left: 1_100_000}
	l.budget = p
	n := 0
	m := plays(says(call("look", `{}`), done(parley.StopDone)), says(text("no")))
	m.info.Price = &parley.Price{Input: 1_000_000, Output: 1_000_000_000} // a thousand a token of output
	tools := &bench{tools: map[string]func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error){
		"look": func(_ context.Context, by parley.ToolCaller, _ parley.ToolCall) (parley.ToolResult, error) {
			n++
			settle, err := by.Budget.Reserve(t.Context(), 500_000) // a tool that calls a model itself
			if err != nil {
				return parley.ToolResult{}, err
			}
			settle(500_000)
			return parley.ToolResult{Text: "x"}, nil
		},
	}}
	end := l.run(runner(t, turn.Agent{Models: models(m), Tools: tools, MaxTokens: 1000}), l.ask(parley.TextPart("Go")))
	if e := end.Completed.Error; n != 1 || e == nil || e.Code != "budget_exceeded" || len(m.asked) != 1 {
		t.Errorf("ran %d, asked %d, %+v", n, len(m.asked), end.Completed)
	}
	if len(p.spent) != 2 || p.spent[0] != 5 || p.reserved[0] < 1_000_000 {
		t.Errorf("reserved %d, spent %d", p.reserved, p.spent)
	}
}

// TestBudgetOfFailures gives back what a model that did not answer was reserved.
func TestBudgetOfFailures(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := &purse{left: 1 << 40}
	l.budget = p
	one, two := plays(fails(parley.Errorf(parley.CodeUnavailable, "down"))), plays(says(text("two")))
	two.name = "other/two"
	l.run(runner(t, turn.Agent{Models: models(one, two)}), l.ask(parley.TextPart("Go")))
	if len(p.spent) != 2 || p.spent[0] != 0 || p.spent[1] != 5 {
		t.Errorf("spent %d", p.spent)
	}
}
