package turn_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/parleytest"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/turn"
)

// TestBrokenTools has tools that do not give a result in any orderly way: the model
// reads that they broke, and the turn goes on.
func TestBrokenTools(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		tool toolFunc
		want string
	}{
		{"panics", func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) { panic("boom") }, "boom"},
		{"is nil", nil, "nil pointer"},
		{"leaves its goroutine", func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
			runtime.Goexit()
			return parley.ToolResult{}, nil
		}, "without a result"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			tools := &bench{tools: map[string]toolFunc{"look": test.tool}}
			m := plays(says(call("look", `{}`)), says(text("It broke.")))
			end := l.run(runner(t, turn.Agent{Models: models(m), Tools: tools}), l.ask(parley.TextPart("Go")))
			if end.Completed.StopReason != parley.StopDone || len(m.asked) != 2 {
				t.Errorf("asked %d times, %+v", len(m.asked), end.Completed)
			}
			if got := resultsOf(l.messages()); len(got) != 1 || !got[0].IsError || !strings.Contains(got[0].Text, test.want) {
				t.Errorf("results %+v", got)
			}
			if got := l.callStates(); !slices.Equal(got, []parley.CallState{parley.CallFinished}) {
				t.Errorf("calls: %q", got)
			}
		})
	}
}

// TestStubbornTool has a tool that does not stop when its turn is stopped: after a
// while it is given up, its outcome is unknown, and its session goes on without it.
func TestStubbornTool(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		cause error
		again bool // the process stops: the turn is taken up again
	}{
		{name: "canceled", cause: parley.ErrCanceled},
		{name: "the process stops", cause: errors.New("shutting down"), again: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			clock := parleytest.NewClock(start)
			ctx, cancel := context.WithCancelCause(t.Context())
			release, gone := make(chan struct{}), make(chan struct{})
			ran := 0
			tools := &bench{tools: map[string]toolFunc{"look": func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
				defer close(gone)
				ran++
				cancel(test.cause)
				<-release
				return parley.ToolResult{Text: "too late"}, nil
			}}}
			m := plays(says(call("look", `{}`)), says(text("I see.")))
			r := runner(t, turn.Agent{Models: models(m), Tools: tools}, func(c *turn.Config) { c.Clock = clock })
			id := l.ask(parley.TextPart("Go"))
			go func() {
				clock.WaitForTimer(30 * time.Second)
				clock.Advance(30 * time.Second)
			}()
			end, err := r.Run(ctx, l.context(id))
			if test.again {
				if !errors.Is(err, parley.ErrSuspended) {
					t.Fatalf("%+v, %v", end, err)
				}
				l.again(id)
				l.run(r, id)
			} else {
				if err != nil || end.Completed.StopReason != parley.StopAborted {
					t.Fatalf("%+v, %v", end, err)
				}
				l.close(id, end)
				l.run(r, l.ask(parley.TextPart("And now?")))
			}
			// What it does in the end changes nothing, and it has not run again.
			close(release)
			<-gone
			if got := resultsOf(l.messages()); len(got) != 1 || !got[0].IsError || !got[0].Unknown || !strings.Contains(got[0].Text, "went on all the same") {
				t.Errorf("results %+v", got)
			}
			if got := l.callStates(); !slices.Equal(got, []parley.CallState{parley.CallUnknown}) || ran != 1 {
				t.Errorf("ran %d, calls: %q", ran, got)
			}
		})
	}
}

// TestSlowToStop has a tool that takes its time to stop, but does: its result counts.
func TestSlowToStop(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	clock := parleytest.NewClock(start)
	ctx, cancel := context.WithCancelCause(t.Context())
	tools := &bench{tools: map[string]toolFunc{"look": func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
		cancel(parley.ErrCanceled)
		clock.WaitForTimer(30 * time.Second)
		clock.Advance(29 * time.Second)
		return parley.ToolResult{Text: "done"}, nil
	}}}
	id := l.ask(parley.TextPart("Go"))
	r := runner(t, turn.Agent{Models: models(plays(says(call("look", `{}`)))), Tools: tools}, func(c *turn.Config) { c.Clock = clock })
	end, err := r.Run(ctx, l.context(id))
	if err != nil || end.Completed.StopReason != parley.StopAborted {
		t.Fatalf("%+v, %v", end, err)
	}
	l.close(id, end)
	if got := resultsOf(l.messages()); len(got) != 1 || got[0].Text != "done" || got[0].IsError || got[0].Unknown {
		t.Errorf("results %+v", got)
	}
}

// TestMediaNobodyHas has a tool name media that the store does not know: the tool
// has run, so its words count, and the model reads what is missing.
func TestMediaNobodyHas(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ran := 0
	tools := &bench{tools: map[string]toolFunc{"look": func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
		ran++
		return parley.ToolResult{Text: "A picture.", Media: &parley.Media{Handle: "sha256_nope", Type: "image/png"}}, nil
	}}}
	m := plays(says(call("look", `{}`), call("look", `{}`)), says(text("ok")))
	end := l.run(runner(t, turn.Agent{Models: models(m), Tools: tools}), l.ask(parley.TextPart("Go")))
	if end.Completed.StopReason != parley.StopDone || ran != 2 {
		t.Errorf("ran %d, %+v", ran, end.Completed)
	}
	got := resultsOf(l.messages())
	if len(got) != 2 {
		t.Fatalf("results %+v", got)
	}
	for _, r := range got {
		if r.Media != nil || r.IsError || !strings.HasPrefix(r.Text, "A picture.") || !strings.Contains(r.Text, "could not be kept") {
			t.Errorf("result %+v", r)
		}
	}
	if got := l.callStates(); !slices.Equal(got, []parley.CallState{parley.CallFinished, parley.CallFinished}) {
		t.Errorf("calls: %q", got)
	}
}

// TestSecretInAMediaName has a tool name its media like a secret.
func TestSecretInAMediaName(t *testing.T) {
	t.Parallel()
	var scrubber secret.Scrubber
	scrubber.Add(secret.NewValue("sk-secret-of-the-program"))
	l := newLab(t)
	if _, err := l.store.Commit(t.Context(), parley.Batch{At: start, Blobs: []parley.BlobChange{{Handle: "kept", Type: "text/plain", Size: 3}}}); err != nil {
		t.Fatal(err)
	}
	media := &parley.Media{Handle: "kept", Type: "text/plain", Name: "sk-secret-of-the-program.txt"}
	tools := &bench{tools: map[string]toolFunc{"look": func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
		return parley.ToolResult{Text: "x", Media: media}, nil
	}}}
	m := plays(says(call("look", `{}`)), says(text("Done.")))
	l.run(runner(t, turn.Agent{Models: models(m), Tools: tools}, func(c *turn.Config) { c.Scrubber = &scrubber }), l.ask(parley.TextPart("Go")))
	if got := l.messages()[2].Parts[0].Result.Media.Name; got != secret.Mask+".txt" || media.Name != "sk-secret-of-the-program.txt" {
		t.Errorf("stored as %q, and the tool's own is %q", got, media.Name)
	}
}
