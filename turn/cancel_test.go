package turn_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/turn"
)

// TestCancelWithTheLastPiece has a person stop a turn as its answer ends: what was
// shown is kept, and the tool that it asks for does not start.
func TestCancelWithTheLastPiece(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ran := 0
	ctx, cancel := context.WithCancelCause(t.Context())
	m := plays(func(_ context.Context, yield func(parley.ModelPiece, error) bool) {
		if yield(text("Shown."), nil) && yield(call("look", `{}`), nil) {
			cancel(parley.ErrCanceled)
			yield(done(parley.StopDone), nil)
		}
	})
	id := l.ask(parley.TextPart("Go"))
	tools := &bench{tools: map[string]toolFunc{"look": gives("x", &ran)}}
	end, err := runner(t, turn.Agent{Models: models(m), Tools: tools}).Run(ctx, l.context(id))
	if err != nil || end.Completed.StopReason != parley.StopAborted || end.Completed.Usage.OutputTokens != 10 {
		t.Fatalf("%+v, %v", end, err)
	}
	l.close(id, end)
	var words string
	for _, msg := range l.messages() {
		if msg.Role == parley.MessageAssistant {
			words += parley.PlainText(msg.Parts)
		}
	}
	if words != "Shown." || ran != 0 {
		t.Errorf("stored %q, ran %d", words, ran)
	}
	if got := l.callStates(); len(got) != 0 {
		t.Errorf("calls: %q", got)
	}
}

// saying is a journal that tells when a message was stored.
type saying struct {
	parley.Journal
	said func()
}

func (s saying) Say(ctx context.Context, m parley.Said) error {
	err := s.Journal.Say(ctx, m)
	s.said()
	return err
}

// TestCancelBeforeTheFirstCall has a person stop a turn when its calls are stored,
// by which the first of them counts as started: none runs, and watchers see that.
func TestCancelBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ran := 0
	ctx, cancel := context.WithCancelCause(t.Context())
	tools := &bench{tools: map[string]toolFunc{"look": gives("x", &ran)}}
	m := plays(says(text("Let me see."), call("look", `{}`), call("look", `{}`)))
	id := l.ask(parley.TextPart("Go"))
	tc := l.context(id)
	tc.Journal = saying{tc.Journal, func() { cancel(parley.ErrCanceled) }}
	end, err := runner(t, turn.Agent{Models: models(m), Tools: tools}).Run(ctx, tc)
	if err != nil || end.Completed.StopReason != parley.StopAborted || ran != 0 || end.Last != nil {
		t.Fatalf("ran %d, %+v, %v", ran, end, err)
	}
	l.close(id, end)
	if got := l.callStates(); !slices.Equal(got, []parley.CallState{parley.CallFinished}) {
		t.Errorf("calls: %q", got)
	}
	if got := resultsOf(l.messages()); len(got) != 1 || !got[0].IsError || !strings.Contains(got[0].Text, "before this ran") {
		t.Errorf("results %+v", got)
	}
}

// TestCancelBetweenCalls has a person stop a turn while the first of two tools ends:
// its result counts, and the other one never starts.
func TestCancelBetweenCalls(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ran := 0
	ctx, cancel := context.WithCancelCause(t.Context())
	tools := &bench{tools: map[string]toolFunc{
		"one": func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
			cancel(parley.ErrCanceled)
			return parley.ToolResult{Text: "fine"}, nil
		},
		"look": gives("x", &ran),
	}}
	id := l.ask(parley.TextPart("Go"))
	end, err := runner(t, turn.Agent{Models: models(plays(says(call("one", `{}`), call("look", `{}`)))), Tools: tools}).Run(ctx, l.context(id))
	if err != nil || end.Completed.StopReason != parley.StopAborted || ran != 0 {
		t.Fatalf("ran %d, %+v, %v", ran, end, err)
	}
	l.close(id, end)
	if got := l.callStates(); !slices.Equal(got, []parley.CallState{parley.CallFinished}) {
		t.Errorf("calls: %q", got)
	}
	if got := resultsOf(l.messages()); len(got) != 1 || got[0].IsError || got[0].Text != "fine" {
		t.Errorf("results %+v", got)
	}
}

// TestCancelWhileReadingMedia ends the turn as any cancellation does: that the
// picture could not be read then is no failure.
func TestCancelWhileReadingMedia(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		past bool // the picture is of an earlier turn
	}{{"of the turn", false}, {"of an earlier turn", true}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			handle := "sha256_" + strings.Repeat("a", 64)
			if _, err := l.store.Commit(t.Context(), parley.Batch{At: start, Blobs: []parley.BlobChange{{Handle: parley.BlobHandle(handle), Type: "image/png", Size: 3}}}); err != nil {
				t.Fatal(err)
			}
			picture := parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: handle, Type: "image/png", Size: 3}}
			ctx, cancel := context.WithCancelCause(t.Context())
			m := plays()
			r := runner(t, turn.Agent{Models: models(m)}, func(c *turn.Config) {
				c.MediaFunc = func(ctx context.Context, _ parley.SessionID, _ parley.Media) ([]byte, error) {
					cancel(parley.ErrCanceled)
					return nil, ctx.Err()
				}
			})
			parts := []parley.Part{parley.TextPart("And this?"), picture}
			if test.past {
				l.run(runner(t, turn.Agent{Models: models(plays(says(text("A cat."))))}), l.ask(parts...))
				parts = parts[:1]
			}
			id := l.ask(parts...)
			end, err := r.Run(ctx, l.context(id))
			if err != nil || end.Completed.StopReason != parley.StopAborted || len(m.asked) != 0 {
				t.Fatalf("asked %d times, %+v, %v", len(m.asked), end, err)
			}
			l.close(id, end)
		})
	}
}
