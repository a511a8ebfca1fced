package openai_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/openai"
)

// sent asks a strict server and gives the body that it got.
func sent(t *testing.T, req parley.ModelRequest, change func(*openai.Config)) map[string]any {
	t.Helper()
	s := modelserver.OpenAI(t, always(text))
	if _, err := collect(t, model(t, s, change).Stream(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(s.Requests()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// media is a part with the bytes of a file.
func media(kind, name, data string) parley.ModelPart {
	return parley.ModelPart{
		Part: parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: "h", Type: kind, Name: name, Size: int64(len(data))}},
		Data: []byte(data),
	}
}

// shown is a result with the bytes of a file.
func shown(id, text, kind, data string) parley.ModelPart {
	p := result(id, text)
	p.Result.Media = &parley.Media{Handle: "h", Type: kind, Size: int64(len(data))}
	return parley.ModelPart{Part: p, Data: []byte(data)}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	png := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("pixels"))
	long := strings.Repeat("i", 200)
	failed := result("b", "no such file")
	failed.Result.IsError = true
	unknown := result("c", "")
	unknown.Result.Unknown = true
	type parts = []parley.ModelPart
	for _, c := range []struct {
		name     string
		system   string
		messages []parley.ModelMessage
		config   func(*openai.Config)
		want     string
	}{
		{name: "system and text", system: "Be kind.", messages: []parley.ModelMessage{
			message(parley.MessageUser, parley.TextPart("a"), parley.TextPart(""), parley.TextPart("<b>&")),
			message(parley.MessageAssistant, parley.Part{Kind: parley.PartReasoning, Text: "hm"}, parley.TextPart("c")),
			message(parley.MessageSystem, parley.TextPart("It is late.")),
			message(parley.MessageUser, parley.TextPart("d")),
		}, want: `[{"role":"system","content":"Be kind."},{"role":"user","content":"a\n<b>&"},{"role":"assistant","content":"c"},
			{"role":"system","content":"It is late."},{"role":"user","content":"d"}]`},
		{name: "empty ones are left out", messages: []parley.ModelMessage{
			message(parley.MessageUser), message(parley.MessageUser, parley.TextPart("")), message(parley.MessageSystem),
			message(parley.MessageAssistant), message(parley.MessageAssistant, parley.Part{Kind: parley.PartReasoning, Text: "hm"}),
			message(parley.MessageUser, parley.TextPart("x")),
		}, want: `[{"role":"user","content":"x"}]`},
		{name: "images", messages: []parley.ModelMessage{
			{Role: parley.MessageUser, Parts: parts{{Part: parley.TextPart("look")}, media("IMAGE/PNG; x=y", "", "pixels"), media("application/pdf", "a \"b\".pdf", "%PDF"), media("image/png", "gone.png", "")}},
			{Role: parley.MessageUser, Parts: parts{media("image/svg+xml", "x.svg", "<svg/>")}},
			{Role: parley.MessageAssistant, Parts: parts{media("image/png", "", "pixels")}},
		}, want: `[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"` + png + `"}},
			{"type":"text","text":"[A file of type application/pdf named \"a \\\"b\\\".pdf\", 4 bytes, which cannot be shown here.]"},
			{"type":"text","text":"[A file of type image/png named \"gone.png\", which cannot be shown here.]"}]},
			{"role":"user","content":"[A file of type image/svg+xml named \"x.svg\", 6 bytes, which cannot be shown here.]"},
			{"role":"assistant","content":"[A file of type image/png, 6 bytes, which cannot be shown here.]"}]`},
		{name: "no images", config: func(c *openai.Config) { c.NoImages = true }, messages: []parley.ModelMessage{
			{Role: parley.MessageUser, Parts: parts{{Part: parley.TextPart("look")}, media("image/png", "", "pixels")}},
		}, want: `[{"role":"user","content":"look\n[A file of type image/png, 6 bytes, which cannot be shown here.]"}]`},
		{name: "calls", messages: []parley.ModelMessage{
			message(parley.MessageAssistant, parley.TextPart("I try."), call("a", "f", `{ "x": "<" }`), call("b", "g", ``), call("c", "h", `"{\"broken\": <"`)),
			message(parley.MessageTool, result("a", "fine")), message(parley.MessageTool, failed, unknown),
			message(parley.MessageUser, parley.TextPart("and?")),
		}, want: `[{"role":"assistant","content":"I try.","tool_calls":[
			{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":\"<\"}"}},
			{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}},
			{"id":"c","type":"function","function":{"name":"h","arguments":"{\"broken\": <"}}]},
			{"role":"tool","tool_call_id":"a","content":"fine"},
			{"role":"tool","tool_call_id":"b","content":"This call has failed.\nno such file"},
			{"role":"tool","tool_call_id":"c","content":"The outcome of this call is not known: the process ended while it ran. It may or may not have had its effect."},
			{"role":"user","content":"and?"}]`},
		{name: "ids and names that the API does not take", messages: []parley.ModelMessage{
			message(parley.MessageAssistant, call(long, "dots.and spaces/ü", `{}`), call("", "", `{}`), call("", strings.Repeat("n", 100), `{}`), call("x", "f", `{}`), call("x", "f", `{}`)),
			message(parley.MessageTool, result(long, "1"), result("", "2"), result("", "3"), result("x", "4"), result("x", "5")),
		}, want: `[{"role":"assistant","tool_calls":[
			{"id":"call_0eedd8a6f14dd5e6a1a81b9c5dbcd8e6","type":"function","function":{"name":"dots_and_spaces__","arguments":"{}"}},
			{"id":"call_2","type":"function","function":{"name":"unnamed","arguments":"{}"}},
			{"id":"call_3","type":"function","function":{"name":"` + strings.Repeat("n", 64) + `","arguments":"{}"}},
			{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}},
			{"id":"call_#","type":"function","function":{"name":"f","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"call_#","content":"1"},{"role":"tool","tool_call_id":"call_2","content":"2"},
			{"role":"tool","tool_call_id":"call_3","content":"3"},{"role":"tool","tool_call_id":"x","content":"4"},
			{"role":"tool","tool_call_id":"call_#","content":"5"}]`},
		{name: "results out of place", messages: []parley.ModelMessage{
			message(parley.MessageTool, result("z", "of nothing")),
			message(parley.MessageAssistant, call("a", "f", `{}`), call("b", "f", `{}`)),
			message(parley.MessageUser, parley.TextPart("wait")),
			message(parley.MessageTool, result("b", "late"), result("y", "of nothing")),
			message(parley.MessageAssistant, call("a", "f", `{}`)),
		}, want: `[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"This call has failed.\n` + parley.NoResult + `"},{"role":"tool","tool_call_id":"b","content":"late"},
			{"role":"user","content":"wait"},
			{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"This call has failed.\n` + parley.NoResult + `"}]`},
		{name: "media of results", messages: []parley.ModelMessage{
			message(parley.MessageAssistant, call("a", "shoot", `{}`), call("b", "read", `{}`), call("c", "draw", `{}`), call("d", "rest", `{}`)),
			{Role: parley.MessageTool, Parts: parts{shown("a", "done", "image/png", "pixels")}},
			{Role: parley.MessageTool, Parts: parts{shown("b", "", "application/pdf", "%PDF")}},
			{Role: parley.MessageTool, Parts: parts{shown("c", "", "image/png", "pixels"), {Part: parley.TextPart("by the way")}}},
			message(parley.MessageTool, result("d", "")),
			message(parley.MessageAssistant, parley.TextPart("nice")),
		}, want: `[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"shoot","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}},
			{"id":"c","type":"function","function":{"name":"draw","arguments":"{}"}},{"id":"d","type":"function","function":{"name":"rest","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"done\nThe image follows in the next message."},
			{"role":"tool","tool_call_id":"b","content":"[A file of type application/pdf, 4 bytes, which cannot be shown here.]"},
			{"role":"tool","tool_call_id":"c","content":"The image follows in the next message."},
			{"role":"tool","tool_call_id":"d","content":"(no output)"},
			{"role":"user","content":[{"type":"text","text":"by the way"},{"type":"text","text":"The image that shoot gave:"},{"type":"image_url","image_url":{"url":"` + png + `"}},
			{"type":"text","text":"The image that draw gave:"},{"type":"image_url","image_url":{"url":"` + png + `"}}]},
			{"role":"assistant","content":"nice"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body := sent(t, parley.ModelRequest{System: c.system, Messages: c.messages}, c.config)
			var want any
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			// A hashed id is not looked at more closely than that it is one.
			sameID := cmp.FilterValues(func(a, b string) bool {
				return strings.HasPrefix(a, "call_") && strings.HasPrefix(b, "call_") && (len(a) == 37 || len(b) == 37)
			}, cmp.Comparer(func(_, _ string) bool { return true }))
			if diff := cmp.Diff(want, body["messages"], sameID); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	req := user("hi")
	req.MaxTokens = 50_000
	req.CacheKey = "session-1"
	tools := []parley.ToolSpec{{Name: "f", Description: "does <f>", Schema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"number"}},"required":["z"]}`)}, {Name: "g"}}
	withTools := req
	withTools.Tools = tools
	for _, c := range []struct {
		name   string
		req    parley.ModelRequest
		config func(*openai.Config)
		want   string
	}{
		{"openai", req, nil, `{"model":"gpt-5","max_completion_tokens":50000,"prompt_cache_key":"session-1"}`},
		{"openai's limit", req, func(c *openai.Config) { c.Model = "gpt-4o" }, `{"model":"gpt-4o","max_completion_tokens":16384,"prompt_cache_key":"session-1"}`},
		{"compatible", req, func(c *openai.Config) { c.Dialect = openai.DialectAuto }, `{"model":"gpt-5","max_tokens":50000}`},
		{"its limit", req, func(c *openai.Config) { c.Dialect, c.Info.MaxOutput = openai.DialectCompatible, 100 }, `{"model":"gpt-5","max_tokens":100}`},
		{"no wishes", user("hi"), func(c *openai.Config) { c.NoUsage = true }, `{"model":"gpt-5"}`},
		{"effort", user("hi"), func(c *openai.Config) { c.ReasoningEffort = "high" }, `{"model":"gpt-5","reasoning_effort":"high"}`},
		{"tools", withTools, nil, `{"model":"gpt-5","max_completion_tokens":50000,"prompt_cache_key":"session-1","tools":[
			{"type":"function","function":{"name":"f","description":"does <f>","parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"number"}},"required":["z"]}}},
			{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}]}`},
		{
			"tools that allow no reasoning",
			parley.ModelRequest{Messages: req.Messages, Tools: tools[1:]},
			func(c *openai.Config) { c.Model = "gpt-5.6-terra" },
			`{"model":"gpt-5.6-terra","reasoning_effort":"none","tools":[{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}]}`,
		},
		{"no tools, so it reasons", user("hi"), func(c *openai.Config) { c.Model = "gpt-5.6-terra" }, `{"model":"gpt-5.6-terra"}`},
		{
			"an effort that was asked for stays",
			parley.ModelRequest{Messages: req.Messages, Tools: tools[1:]},
			func(c *openai.Config) { c.Model, c.ReasoningEffort = "gpt-5.6-terra", "low" },
			`{"model":"gpt-5.6-terra","reasoning_effort":"low","tools":[{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body := sent(t, c.req, c.config)
			var want map[string]any
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			want["stream"], want["messages"] = true, []any{map[string]any{"role": "user", "content": "hi"}}
			if c.name != "no wishes" {
				want["stream_options"] = map[string]any{"include_usage": true}
			}
			if diff := cmp.Diff(want, body); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCacheKeyIsShort(t *testing.T) {
	t.Parallel()
	req := user("hi")
	req.CacheKey = strings.Repeat("k", 65)
	if key, ok := sent(t, req, nil)["prompt_cache_key"].(string); !ok || len(key) != 64 || key == req.CacheKey[:64] {
		t.Errorf("the key is %q", key)
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		``:                    `{"type":"object","properties":{}}`,
		` null `:              `{"type":"object","properties":{}}`,
		`{ }`:                 `{"type":"object","properties":{}}`,
		`{"type":"object"}`:   `{"properties":{},"type":"object"}`,
		`{"properties": {} }`: `{"type":"object","properties":{}}`,
		`{"z":1,"type":"object","properties":{"q":{}},"a":2}`: `{"z":1,"type":"object","properties":{"q":{}},"a":2}`,
	} {
		s := modelserver.OpenAI(t, always(text))
		req := user("hi")
		req.Tools = []parley.ToolSpec{{Name: "f", Schema: json.RawMessage(schema)}}
		if _, err := collect(t, model(t, s, nil).Stream(t.Context(), req)); err != nil {
			t.Fatal(err)
		}
		if body := string(s.Requests()[0].Body); !strings.Contains(body, `"parameters":`+want+`}`) {
			t.Errorf("%q became %s", schema, body)
		}
	}
}

func TestRequestsThatCannotBe(t *testing.T) {
	t.Parallel()
	s := modelserver.OpenAI(t, always(text))
	bad := user("hi")
	bad.Tools = []parley.ToolSpec{{Name: "f", Schema: json.RawMessage(`[1]`)}}
	for name, req := range map[string]parley.ModelRequest{"no message": {}, "no schema": bad} {
		if _, err := collect(t, model(t, s, nil).Stream(t.Context(), req)); parley.CodeOf(err) != parley.CodeInvalid {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
