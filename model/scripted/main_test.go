package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/scripted"
)

// TestMain runs the tests and finds goroutines they left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scriptOf makes a model with a script.
func scriptOf(t testing.TB, text string) *scripted.Model {
	t.Helper()
	s, err := scripted.Parse("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return modelOf(t, scripted.Config{Name: "test", Script: s})
}

func modelOf(t testing.TB, c scripted.Config) *scripted.Model {
	t.Helper()
	m, err := scripted.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// reply is a whole answer.
type reply struct {
	pieces []parley.ModelPiece
	err    error
}

func ask(ctx context.Context, m parley.Model, req parley.ModelRequest) reply {
	var r reply
	for p, err := range m.Stream(ctx, req) {
		if err != nil {
			r.err = err
			continue
		}
		r.pieces = append(r.pieces, p)
	}
	return r
}

// String gives an answer on one line: the text, (reasoning|opaque), [calls],
// and how it ended.
func (r reply) String() string {
	var b strings.Builder
	var thought strings.Builder
	for _, p := range r.pieces {
		switch {
		case p.Done != nil:
			fmt.Fprintf(&b, " ~%s", p.Done.StopReason)
		case p.Call != nil:
			fmt.Fprintf(&b, "[%s %s]", p.Call.Name, p.Call.Arguments)
		case p.Kind == parley.PartReasoning && p.Opaque != nil:
			fmt.Fprintf(&b, "(%s)", &thought)
			thought.Reset()
		case p.Kind == parley.PartReasoning:
			thought.WriteString(p.Text)
		default:
			b.WriteString(p.Text)
		}
	}
	if thought.Len() > 0 {
		fmt.Fprintf(&b, "(%s…", &thought)
	}
	if r.err != nil {
		fmt.Fprintf(&b, " !%s", parley.CodeOf(r.err))
		if e, ok := errors.AsType[*parley.Error](r.err); ok {
			fmt.Fprintf(&b, " %q", e.Message)
			if e.RetryAfter > 0 {
				fmt.Fprintf(&b, " after %s", e.RetryAfter)
			}
		}
	}
	return b.String()
}

// text gives the text of an answer.
func (r reply) text() string {
	var b strings.Builder
	for _, p := range r.pieces {
		if p.Kind == parley.PartText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func user(text string) parley.ModelMessage {
	return parley.ModelMessage{Role: parley.MessageUser, Parts: []parley.ModelPart{{Part: parley.TextPart(text)}}}
}

func assistant(text string) parley.ModelMessage {
	return parley.ModelMessage{Role: parley.MessageAssistant, Parts: []parley.ModelPart{{Part: parley.TextPart(text)}}}
}

func calls(names ...string) parley.ModelMessage {
	m := parley.ModelMessage{Role: parley.MessageAssistant}
	for i, name := range names {
		call := &parley.ToolCall{ID: parley.CallID(fmt.Sprint("c", i)), Name: name}
		m.Parts = append(m.Parts, parley.ModelPart{Part: parley.Part{Kind: parley.PartToolCall, Call: call}})
	}
	return m
}

// results gives the results of the calls of the message before.
func results(all ...parley.ToolResult) parley.ModelMessage {
	m := parley.ModelMessage{Role: parley.MessageTool}
	for i, r := range all {
		r.CallID = parley.CallID(fmt.Sprint("c", i))
		m.Parts = append(m.Parts, parley.ModelPart{Part: parley.Part{Kind: parley.PartToolResult, Result: &r}})
	}
	return m
}

func ok(text string) parley.ToolResult { return parley.ToolResult{Text: text} }

func media(text string, data []byte, m parley.Media) parley.ModelMessage {
	msg := user(text)
	msg.Parts = append(msg.Parts, parley.ModelPart{Part: parley.Part{Kind: parley.PartMedia, Media: &m}, Data: data})
	return msg
}

func offered(names ...string) []parley.ToolSpec {
	var specs []parley.ToolSpec
	for _, name := range names {
		specs = append(specs, parley.ToolSpec{Name: name, Schema: []byte(`{"type":"object"}`)})
	}
	return specs
}

func request(messages ...parley.ModelMessage) parley.ModelRequest {
	return parley.ModelRequest{Messages: messages}
}
