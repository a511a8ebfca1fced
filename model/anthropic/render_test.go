package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/anthropic"
)

// body is a request as the server got it.
type body struct {
	MaxTokens    int               `json:"max_tokens"`
	Thinking     json.RawMessage   `json:"thinking"`
	OutputConfig json.RawMessage   `json:"output_config"`
	System       json.RawMessage   `json:"system"`
	Tools        json.RawMessage   `json:"tools"`
	Messages     []json.RawMessage `json:"messages"`
}

// sent gives the last request that the server got.
func sent(t testing.TB, s *modelserver.Server) body {
	t.Helper()
	requests := s.Requests()
	var b body
	if err := json.Unmarshal(requests[len(requests)-1].Body, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// sketch gives messages in short: a letter for the role, then the blocks.
func sketch(t testing.TB, messages []json.RawMessage) []string {
	t.Helper()
	var out []string
	for _, raw := range messages {
		var m struct {
			Role    string
			Content []map[string]any
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		line := m.Role[:1]
		for _, b := range m.Content {
			line += " " + sketchBlock(b)
		}
		out = append(out, line)
	}
	return out
}

func sketchBlock(b map[string]any) string {
	mark := ""
	if b["cache_control"] != nil {
		mark = "*"
	}
	switch b["type"] {
	case "text":
		return fmt.Sprintf("%q%s", b["text"], mark)
	case "tool_use":
		input, _ := json.Marshal(b["input"])
		return fmt.Sprintf("%v=%v%s%s", b["id"], b["name"], input, mark)
	case "tool_result":
		content, _ := b["content"].([]any)
		line := fmt.Sprintf("%v:", b["tool_use_id"])
		for _, c := range content {
			inner, _ := c.(map[string]any)
			line += sketchBlock(inner)
		}
		if b["is_error"] == true {
			line += "!"
		}
		return line + mark
	case "image":
		source, _ := b["source"].(map[string]any)
		return fmt.Sprintf("%v%s", source["media_type"], mark)
	}
	return fmt.Sprint(b["type"]) + mark
}

const (
	pngBytes = "\x89PNG\r\n\x1a\n0123456789"
	gifBytes = "GIF89a0123456789"
)

func mediaPart(name, kind, data string) parley.ModelPart {
	return parley.ModelPart{
		Part: parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: "h", Type: kind, Name: name}}, Data: []byte(data),
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	const (
		u, a, tool, sys = parley.MessageUser, parley.MessageAssistant, parley.MessageTool, parley.MessageSystem
	)
	text := parley.TextPart
	withData := func(p parley.Part, data string) parley.ModelPart {
		return parley.ModelPart{Part: p, Data: []byte(data)}
	}
	photo := &parley.Media{Handle: "h", Type: "image/png", Name: "p.png"}
	for name, c := range map[string]struct {
		messages []parley.ModelMessage
		want     []string
	}{
		"one": {[]parley.ModelMessage{user("Hi")}, []string{`u "Hi"*`}},
		"in turns": {
			[]parley.ModelMessage{user("Hi"), message(a, text("Hello")), user("Bye")},
			[]string{`u "Hi"`, `a "Hello"`, `u "Bye"*`},
		},
		"in a row": {
			[]parley.ModelMessage{user("1"), user("2"), message(a, text("3")), message(a, text("4")), user("5")},
			[]string{`u "1" "2"`, `a "3" "4"`, `u "5"*`},
		},
		"a note from the system": {
			[]parley.ModelMessage{user("Hi"), message(sys, text("It rains."))},
			[]string{`u "Hi" "[Note from the system, not from a person]\nIt rains.\n[End of the note]"*`},
		},
		"results come first": {
			[]parley.ModelMessage{
				user("Hi"), message(a, text("Wait"), callPart("c1", "f", `{"a":1}`), callPart("c2", "g", `{}`)),
				message(tool, resultPart(parley.ToolResult{CallID: "c1", Text: "one"})), user("Hurry"),
				message(tool, resultPart(parley.ToolResult{CallID: "c2", Text: "two", IsError: true})),
			},
			[]string{`u "Hi"`, `a "Wait" c1=f{"a":1} c2=g{}`, `u c1:"one" c2:"two"! "Hurry"*`},
		},
		"a call without a result": {
			[]parley.ModelMessage{user("Hi"), message(a, callPart("c1", "f", `{}`)), user("And?")},
			[]string{`u "Hi"`, `a c1=f{}`, fmt.Sprintf(`u c1:%q! "And?"*`, parley.NoResult)},
		},
		"calls at the end": {
			[]parley.ModelMessage{user("Hi"), message(a, callPart("c1", "f", `{}`))},
			[]string{`u "Hi"`, `a c1=f{}`, fmt.Sprintf(`u c1:%q!*`, parley.NoResult)},
		},
		"an outcome nobody knows": {
			[]parley.ModelMessage{user("Hi"), message(a, callPart("c1", "f", `{}`)), message(tool, resultPart(parley.ToolResult{CallID: "c1", Unknown: true}))},
			[]string{`u "Hi"`, `a c1=f{}`, `u c1:"The outcome of this call is not known: the program stopped while it ran. It may or may not have had its effect."!*`},
		},
		"no output": {
			[]parley.ModelMessage{user("Hi"), message(a, callPart("c1", "f", `{}`)), message(tool, resultPart(parley.ToolResult{CallID: "c1"}))},
			[]string{`u "Hi"`, `a c1=f{}`, `u c1:"(There is no output.)"*`},
		},
		"a result of nothing": {
			[]parley.ModelMessage{message(tool, resultPart(parley.ToolResult{CallID: "c9", Text: "x"}))},
			[]string{`u "[Result of a call that is not shown]\nx"*`},
		},
		"ids and names that the API does not take": {
			[]parley.ModelMessage{
				user("Hi"), message(a, callPart("a.b/1", "do it, ü!", `{}`), callPart("x", "f", `{}`)), user("Go"),
				message(a, callPart("x", strings.Repeat("n", 99), `{}`)), user("Go"),
			},
			[]string{
				`u "Hi"`, `a call_823be6fc0400f85d1dfed7a2810350f8=do_it____{} x=f{}`,
				fmt.Sprintf(`u call_823be6fc0400f85d1dfed7a2810350f8:%q! x:%q! "Go"`, parley.NoResult, parley.NoResult),
				`a x_2=` + strings.Repeat("n", 64) + `{}`, fmt.Sprintf(`u x_2:%q! "Go"*`, parley.NoResult),
			},
		},
		"arguments that are no object": {
			[]parley.ModelMessage{
				user("Hi"), message(a, callPart("1", "f", ``), callPart("2", "f", `null`), callPart("3", "f", `[1, 2]`), callPart("4", "f", `"{cut"`), callPart("5", "f", `{bad`)),
			},
			[]string{
				`u "Hi"`, `a 1=f{} 2=f{} 3=f{"arguments":[1,2]} 4=f{"arguments":"{cut"} 5=f{"arguments":"{bad"}`,
				fmt.Sprintf(`u 1:%[1]q! 2:%[1]q! 3:%[1]q! 4:%[1]q! 5:%[1]q!*`, parley.NoResult),
			},
		},
		"nothing in it": {
			[]parley.ModelMessage{user(""), user("Hi"), message(a, text(" \n")), user("there"), message(a), message(tool), user("\t")},
			[]string{`u "Hi" "there"*`},
		},
		"reasoning of nobody's": {
			[]parley.ModelMessage{user("Hi"), message(a, parley.Part{Kind: parley.PartReasoning, Text: "hm"}), user("there")},
			[]string{`u "Hi" "there"*`},
		},
		"the assistant begins": {
			[]parley.ModelMessage{message(a, text("Welcome")), user("Hi")},
			[]string{`u "(The conversation begins with what the assistant said.)"`, `a "Welcome"`, `u "Hi"*`},
		},
		"the assistant ends": {
			[]parley.ModelMessage{user("Hi"), message(a, text("Once upon a time "))},
			[]string{`u "Hi"`, `a "Once upon a time "`, `u "(Please go on.)"*`},
		},
		"pictures": {
			[]parley.ModelMessage{{Role: u, Parts: []parley.ModelPart{
				mediaPart("p.png", "image/png", pngBytes), mediaPart("says.jpg", "image/jpeg", gifBytes), mediaPart("d.pdf", "application/pdf", "%PDF-1.7"),
				mediaPart("", "image/png", ""), mediaPart("big.png", "image/png", pngBytes+strings.Repeat("x", 4<<20)),
			}}},
			[]string{`u image/png image/gif "[File \"d.pdf\", of type application/pdf]" "[File without a name, of type image/png]" "[File \"big.png\", of type image/png, too large to be shown]"*`},
		},
		"pictures of tools": {
			[]parley.ModelMessage{
				user("Hi"), message(a, callPart("1", "f", `{}`), callPart("2", "f", `{}`), callPart("3", "f", `{}`)),
				{Role: tool, Parts: []parley.ModelPart{
					withData(resultPart(parley.ToolResult{CallID: "1", Text: "see", Media: photo}), pngBytes),
					withData(resultPart(parley.ToolResult{CallID: "2", Media: photo, IsError: true}), pngBytes),
					withData(resultPart(parley.ToolResult{CallID: "3", Media: photo}), "?"),
				}},
			},
			[]string{`u "Hi"`, `a 1=f{} 2=f{} 3=f{}`, `u 1:"see"image/png 2:"[File \"p.png\", of type image/png]"! 3:"[File \"p.png\", of type image/png]"*`},
		},
		"parts where they do not belong": {
			[]parley.ModelMessage{
				message(u, callPart("1", "f", `{}`)),
				{Role: a, Parts: []parley.ModelPart{mediaPart("p.png", "image/png", pngBytes), {Part: resultPart(parley.ToolResult{CallID: "1", Text: "x"})}}},
				user("Hi"),
			},
			[]string{`u "[Call of f: {}]"`, `a "[File \"p.png\", of type image/png]" "[Result of a call that is not shown]\nx"`, `u "Hi"*`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"ok"}}))
			ask(t, model(t, s, nil), parley.ModelRequest{Messages: c.messages})
			if diff := cmp.Diff(c.want, sketch(t, sent(t, s).Messages)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNothingToAnswer(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, nil)
	for _, messages := range [][]parley.ModelMessage{nil, {user(" ")}, {message(parley.MessageAssistant, parley.Part{Kind: parley.PartReasoning, Text: "hm"})}} {
		a := collect(t, model(t, s, nil).Stream(t.Context(), parley.ModelRequest{System: "x", Messages: messages}))
		if parley.CodeOf(a.err) != parley.CodeInvalid || len(s.Requests()) > 0 {
			t.Errorf("got %v", a.err)
		}
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"ok"}}))
	req := parley.ModelRequest{Messages: []parley.ModelMessage{user("Hi")}, Tools: []parley.ToolSpec{
		{Name: "z", Description: "Does it.", Schema: json.RawMessage("{ \"type\": \"object\",\n \"properties\": {\"b\": {}, \"a\": {}} }")},
		{Name: "a", Schema: json.RawMessage(`{"properties":{}}`)},
		{Name: "none"},
		{Name: "empty", Schema: json.RawMessage(`{}`)},
	}}
	const (
		first = `[{"input_schema":{"type":"object","properties":{"b":{},"a":{}}},"name":"z","description":"Does it."},` +
			`{"input_schema":{"type":"object","properties":{}},"name":"a"},{"input_schema":{"type":"object"},"name":"none"},` +
			`{"input_schema":{"type":"object"},"name":"empty"`
		marker = `,"cache_control":{"type":"ephemeral"}`
	)
	ask(t, model(t, s, nil), req)
	if got := string(sent(t, s).Tools); got != first+marker+"}]" {
		t.Errorf("without a system prompt: got %s", got)
	}
	req.System = "Be brief."
	ask(t, model(t, s, nil), req)
	if got := string(sent(t, s).Tools); got != first+"}]" {
		t.Errorf("with a system prompt: got %s", got)
	}
	if got := string(sent(t, s).System); got != `[{"text":"Be brief."`+marker+`,"type":"text"}]` {
		t.Errorf("got %s", got)
	}
	for _, schema := range []string{`[]`, `null`, `{`, `{"type":"string"}`} {
		req.Tools = []parley.ToolSpec{{Name: "bad", Schema: json.RawMessage(schema)}}
		a := collect(t, model(t, s, nil).Stream(t.Context(), req))
		if parley.CodeOf(a.err) != parley.CodeInvalid || !strings.Contains(a.err.Error(), `"bad"`) {
			t.Errorf("%s: got %v", schema, a.err)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config   anthropic.Config
		tokens   int
		want     int
		thinking string
	}{
		"the default":           {anthropic.Config{Model: currentModel}, 0, 16_384, ``},
		"asked for":             {anthropic.Config{Model: currentModel}, 100, 100, ``},
		"too much":              {anthropic.Config{Model: currentModel}, 1_000_000, 128_000, ``},
		"an unknown model":      {anthropic.Config{Model: "other"}, 0, 8_192, ``},
		"a small one":           {anthropic.Config{Model: "other", Info: parley.ModelInfo{MaxOutput: 500}}, 0, 500, ``},
		"a budget":              {anthropic.Config{Model: budgetModel, Thinking: 4096}, 0, 16_384 + 4096, `{"budget_tokens":4096,"type":"enabled"}`},
		"a budget for a small":  {anthropic.Config{Model: "other", Thinking: 4096, Info: parley.ModelInfo{MaxOutput: 4096}}, 0, 4096, `{"budget_tokens":2048,"type":"enabled"}`},
		"no room for a budget":  {anthropic.Config{Model: budgetModel, Thinking: 4096}, 2000, 2000, ``},
		"some room":             {anthropic.Config{Model: budgetModel, Thinking: 4096}, 4000, 4000, `{"budget_tokens":2000,"type":"enabled"}`},
		"thinking by itself":    {anthropic.Config{Model: currentModel, Thinking: 4096}, 0, 16_384, `{"display":"summarized","type":"adaptive"}`},
		"a Claude of tomorrow":  {anthropic.Config{Model: "claude-opus-9", Thinking: 4096}, 0, 8_192, `{"display":"summarized","type":"adaptive"}`},
		"another's budget":      {anthropic.Config{Model: "other", Thinking: 4096}, 0, 8_192 + 4096, `{"budget_tokens":4096,"type":"enabled"}`},
		"effort is no thinking": {anthropic.Config{Model: currentModel, Effort: "low"}, 0, 16_384, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"ok"}}))
			m := model(t, s, func(cfg *anthropic.Config) {
				cfg.Model, cfg.Thinking, cfg.Info, cfg.Effort = c.config.Model, c.config.Thinking, c.config.Info, c.config.Effort
			})
			req := hello()
			req.MaxTokens = c.tokens
			ask(t, m, req)
			got := sent(t, s)
			if got.MaxTokens != c.want || string(got.Thinking) != c.thinking {
				t.Errorf("got %d tokens and thinking %s", got.MaxTokens, got.Thinking)
			}
			if want := map[string]string{"": "", "low": `{"effort":"low"}`}[c.config.Effort]; string(got.OutputConfig) != want {
				t.Errorf("got %s", got.OutputConfig)
			}
		})
	}
}

// TestRequestsBeginAlike looks at the bytes of requests that grow: each begins
// with the one before, up to where that one's turn began, and so does what is
// sent of the system prompt and the tools.
func TestRequestsBeginAlike(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"ok"}}))
	m := model(t, s, nil)
	req := parley.ModelRequest{System: "Be brief.", Tools: []parley.ToolSpec{{Name: "f", Schema: json.RawMessage(`{"type":"object"}`)}}}
	photo := &parley.Media{Handle: "h", Type: "image/png"}
	turns := [][]parley.ModelMessage{
		{user("First & <second>"), message(parley.MessageAssistant, parley.TextPart("Yes "))},
		{
			user("See"), message(parley.MessageAssistant, parley.TextPart("I look."), callPart("c.1", "f", `{"z":1,"a":2}`)),
			{Role: parley.MessageTool, Parts: []parley.ModelPart{{Part: resultPart(parley.ToolResult{CallID: "c.1", Text: "x", Media: photo}), Data: []byte(pngBytes)}}},
		},
		{message(parley.MessageSystem, parley.TextPart("A day later.")), user("Again"), message(parley.MessageAssistant, callPart("c.1", "f", `{}`))},
		{{Role: parley.MessageUser, Parts: []parley.ModelPart{mediaPart("p.png", "image/png", pngBytes)}}, message(parley.MessageAssistant, parley.TextPart("Nice."))},
		{user("Thanks")},
	}
	var shared []string // what each request must begin with
	for _, turn := range turns {
		req.Messages = append(req.Messages, turn...)
		ask(t, m, req)
		raw := s.Requests()[len(s.Requests())-1].Body
		for i, want := range shared {
			if !bytes.HasPrefix(raw, []byte(want)) {
				t.Errorf("request %d does not begin like request %d:\n%s\n%s", len(shared)+1, i+1, raw, want)
			}
		}
		at := bytes.LastIndex(raw, begins(turn[0]))
		if at < 0 {
			t.Fatalf("the turn is not in %s", raw)
		}
		shared = append(shared, string(raw[:at]))
		b := sent(t, s)
		if n := bytes.Count(raw, []byte(`"cache_control"`)); n != 2 || !bytes.Contains(b.Messages[len(b.Messages)-1], []byte(`"cache_control"`)) {
			t.Errorf("%d markers in %s", n, raw)
		}
		if first := s.Requests()[0].Body; !bytes.Equal(tail(raw), tail(first)) {
			t.Errorf("what stands beside the messages differs: %s, %s", tail(raw), tail(first))
		}
	}
	if first, last := len(shared[0]), len(shared[len(shared)-1]); last < first+500 {
		t.Errorf("the requests have next to nothing in common: %d and %d bytes", first, last)
	}
}

// begins gives the bytes with which a message of the test begins in a request.
func begins(m parley.ModelMessage) []byte {
	switch p := m.Parts[0]; {
	case p.Media != nil:
		return []byte(`{"source":{"data":"`)
	case m.Role == parley.MessageSystem:
		return []byte(`[Note from the system`)
	default:
		return []byte(`"` + strings.Fields(p.Text)[0])
	}
}

// tail gives what follows the messages: the model, the system prompt, the tools.
func tail(raw []byte) []byte {
	_, rest, _ := bytes.Cut(raw, []byte(`"model":`))
	return rest
}
