package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/turn"
)

type toolFunc = func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error)

// waits is a tool that says when it began and runs until it is stopped.
func waits(began chan<- struct{}) toolFunc {
	return func(ctx context.Context, _ parley.ToolCaller, _ parley.ToolCall) (parley.ToolResult, error) {
		began <- struct{}{}
		<-ctx.Done()
		return parley.ToolResult{}, ctx.Err()
	}
}

// TestCancelWhileSpeaking keeps what was said by then.
func TestCancelWhileSpeaking(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	m := plays(func(ctx context.Context, yield func(parley.ModelPiece, error) bool) {
		if yield(text("Once upon"), nil) && yield(call("look", `{}`), nil) {
			cancel(parley.ErrCanceled)
			<-ctx.Done()
			yield(parley.ModelPiece{}, ctx.Err())
		}
	})
	id := l.ask(parley.TextPart("A story"))
	end, err := runner(t, turn.Agent{Models: models(m)}).Run(ctx, l.context(id))
	if err != nil || end.Completed.StopReason != parley.StopAborted || parley.PlainText(end.Last.Parts) != "Once upon" || len(end.Last.Calls()) != 0 {
		t.Fatalf("%+v, %v", end, err)
	}
	l.close(id, end)
}

// TestCancelWhileTool stops a tool, says so in the transcript, and does not start
// the next one.
func TestCancelWhileTool(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	began := make(chan struct{}, 1)
	n := 0
	tools := &bench{tools: map[string]toolFunc{"wait": waits(began), "look": gives("x", &n)}}
	m := plays(says(call("wait", `{}`), call("look", `{}`)), says(text("Fine.")))
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-began; cancel(parley.ErrCanceled) }()
	id := l.ask(parley.TextPart("Go"))
	r := runner(t, turn.Agent{Models: models(m), Tools: tools})
	end, err := r.Run(ctx, l.context(id))
	if err != nil || end.Completed.StopReason != parley.StopAborted || n != 0 {
		t.Fatalf("ran %d, %+v, %v", n, end, err)
	}
	l.close(id, end)
	msgs := l.messages()
	if got := msgs[len(msgs)-1].Parts[0].Result; got == nil || !got.IsError || !strings.Contains(got.Text, "Canceled") {
		t.Errorf("result %+v", got)
	}
	// The next turn sees a whole transcript.
	l.run(r, l.ask(parley.TextPart("And now?")))
	var results []string
	for _, msg := range m.asked[1].Messages {
		for _, p := range msg.Parts {
			if p.Result != nil {
				results = append(results, p.Result.Text)
			}
		}
	}
	if len(results) != 2 || results[1] != parley.NoResult {
		t.Errorf("results in the next request: %q", results)
	}
}

// TestProcessStopsWhileTool leaves the call's outcome open: the next attempt tells
// the model so, and does not run it again. The call behind it never began, so it
// runs.
func TestProcessStopsWhileTool(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	began := make(chan struct{}, 1)
	n := 0
	tools := &bench{tools: map[string]toolFunc{"wait": waits(began), "look": gives("x", &n)}}
	m := plays(says(call("wait", `{}`), call("look", `{}`)), says(text("I see.")))
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-began; cancel(errors.New("shutting down")) }()
	id := l.ask(parley.TextPart("Go"))
	r := runner(t, turn.Agent{Models: models(m), Tools: tools})
	if _, err := r.Run(ctx, l.context(id)); !errors.Is(err, parley.ErrSuspended) || !strings.Contains(err.Error(), "shutting down") {
		t.Fatalf("%v", err)
	}
	l.again(id)
	l.run(r, id)
	if n != 1 || len(began) != 0 {
		t.Errorf("look ran %d times, wait again: %d", n, len(began))
	}
	msgs := l.messages()
	if got := msgs[2].Parts[0].Result; !got.Unknown || !strings.Contains(got.Text, "unknown") {
		t.Errorf("result %+v", got)
	}
	if got := msgs[3].Parts[0].Result; got.Text != "x" || got.Unknown {
		t.Errorf("result %+v", got)
	}
	if len(m.asked) != 2 {
		t.Errorf("the model was asked %d times", len(m.asked))
	}
}

// TestProcessStopsWhileSpeaking starts the answer over, under another name.
func TestProcessStopsWhileSpeaking(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	m := plays(func(ctx context.Context, yield func(parley.ModelPiece, error) bool) {
		if yield(text("Once"), nil) {
			cancel(errors.New("shutting down"))
			yield(parley.ModelPiece{}, ctx.Err())
		}
	}, says(text("Once upon a time.")))
	id := l.ask(parley.TextPart("A story"))
	r := runner(t, turn.Agent{Models: models(m)})
	if _, err := r.Run(ctx, l.context(id)); !errors.Is(err, parley.ErrSuspended) {
		t.Fatalf("%v", err)
	}
	l.again(id)
	if end := l.run(r, id); end.Last.ID != "t1.2.1" {
		t.Errorf("%+v", end.Last)
	}
	if l.deltas[0].Stream == l.deltas[1].Stream {
		t.Error("two answers share a stream")
	}
}

// TestAnswerBeforeTheEnd takes up a turn whose last words are stored: the model is
// not asked again.
func TestAnswerBeforeTheEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	id := l.ask(parley.TextPart("Hi"))
	l.commit(parley.SessionChange{Events: []parley.NewEvent{{Turn: id, Body: &parley.Message{ID: "m", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart("Hello.")}}}}})
	l.again(id)
	m := plays()
	if end := l.run(runner(t, turn.Agent{Models: models(m)}), id); end.Last != nil || end.Completed.StopReason != parley.StopDone || len(m.asked) != 0 {
		t.Errorf("%+v", end)
	}
}

// TestStaleOwner has another owner take the session over while a tool runs.
func TestStaleOwner(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var id parley.TurnID
	tools := &bench{tools: map[string]toolFunc{"look": func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
		l.again(id)
		return parley.ToolResult{Text: "x"}, nil
	}}}
	m := plays(says(call("look", `{}`)), says(text("no")))
	id = l.ask(parley.TextPart("Go"))
	_, err := runner(t, turn.Agent{Models: models(m), Tools: tools}).Run(t.Context(), l.context(id))
	if !errors.Is(err, parley.ErrConflict) || len(m.asked) != 1 {
		t.Errorf("%v; asked %d times", err, len(m.asked))
	}
}

func TestApproval(t *testing.T) {
	t.Parallel()
	tests := []struct {
		answer parley.ApprovalState
		ran    int
		result string
	}{
		{parley.ApprovalApproved, 1, "committed"},
		{parley.ApprovalDenied, 0, "said no"},
		{parley.ApprovalExpired, 0, "nobody answered"},
	}
	for _, test := range tests {
		t.Run(string(test.answer), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			var looked, ran int
			tools := &bench{
				tools:   map[string]toolFunc{"look": gives("x", &looked), "commit": gives("committed", &ran)},
				effects: map[string]parley.ToolEffect{"commit": parley.ToolApprove},
			}
			m := plays(says(call("look", `{}`), call("commit", `{}`), call("look", `{}`)), says(text("Done.")))
			r := runner(t, turn.Agent{Models: models(m), Tools: tools})
			id := l.ask(parley.TextPart("Go"))
			for range 2 { // asking again before there is an answer changes nothing
				if _, err := r.Run(t.Context(), l.context(id)); !errors.Is(err, parley.ErrSuspended) || looked != 1 || ran != 0 {
					t.Fatalf("looked %d, ran %d, %v", looked, ran, err)
				}
				l.again(id)
			}
			open, err := l.store.Approvals(t.Context(), parley.SeeAll(), l.session)
			if err != nil || len(open) != 1 || open[0].State != parley.ApprovalPending || open[0].Default != parley.ApprovalDenied || open[0].Deadline.IsZero() {
				t.Fatalf("%+v, %v", open, err)
			}
			l.commit(parley.SessionChange{Approvals: []parley.ApprovalChange{{Turn: id, Call: open[0].Call, State: test.answer, By: alice.Identity}}})
			l.again(id)
			l.run(r, id)
			if ran != test.ran || looked != 2 || len(m.asked) != 2 {
				t.Errorf("looked %d, ran %d, asked %d", looked, ran, len(m.asked))
			}
			var text string
			for _, msg := range l.messages() {
				for _, p := range msg.Parts {
					if p.Result != nil && p.Result.CallID == open[0].Call {
						text = p.Result.Text
					}
				}
			}
			if !strings.Contains(text, test.result) {
				t.Errorf("the model reads %q", text)
			}
		})
	}
}
