package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/model/scripted"
	"github.com/parley-run/parley/parleytest"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/turn"
)

// echo is a tool with a secret in whatever it says.
type echo struct{}

func (echo) Spec() parley.ToolSpec {
	return parley.ToolSpec{Name: "echo", Description: "secret description", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (echo) Run(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
	return parley.ToolResult{Text: "secret result"}, nil
}

const script = `
rules:
  - when: {starts: sub}
    say: [{text: "secret answer of the sub-turn"}]
  - when: {after_tool: delegate}
    say: [{text: "secret last words"}]
  - when: {after_tool: echo}
    say: [{call: {tool: delegate, arguments: {task: "sub secret task"}}}]
  - when: {contains: echo}
    say: [{text: "secret thoughts"}, {call: {tool: echo, arguments: {text: "secret argument"}}}]
`

type prompter struct{}

func (prompter) Prompt(context.Context, parley.PromptContext) (parley.Prompt, error) {
	return parley.Prompt{System: "secret system prompt", Preface: "secret preface"}, nil
}

// TestTurn traces a real turn, with a tool and with a sub-turn, from the engine to a
// collector.
func TestTurn(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	tracer, spans := c.tracer(t)
	parsed, err := scripted.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := scripted.New(scripted.Config{Script: parsed})
	if err != nil {
		t.Fatal(err)
	}
	model := tracer.Model(plain)
	if model.Info().Name != plain.Info().Name {
		t.Error("the model is another")
	}
	delegate := &turn.Delegate{Name: "delegate", Description: "secret", AgentFunc: func(context.Context, parley.ToolCaller) (turn.Agent, error) {
		return turn.Agent{Models: []parley.Model{model}}, nil
	}}
	registry, err := tool.New([]tool.Group{{Name: "all", Tools: []parley.Tool{echo{}, delegate}}}, tool.Config{})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := turn.New(turn.Config{AgentFunc: func(_ context.Context, tc parley.TurnContext) (turn.Agent, error) {
		set, err := registry.For(tc.Principal, nil)
		return turn.Agent{Models: []parley.Model{model}, Tools: set, MaxTokens: 500}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	delegate.Runner = runner
	w := parleytest.New(t, parleytest.Config{Engine: engine.Config{Runner: tracer.Runner(runner), Prompter: prompter{}}})
	id := w.Session("a")
	if got := w.Say(id, "secret words, echo"); got != "secret last words" {
		t.Fatalf("%q", got)
	}

	all := spans()
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s < %s", s.GetName(), s.parent))
		if s.traceID() != all[0].traceID() {
			t.Errorf("%s is in another trace", s.GetName())
		}
		if s.failed() {
			t.Errorf("%s failed: %v", s.GetName(), s.attributes())
		}
	}
	want := []string{
		"invoke_agent main < ",
		"chat demo < invoke_agent main",
		"execute_tool echo < invoke_agent main",
		"chat demo < invoke_agent main",
		"execute_tool delegate < invoke_agent main",
		"chat demo < execute_tool delegate",
		"chat demo < invoke_agent main",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	checkAttributes(t, all)
	// Nothing of what anybody said, and no arguments.
	for _, request := range c.requests {
		if text := request.String(); strings.Contains(text, "secret") || !strings.Contains(text, "test:a") {
			t.Errorf("a span shows what it must not: %s", text)
		}
	}
}

// checkAttributes looks at the run, the first call of a model and the first of a tool.
func checkAttributes(t *testing.T, all []span) {
	t.Helper()
	for i, test := range []struct {
		kind tracepb.Span_SpanKind
		want map[string]string
		any  []string // there, with whatever value
	}{
		{
			kind: tracepb.Span_SPAN_KIND_INTERNAL, any: []string{"parley.turn.id", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"},
			want: map[string]string{
				"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "main", "gen_ai.conversation.id": "test:a",
				"gen_ai.provider.name": "scripted", "gen_ai.request.model": "demo", "parley.turn.attempt": "1", "parley.stop_reason": "stop",
				"gen_ai.usage.cache_read.input_tokens": "0", "gen_ai.usage.cache_creation.input_tokens": "0", "parley.usage.cost_usd": "0",
			},
		},
		{
			kind: tracepb.Span_SPAN_KIND_CLIENT, any: []string{"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.response.time_to_first_chunk"},
			want: map[string]string{
				"gen_ai.operation.name": "chat", "gen_ai.provider.name": "scripted", "gen_ai.request.model": "demo", "gen_ai.request.stream": "true",
				"gen_ai.request.max_tokens": "500", "gen_ai.conversation.id": "test:a", "gen_ai.response.finish_reasons": "[tool_call]",
				"gen_ai.usage.cache_read.input_tokens": "0", "gen_ai.usage.cache_creation.input_tokens": "0", "parley.usage.cost_usd": "0",
			},
		},
		{
			kind: tracepb.Span_SPAN_KIND_INTERNAL, any: []string{"gen_ai.tool.call.id"},
			want: map[string]string{
				"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "echo", "gen_ai.tool.type": "function", "gen_ai.conversation.id": "test:a",
			},
		},
	} {
		got := all[i].attributes()
		for _, name := range test.any {
			if got[name] == "" || got[name] == "0" {
				t.Errorf("%s has %s = %q", all[i].GetName(), name, got[name])
			}
			delete(got, name)
		}
		if all[i].GetKind() != test.kind || !maps.Equal(got, test.want) {
			t.Errorf("%s is %s with\n%v, want\n%v", all[i].GetName(), all[i].GetKind(), got, test.want)
		}
	}
	if last := all[len(all)-1]; last.attributes()["gen_ai.response.finish_reasons"] != "[stop]" {
		t.Errorf("the last answer has %v", last.attributes())
	}
}
