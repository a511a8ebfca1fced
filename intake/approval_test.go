package intake_test

import (
	"context"
	"time"

	"github.com/parley-run/parley"
)

// asking is a runner that asks whether a call may run, and says what became of that.
type asking struct{}

func (asking) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	call := parley.ToolCall{ID: "c1", Name: "deploy"}
	said := parley.Said{
		Message: parley.Message{ID: string(t.Turn.ID) + ".ask", Role: parley.MessageAssistant, Parts: []parley.Part{{Kind: parley.PartToolCall, Call: &call}}},
		Ask:     []parley.CallQuestion{{Call: call.ID, Deadline: time.Hour, Default: parley.ApprovalDenied}},
	}
	if err := t.Journal.Say(ctx, said); err != nil {
		return parley.TurnEnd{}, err
	}
	words := "it is denied"
	_, err := t.Journal.Call(ctx, call, func(context.Context) (parley.ToolResult, error) {
		words = "it is approved"
		return parley.ToolResult{CallID: call.ID, Text: "done"}, nil
	})
	return parley.TurnEnd{
		Last:      &parley.Message{ID: string(t.Turn.ID) + ".last", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(words)}},
		Completed: parley.TurnCompleted{StopReason: parley.StopDone},
	}, err
}

// awaits waits until a session asks.
func (w *world) awaits(id parley.SessionID) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	for u, err := range w.Feed.Subscribe(ctx, parley.SeeAll(), id, parley.Position{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		if u.Event != nil && u.Event.Type == parley.EventApprovalRequested {
			return
		}
	}
}
