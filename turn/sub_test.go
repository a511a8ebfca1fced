package turn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/turn"
)

// TestSubTurn has a tool run a turn of its own: it uses tools, spends the turn's
// budget, and leaves nothing in the session but its answer.
func TestSubTurn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := &purse{left: 1000}
	l.budget = p
	n := 0
	inner := plays(says(call("look", `{}`), done(parley.StopDone)), says(text("It is a tree."), done(parley.StopDone)))
	outer := plays(says(call("delegate", `{"task":"Find out what it is."}`), done(parley.StopDone)), says(text("They say it is a tree."), done(parley.StopDone)))
	d := &turn.Delegate{Name: "delegate", Description: "Gives a task away.", System: "You look at things."}
	r := runner(t, turn.Agent{Models: models(outer), Tools: &bench{tools: map[string]toolFunc{"delegate": d.Run}}})
	d.Runner = r
	d.AgentFunc = func(context.Context, parley.ToolCaller) (turn.Agent, error) {
		return turn.Agent{Models: models(inner), Tools: &bench{tools: map[string]toolFunc{"look": gives("green", &n)}}}, nil
	}
	l.run(r, l.ask(parley.TextPart("What is it?")))
	if n != 1 || len(p.spent) != 4 || p.left != 980 {
		t.Errorf("looked %d, spent %d, left %d", n, p.spent, p.left)
	}
	if got := inner.asked[0]; got.System != "You look at things." || got.Messages[0].Parts[0].Text != "Find out what it is." || len(got.Messages) != 1 {
		t.Errorf("the inner model was asked %+v", got)
	}
	msgs := l.messages()
	if len(msgs) != 4 || msgs[2].Parts[0].Result.Text != "It is a tree." {
		t.Errorf("%d messages: %+v", len(msgs), msgs)
	}
}

// TestSubTurnLimits has sub-turns that fail, ask for approval, or nest for ever.
func TestSubTurnLimits(t *testing.T) {
	t.Parallel()
	n := 0
	tools := &bench{tools: map[string]toolFunc{"commit": gives("x", &n)}, effects: map[string]parley.ToolEffect{"commit": parley.ToolApprove}}
	m := plays(says(call("commit", `{}`)), says(text("I was not allowed.")))
	r := runner(t, turn.Agent{Models: models(m)})
	answer, err := r.RunSub(t.Context(), turn.SubTurn{Agent: turn.Agent{Models: models(m), Tools: tools}, Task: "Commit."})
	if err != nil || n != 0 || answer.Text != "I was not allowed." || len(answer.Messages) != 4 || !answer.Messages[2].Parts[0].Result.IsError {
		t.Errorf("ran %d, %+v, %v", n, answer, err)
	}

	deep := 0
	d := &turn.Delegate{Name: "delegate", Runner: r}
	d.AgentFunc = func(context.Context, parley.ToolCaller) (turn.Agent, error) {
		deep++
		return turn.Agent{
			Models: models(plays(says(call("delegate", `{"task":"again"}`)), says(text("done")))),
			Tools:  &bench{tools: map[string]toolFunc{"delegate": d.Run}},
		}, nil
	}
	if _, err := d.Run(t.Context(), parley.ToolCaller{Principal: alice, Session: "cli:x", Turn: "t"}, parley.ToolCall{ID: "c", Name: "delegate", Arguments: json.RawMessage(`{"task":"go"}`)}); err != nil || deep != 4 {
		t.Errorf("%d deep, %v", deep, err)
	}

	failing := plays(says(call("no", `{}`)), fails(parley.Errorf(parley.CodeInvalid, "refused")))
	d.AgentFunc = func(context.Context, parley.ToolCaller) (turn.Agent, error) {
		return turn.Agent{Models: models(failing)}, nil
	}
	got, err := d.Run(t.Context(), parley.ToolCaller{Principal: alice, Session: "cli:x", Turn: "t"}, parley.ToolCall{ID: "c", Name: "delegate", Arguments: json.RawMessage(`{"task":"go"}`)})
	if err != nil || !got.IsError || !strings.Contains(got.Text, "refused") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestHalfASubTurn does not pass off half an answer as a whole one: the model that
// gave the task away is told how it ended.
func TestHalfASubTurn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer func(cancel func()) playFunc
		want   string
	}{
		{"canceled", func(cancel func()) playFunc {
			return func(ctx context.Context, yield func(parley.ModelPiece, error) bool) {
				if yield(text("Delete everything ex"), nil) {
					cancel()
					yield(parley.ModelPiece{}, ctx.Err())
				}
			}
		}, string(parley.StopAborted)},
		{"cut by length", func(func()) playFunc {
			return says(text("Delete everything ex"), done(parley.StopLength))
		}, string(parley.StopLength)},
		{"withdrawn", func(func()) playFunc {
			return says(text("Delete everything ex"), done(parley.StopContentFilter))
		}, string(parley.StopContentFilter)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			answer := test.answer(func() { cancel(parley.ErrCanceled) })
			d := &turn.Delegate{Name: "delegate", Runner: runner(t, turn.Agent{Models: models(plays())})}
			d.AgentFunc = func(context.Context, parley.ToolCaller) (turn.Agent, error) {
				return turn.Agent{Models: models(plays(answer))}, nil
			}
			got, err := d.Run(ctx, parley.ToolCaller{Principal: alice, Session: "cli:x", Turn: "t"}, parley.ToolCall{ID: "c", Name: "delegate", Arguments: json.RawMessage(`{"task":"go"}`)})
			if err != nil || !got.IsError || !strings.Contains(got.Text, "did not get to its end: "+test.want) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestSubTurnsRelease gives back what each agent of a sub-turn was lent, also of the
// one that is nested too deeply to run.
func TestSubTurnsRelease(t *testing.T) {
	t.Parallel()
	lent, released := 0, 0
	d := &turn.Delegate{Name: "delegate", Runner: runner(t, turn.Agent{Models: models(plays())})}
	d.AgentFunc = func(context.Context, parley.ToolCaller) (turn.Agent, error) {
		lent++
		return turn.Agent{
			Models:      models(plays(says(call("delegate", `{"task":"again"}`)), says(text("done")))),
			Tools:       &bench{tools: map[string]toolFunc{"delegate": d.Run}},
			ReleaseFunc: func() { released++ },
		}, nil
	}
	got, err := d.Run(t.Context(), parley.ToolCaller{Principal: alice, Session: "cli:x", Turn: "t"}, parley.ToolCall{ID: "c", Name: "delegate", Arguments: json.RawMessage(`{"task":"go"}`)})
	if err != nil || got.Text != "done" || lent != 4 || released != lent {
		t.Errorf("lent %d, released %d, %+v, %v", lent, released, got, err)
	}
}
