package turn

import (
	"context"
	"slices"
	"sync"

	"github.com/parley-run/parley"
)

// Transcript is a journal in memory, for turns that leave no trace of their own:
// those of a tool, of a look back over a session, of a program that only wants an
// answer. Nobody watches it, so nobody can be asked: a call that needs approval is
// refused.
type Transcript struct {
	mu       sync.Mutex
	messages []parley.Message
	asked    map[parley.CallID]bool
	results  map[parley.CallID]parley.ToolResult
	events   []parley.Custom
}

// NewTranscript makes one that begins with messages.
func NewTranscript(messages ...parley.Message) *Transcript {
	return &Transcript{
		messages: slices.Clone(messages),
		asked:    map[parley.CallID]bool{}, results: map[parley.CallID]parley.ToolResult{},
	}
}

// Messages gives what was said so far.
func (t *Transcript) Messages() []parley.Message {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.messages)
}

// Delta shows nothing: nobody watches.
func (t *Transcript) Delta(string, int, parley.PartKind, string) {}

// Say keeps a message.
func (t *Transcript) Say(_ context.Context, s parley.Said) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.messages, func(m parley.Message) bool { return m.ID == s.Message.ID }) {
		return nil
	}
	t.messages = append(t.messages, s.Message)
	for _, q := range s.Ask {
		t.asked[q.Call] = true
	}
	return nil
}

// Call runs a call once.
func (t *Transcript) Call(ctx context.Context, call parley.ToolCall, run func(context.Context) (parley.ToolResult, error)) (parley.ToolResult, error) {
	t.mu.Lock()
	result, done := t.results[call.ID]
	asked := t.asked[call.ID]
	t.mu.Unlock()
	if done {
		return result, nil
	}
	if asked {
		result = parley.ToolResult{CallID: call.ID, Text: textDenied + "this needs a person's approval, and nobody can be asked here", IsError: true}
	} else {
		var err error
		if result, err = run(ctx); err != nil {
			return parley.ToolResult{}, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.results[call.ID] = result
	t.messages = append(t.messages, parley.ResultMessage(result))
	return result, nil
}

// Steered gives nothing: nobody else speaks here.
func (t *Transcript) Steered(context.Context) ([]parley.Message, error) { return nil, nil }

// Emit keeps an event.
func (t *Transcript) Emit(_ context.Context, event parley.Custom) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, event)
	return nil
}

// Events gives what was emitted.
func (t *Transcript) Events() []parley.Custom {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.events)
}
