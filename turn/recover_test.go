package turn_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/turn"
)

var errShutdown = errors.New("shutting down")

// roles gives who speaks in a request, with the texts of tool results.
func roles(req parley.ModelRequest) []string {
	var all []string
	for _, m := range req.Messages {
		who := string(m.Role)
		for _, p := range m.Parts {
			if p.Result != nil {
				who += ":" + p.Result.Text
				if p.Result.Unknown {
					who = string(m.Role) + ":?"
				}
			}
		}
		all = append(all, who)
	}
	return all
}

// TestResultsAfterARestart has the engine's note about a restart come between the
// calls of a turn and their results: in what models read, each result stands behind
// its call, in this turn and in those that follow.
func TestResultsAfterARestart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	began := make(chan struct{}, 1)
	ran := 0
	tools := &bench{tools: map[string]toolFunc{"wait": waits(began), "look": gives("a tree", &ran)}}
	m := plays(says(call("wait", `{}`), call("look", `{}`)), says(text("I see.")), says(text("Yes.")))
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-began; cancel(errShutdown) }()
	id := l.ask(parley.TextPart("Go"))
	r := runner(t, turn.Agent{Models: models(m), Tools: tools})
	if _, err := r.Run(ctx, l.context(id)); !errors.Is(err, parley.ErrSuspended) {
		t.Fatal(err)
	}
	l.again(id)
	l.commit(parley.SessionChange{Events: []parley.NewEvent{{Turn: id, Body: &parley.Message{
		ID: "t1.note.2", Role: parley.MessageSystem, Parts: []parley.Part{parley.TextPart("The program was restarted.")},
	}}}})
	l.run(r, id)
	l.run(r, l.ask(parley.TextPart("Sure?")))
	if ran != 1 || len(m.asked) != 3 {
		t.Fatalf("ran %d, asked %d times", ran, len(m.asked))
	}
	open := []string{"user", "assistant", "tool:?", "tool:a tree", "system"}
	if got := roles(m.asked[1]); !slices.Equal(got, open) {
		t.Errorf("in the turn: %q", got)
	}
	if got := roles(m.asked[2]); !slices.Equal(got, append(open, "assistant", "user")) {
		t.Errorf("in the next turn: %q", got)
	}
}

// TestProcessStopsBetweenCalls has the process stop as the first of two tools ends:
// its result counts, and the other one, which never began, runs in the next attempt.
func TestProcessStopsBetweenCalls(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	first, ran := 0, 0
	ctx, cancel := context.WithCancelCause(t.Context())
	tools := &bench{tools: map[string]toolFunc{
		"one": func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
			first++
			cancel(errShutdown)
			return parley.ToolResult{Text: "fine"}, nil
		},
		"look": gives("a tree", &ran),
	}}
	m := plays(says(call("one", `{}`), call("look", `{}`)), says(text("I see.")))
	id := l.ask(parley.TextPart("Go"))
	r := runner(t, turn.Agent{Models: models(m), Tools: tools})
	if _, err := r.Run(ctx, l.context(id)); !errors.Is(err, parley.ErrSuspended) || !errors.Is(err, errShutdown) || ran != 0 {
		t.Fatalf("ran %d, %v", ran, err)
	}
	l.again(id)
	l.run(r, id)
	if first != 1 || ran != 1 {
		t.Errorf("the tools ran %d and %d times", first, ran)
	}
	if got := roles(m.asked[1]); !slices.Equal(got, []string{"user", "assistant", "tool:fine", "tool:a tree"}) {
		t.Errorf("the model reads %q", got)
	}
	if got := l.callStates(); !slices.Equal(got, []parley.CallState{parley.CallFinished, parley.CallFinished}) {
		t.Errorf("calls: %q", got)
	}
}
