package channel_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/feed"
)

// runs is a runner made of a function.
type runs func(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error)

func (f runs) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	return f(ctx, t)
}

// engineOf runs an engine over a world's outbox until the end of the test.
func engineOf(w *world, runner parley.Runner) *engine.Engine {
	w.t.Helper()
	events := feed.New(w.store, feed.Config{})
	eng, err := engine.New(feed.Announce(w.outbox.Store(), events), engine.Config{Clock: w.clock, Runner: runner, Feed: w.outbox.Feed(events)})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- eng.Run(ctx) }()
	<-eng.Ready()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
		events.Close()
	})
	return eng
}

// TestWithAnEngine: a reply streams into its chat, a question is asked there and
// answered by a button, a command is answered, and what was posted from elsewhere is
// not.
func TestWithAnEngine(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	shown := make(chan struct{})
	eng := engineOf(w, runs(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		stream := string(tc.Turn.ID) + ".m1"
		call := parley.ToolCall{ID: parley.CallID(string(tc.Turn.ID) + "_c"), Name: "run_command", Arguments: []byte(`{"line":"make"}`)}
		said := parley.Said{
			Message: parley.Message{ID: stream, Role: parley.MessageAssistant, Parts: []parley.Part{
				parley.TextPart("I will build it."), {Kind: parley.PartToolCall, Call: &call},
			}},
			Ask: []parley.CallQuestion{{Call: call.ID, Deadline: time.Hour, Default: parley.ApprovalDenied}},
		}
		if tc.Turn.Attempt == 1 {
			tc.Journal.Delta(stream, 1, parley.PartText, "I will")
			select {
			case <-shown:
			case <-ctx.Done():
				return parley.TurnEnd{}, ctx.Err()
			}
		}
		if err := tc.Journal.Say(ctx, said); err != nil {
			return parley.TurnEnd{}, err
		}
		if _, err := tc.Journal.Call(ctx, call, func(context.Context) (parley.ToolResult, error) {
			return parley.ToolResult{Text: "built"}, nil
		}); err != nil {
			return parley.TurnEnd{}, err
		}
		last := parley.Message{ID: string(tc.Turn.ID) + ".m2", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart("It is built.")}}
		return parley.TurnEnd{Last: &last, Completed: parley.TurnCompleted{StopReason: parley.StopDone}}, nil
	}))
	me := eng.As(access.NewCaller(owner))
	say := func(id, text string, to *parley.Target) {
		t.Helper()
		in := parley.Input{Ref: parley.InputRef{Origin: "fake//a", ID: id}, Parts: []parley.Part{parley.TextPart(text)}, Mentioned: true, Target: to}
		if _, err := me.Post(t.Context(), "fake:a", in); err != nil {
			t.Fatal(err)
		}
	}
	say("1", "Please build it.", target("a"))
	w.until("the beginning is shown", func() bool { return slices.Equal(w.chat.texts("a"), []string{"I will"}) })
	close(shown)
	w.until("the question is there", func() bool { return len(w.chat.texts("a")) == 2 })
	w.settled()
	id, choice, ok := channel.PressedButton(w.chat.note(t, "a", 1).buttons[0][0].Data)
	asked, err := w.outbox.Delivery(t.Context(), id)
	if !ok || err != nil || choice != channel.ChooseApprove {
		t.Fatalf("the button says %q, %v", choice, err)
	}
	if err := me.Approve(t.Context(), asked.Session, asked.Call, true, engine.RememberOnce); err != nil {
		t.Fatal(err)
	}
	w.until("the answer is there", func() bool { return len(w.chat.texts("a")) == 3 })
	w.settled()
	say("2", "/help stop", target("a")) // short: it is one message
	w.until("the command is answered", func() bool { return len(w.chat.texts("a")) == 4 })
	w.settled()
	got := w.chat.texts("a")
	if got[0] != "I will build it." || !strings.HasPrefix(got[1], "✅ Approved") || got[2] != "It is built." || !strings.Contains(got[3], "/stop") {
		t.Errorf("the chat shows %q", got)
	}
	say("3", "/help stop", nil)
	if rows := w.open(); len(rows) > 0 {
		t.Errorf("what came another way is answered in the chat: %+v", rows)
	}
	if w.chat.overlaps > 0 {
		t.Error("two calls were under way in a chat")
	}
}
