package anthropic_test

import (
	"context"
	"encoding/json"
	"iter"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/anthropic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testKey      = "sk-ant-do-not-show-this"
	budgetModel  = "claude-haiku-4-5"  // takes a budget for thinking
	currentModel = "claude-sonnet-5-5" // decides by itself
)

// model makes a model that asks s.
func model(t testing.TB, s *modelserver.Server, change func(*anthropic.Config)) *anthropic.Model {
	t.Helper()
	c := anthropic.Config{
		Model: currentModel, BaseURL: s.URL, HTTPClient: s.Client(),
		KeyFunc: func(context.Context) (string, error) { return testKey, nil },
	}
	if change != nil {
		change(&c)
	}
	m, err := anthropic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answer is a whole answer.
type answer struct {
	pieces    []parley.ModelPiece
	text      string
	reasoning string
	calls     []parley.ToolCall
	opaque    [][]byte
	done      *parley.ModelDone
	err       error
}

// collect reads an answer to its end and holds what every answer promises.
func collect(t testing.TB, pieces iter.Seq2[parley.ModelPiece, error]) answer {
	t.Helper()
	var a answer
	for p, err := range pieces {
		if a.done != nil || a.err != nil {
			t.Fatal("something came after the end")
		}
		if err != nil {
			a.err = err
			continue
		}
		a.pieces = append(a.pieces, p)
		switch {
		case p.Done != nil:
			a.done = p.Done
		case p.Call != nil:
			if !json.Valid(p.Call.Arguments) {
				t.Fatalf("the arguments %q are not JSON", p.Call.Arguments)
			}
			a.calls = append(a.calls, *p.Call)
		case p.Opaque != nil:
			a.opaque = append(a.opaque, p.Opaque)
		case p.Kind == parley.PartReasoning:
			a.reasoning += p.Text
		default:
			a.text += p.Text
		}
	}
	if (a.done == nil) == (a.err == nil) {
		t.Fatalf("an answer ends with Done or an error; this one with %v and %v", a.done, a.err)
	}
	return a
}

// ask asks and wants an answer.
func ask(t testing.TB, m *anthropic.Model, req parley.ModelRequest) answer {
	t.Helper()
	a := collect(t, m.Stream(t.Context(), req))
	if a.err != nil {
		t.Fatal(a.err)
	}
	return a
}

// says answers every request alike.
func says(r modelserver.Reply) func(modelserver.Request) modelserver.Reply {
	return func(modelserver.Request) modelserver.Reply { return r }
}

func user(text string) parley.ModelMessage {
	return message(parley.MessageUser, parley.TextPart(text))
}

func message(role parley.MessageRole, parts ...parley.Part) parley.ModelMessage {
	m := parley.ModelMessage{Role: role}
	for _, p := range parts {
		m.Parts = append(m.Parts, parley.ModelPart{Part: p})
	}
	return m
}

func callPart(id, name, arguments string) parley.Part {
	return parley.Part{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: parley.CallID(id), Name: name, Arguments: json.RawMessage(arguments)}}
}

func resultPart(r parley.ToolResult) parley.Part {
	return parley.Part{Kind: parley.PartToolResult, Result: &r}
}

// request is one that asks hello.
func hello() parley.ModelRequest {
	return parley.ModelRequest{System: "Be brief.", Messages: []parley.ModelMessage{user("Hello")}}
}
