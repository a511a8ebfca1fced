package anthropic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/anthropic"
)

// thinker is a server whose model thinks and calls a tool until it has a result.
func thinker(t testing.TB, reasoning ...string) *modelserver.Server {
	n := 0
	return modelserver.Anthropic(t, func(modelserver.Request) modelserver.Reply {
		n++
		id := strings.Repeat("c", n)
		return modelserver.Reply{Reasoning: reasoning, Calls: []modelserver.Call{{ID: id, Name: "f"}}}
	})
}

// goOn adds to req what the model said, as a runner does, and the results.
func goOn(req parley.ModelRequest, a answer) parley.ModelRequest {
	said := parley.ModelMessage{Role: parley.MessageAssistant}
	heard := parley.ModelMessage{Role: parley.MessageTool}
	text := ""
	for _, p := range a.pieces {
		switch {
		case p.Opaque != nil:
			said.Parts = append(said.Parts, parley.ModelPart{Part: parley.Part{Kind: parley.PartReasoning, Text: text}, Opaque: p.Opaque})
			text = ""
		case p.Kind == parley.PartReasoning:
			text += p.Text
		case p.Call != nil:
			said.Parts = append(said.Parts, parley.ModelPart{Part: parley.Part{Kind: parley.PartToolCall, Call: p.Call}})
			heard.Parts = append(heard.Parts, parley.ModelPart{Part: resultPart(parley.ToolResult{CallID: p.Call.ID, Text: "ok"})})
		}
	}
	req.Messages = append(slices.Clone(req.Messages), said, heard)
	return req
}

// TestThinkingGoesBack has rounds of calls with both kinds of models. The server
// takes no thought that it did not sign, and of the later model none that stands
// elsewhere.
func TestThinkingGoesBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model     string
		thinking  int
		reasoning []string
		want      string
	}{
		"with a budget":        {budgetModel, 2048, []string{"Hm, ", "so."}, "thinking"},
		"by itself":            {currentModel, 1024, []string{"Hm, ", "so."}, "thinking"},
		"unasked and unshown":  {currentModel, 0, []string{""}, "thinking"},
		"unasked by another's": {"imitation", 0, []string{"Hm"}, "thinking"},
		"hidden":               {budgetModel, 2048, []string{modelserver.AnthropicRedacted + "x"}, "redacted_thinking"},
		"both":                 {currentModel, 1024, []string{"Hm", modelserver.AnthropicRedacted + "x"}, "thinking redacted_thinking"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := thinker(t, c.reasoning...)
			m := model(t, s, func(cfg *anthropic.Config) { cfg.Model, cfg.Thinking = c.model, c.thinking })
			req := hello()
			req.Tools = []parley.ToolSpec{{Name: "f"}}
			for range 3 {
				req = goOn(req, ask(t, m, req))
			}
			want := []string{
				`u "Hello"`, `a ` + c.want + ` c=f{}`, `u c:"ok"`, `a ` + c.want + ` cc=f{}`, `u cc:"ok"*`,
			}
			got := sent(t, s)
			if diff := cmp.Diff(want, sketch(t, got.Messages)); diff != "" {
				t.Error(diff)
			}
			if (len(got.Thinking) > 0) != (c.thinking > 0) {
				t.Errorf("got thinking %s", got.Thinking)
			}
		})
	}
}

// TestThinkingThatIsLeftOut changes something between two rounds. The thoughts
// go, the turn goes on.
func TestThinkingThatIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*parley.ModelRequest, *anthropic.Config)
		left   bool // the thought stays
	}{
		"nothing":    {func(*parley.ModelRequest, *anthropic.Config) {}, true},
		"a message":  {func(r *parley.ModelRequest, _ *anthropic.Config) { r.Messages = append(r.Messages, user("Hurry")) }, true},
		"the prompt": {func(r *parley.ModelRequest, _ *anthropic.Config) { r.System += " Please." }, false},
		"the tools": {func(r *parley.ModelRequest, _ *anthropic.Config) {
			r.Tools = append(r.Tools, parley.ToolSpec{Name: "g"})
		}, false},
		"the past": {func(r *parley.ModelRequest, _ *anthropic.Config) { r.Messages[0] = user("Hi") }, false},
		"more past": {func(r *parley.ModelRequest, _ *anthropic.Config) {
			r.Messages = append([]parley.ModelMessage{user("Hi")}, r.Messages...)
		}, false},
		"the model":  {func(_ *parley.ModelRequest, c *anthropic.Config) { c.Model = "claude-opus-5-5" }, false},
		"the text":   {func(r *parley.ModelRequest, _ *anthropic.Config) { r.Messages[1].Parts[0].Text += "!" }, false},
		"the opaque": {func(r *parley.ModelRequest, _ *anthropic.Config) { r.Messages[1].Parts[0].Opaque = []byte("{") }, false},
		"someone else": {func(r *parley.ModelRequest, _ *anthropic.Config) {
			r.Messages[1].Parts[0].Opaque = []byte(`{"id":"rs_1"}`)
		}, false},
	} {
		for _, id := range []string{currentModel, budgetModel} {
			t.Run(name+" of "+id, func(t *testing.T) {
				t.Parallel()
				s := thinker(t, "Hm")
				cfg := anthropic.Config{Model: id}
				req := hello()
				req = goOn(req, ask(t, model(t, s, func(c *anthropic.Config) { c.Model, c.Thinking = id, 2048 }), req))
				c.change(&req, &cfg)
				ask(t, model(t, s, func(c *anthropic.Config) { c.Model, c.Thinking = cfg.Model, 2048 }), req)
				got := sent(t, s)
				if left := strings.Contains(strings.Join(sketch(t, got.Messages), "\n"), "a thinking c="); left != c.left {
					t.Errorf("got %s", sketch(t, got.Messages))
				}
				// Who takes a budget cannot think on without the thought.
				if want := c.left || cfg.Model != budgetModel; (len(got.Thinking) > 0) != want {
					t.Errorf("got thinking %s", got.Thinking)
				}
			})
		}
	}
}

// TestThinkingBetweenModels has a round by another model between two of one that
// takes a budget: the older thought goes as well.
func TestThinkingBetweenModels(t *testing.T) {
	t.Parallel()
	s := thinker(t, "Hm")
	m := model(t, s, func(c *anthropic.Config) { c.Model, c.Thinking = budgetModel, 2048 })
	req := hello()
	req = goOn(req, ask(t, m, req))
	req.Messages = append(req.Messages,
		message(parley.MessageAssistant, callPart("other", "f", `{}`)),
		message(parley.MessageTool, resultPart(parley.ToolResult{CallID: "other", Text: "ok"})))
	ask(t, m, req)
	got := sent(t, s)
	want := []string{`u "Hello"`, `a c=f{}`, `u c:"ok"`, `a other=f{}`, `u other:"ok"*`}
	if diff := cmp.Diff(want, sketch(t, got.Messages)); diff != "" || len(got.Thinking) > 0 {
		t.Errorf("thinking %s, %s", got.Thinking, diff)
	}
	// With the next person's word it can think again.
	req.Messages = append(req.Messages, message(parley.MessageAssistant, parley.TextPart("Done.")), user("Thanks"))
	ask(t, m, req)
	if got := sent(t, s); len(got.Thinking) == 0 {
		t.Error("it does not think")
	}
}

// TestThinkingGoesBackWhole loses one of two thoughts. The API takes no part of
// what was thought, so the other one goes as well.
func TestThinkingGoesBackWhole(t *testing.T) {
	t.Parallel()
	for lose := range 2 {
		s := thinker(t, "Hm", modelserver.AnthropicRedacted+"x")
		req := hello()
		req = goOn(req, ask(t, model(t, s, nil), req))
		req.Messages[1].Parts[lose].Opaque = []byte("{}")
		ask(t, model(t, s, nil), req)
		want := []string{`u "Hello"`, `a c=f{}`, `u c:"ok"*`}
		if diff := cmp.Diff(want, sketch(t, sent(t, s).Messages)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestOpaqueIsSmall holds that the text is not stored twice.
func TestOpaqueIsSmall(t *testing.T) {
	t.Parallel()
	s := thinker(t, strings.Repeat("long ", 10_000))
	a := ask(t, model(t, s, nil), hello())
	if len(a.opaque) != 1 || len(a.opaque[0]) > 1000 || !json.Valid(a.opaque[0]) {
		t.Errorf("got %d bytes", len(a.opaque[0]))
	}
}
