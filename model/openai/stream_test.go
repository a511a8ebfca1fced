package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/openai"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, style := range map[string]modelserver.OpenAIStyle{
		"openai": {}, "http2": {TLS: true}, "reasoning": {Reasoning: "reasoning"}, "whole calls": {WholeCalls: true}, "no done": {NoDone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.OpenAILike(t, style, always(modelserver.Reply{
				Reasoning: []string{"Let me ", "think."},
				Text:      []string{"I look ", "it up: <b>&", "\u2028ü"},
				Calls: []modelserver.Call{
					{ID: "call_a", Name: "search", Arguments: `{ "q": "a<b> \u0026 \"c\"", "n": 12345678901234567890 }`},
					{ID: "call_b", Name: "now"},
					{Name: "search", Arguments: `{"q":"second"}`},
				},
				Usage: modelserver.Usage{Input: 1000, CacheRead: 600, CacheWrite: 100, Output: 50},
			}))
			g, err := collect(t, model(t, s, nil).Stream(t.Context(), user("hi")))
			if err != nil {
				t.Fatal(err)
			}
			want := got{
				Reasoning: "Let me think.", Text: "I look it up: <b>&\u2028ü",
				Calls: []parley.ToolCall{
					{ID: "call_a", Name: "search", Arguments: json.RawMessage(`{"q":"a<b> \u0026 \"c\"","n":12345678901234567890}`)},
					{ID: "call_b", Name: "now", Arguments: json.RawMessage(`{}`)},
					{Name: "search", Arguments: json.RawMessage(`{"q":"second"}`)},
				},
				Done: &parley.ModelDone{StopReason: parley.StopDone, Usage: parley.Usage{
					InputTokens: 300, CacheReadTokens: 600, CacheWriteTokens: 100, OutputTokens: 50,
					// (300*1.25 + 600*0.125 + 100*1.25 + 50*10) millionths of a dollar
					CostMicroUSD: 375 + 75 + 125 + 500,
				}},
			}
			if diff := cmp.Diff(want, g); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// line gives an event with one choice.
func line(delta, finish string) string {
	if finish == "" {
		finish = "null"
	} else {
		finish = `"` + finish + `"`
	}
	return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

const done = "data: [DONE]\n\n"

func TestStreams(t *testing.T) {
	t.Parallel()
	args := func(s string) json.RawMessage { return json.RawMessage(s) }
	end := func(r parley.StopReason) *parley.ModelDone { return &parley.ModelDone{StopReason: r} }
	for _, c := range []struct {
		name, body string
		want       got
	}{
		{
			"interleaved", line(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"b","function":{"name":"g"}}]}`, "") +
				line(`{"tool_calls":[{"index":1,"function":{"arguments":"{\"y\":"}}]}`, "") + line(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1"}}]}`, "") +
				line(`{"tool_calls":[{"index":1,"function":{"arguments":"2}"}},{"index":0,"function":{"arguments":"}"}}]}`, "tool_calls") + done,
			got{Calls: []parley.ToolCall{{ID: "a", Name: "f", Arguments: args(`{"x":1}`)}, {ID: "b", Name: "g", Arguments: args(`{"y":2}`)}}, Done: end(parley.StopDone)},
		},
		{
			"id late", line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{"}}]}`, "") + line(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"}"}}]}`, "tool_calls") + done,
			got{Calls: []parley.ToolCall{{ID: "a", Name: "f", Arguments: args(`{}`)}}, Done: end(parley.StopDone)},
		},
		{
			"name late", line(`{"tool_calls":[{"index":0,"id":"a"}]}`, "") + line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}`, "tool_calls") + done,
			got{Calls: []parley.ToolCall{{ID: "a", Name: "f", Arguments: args(`{}`)}}, Done: end(parley.StopDone)},
		},
		{
			"id and name repeat", line(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`, "") +
				line(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]}`, "tool_calls") + done,
			got{Calls: []parley.ToolCall{{ID: "a", Name: "f", Arguments: args(`{"x":1}`)}}, Done: end(parley.StopDone)},
		},
		{
			"name repeats without id", line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\""}}]}`, "") +
				line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":":1}"}}]}`, "tool_calls") + done,
			got{Calls: []parley.ToolCall{{Name: "f", Arguments: args(`{"x":1}`)}}, Done: end(parley.StopDone)},
		},
		{
			"all numbered 0", line(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, "") +
				line(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":1}"}}]}`, "stop") + done,
			got{Calls: []parley.ToolCall{{ID: "a", Name: "f", Arguments: args(`{}`)}, {ID: "b", Name: "f", Arguments: args(`{"x":1}`)}}, Done: end(parley.StopDone)},
		},
		{
			"all numbered 0, no ids", line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}]}`, "") +
				line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}}]}`, "") + line(`{"tool_calls":[{"index":0,"function":{"name":"g","arguments":"{}"}}]}`, "stop") + done,
			got{Calls: []parley.ToolCall{{Name: "f", Arguments: args(`{"x":1}`)}, {Name: "f", Arguments: args(`{"x":2}`)}, {Name: "g", Arguments: args(`{}`)}}, Done: end(parley.StopDone)},
		},
		{
			"no index, pieces by id", line(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}},{"id":"b","function":{"name":"g","arguments":"{"}}]}`, "") +
				line(`{"tool_calls":[{"id":"a","function":{"arguments":"}"}},{"id":"b","function":{"arguments":"}"}}]}`, "stop") + done,
			got{Calls: []parley.ToolCall{{ID: "a", Name: "f", Arguments: args(`{}`)}, {ID: "b", Name: "g", Arguments: args(`{}`)}}, Done: end(parley.StopDone)},
		},
		{
			"arguments as an object", line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":{"x": 1}}}]}`, "tool_calls") + done,
			got{Calls: []parley.ToolCall{{Name: "f", Arguments: args(`{"x":1}`)}}, Done: end(parley.StopDone)},
		},
		{
			"arguments null", line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"null"}}]}`, "tool_calls") + done,
			got{Calls: []parley.ToolCall{{Name: "f", Arguments: args(`{}`)}}, Done: end(parley.StopDone)},
		},
		{
			"arguments no JSON", line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\": <1>"}}]}`, "tool_calls") + done,
			got{Calls: []parley.ToolCall{{Name: "f", Arguments: args(`"{\"x\": <1>"`)}}, Done: end(parley.StopDone)},
		},
		{
			"arguments too deep", line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"`+strings.Repeat("[", 65)+strings.Repeat("]", 65)+`"}}]}`, "tool_calls") + done,
			got{Calls: []parley.ToolCall{{Name: "f", Arguments: args(`"` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `"`)}}, Done: end(parley.StopDone)},
		},
		{
			"function_call", line(`{"function_call":{"name":"f","arguments":"{\"x\""}}`, "") + line(`{"function_call":{"arguments":":1}"}}`, "function_call") + done,
			got{Calls: []parley.ToolCall{{Name: "f", Arguments: args(`{"x":1}`)}}, Done: end(parley.StopDone)},
		},
		{"length", line(`{"content":"half of"}`, "") + line(`{}`, "length") + done, got{Text: "half of", Done: end(parley.StopLength)}},
		{
			"length in a call", line(`{"content":"x","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`, "length") + done,
			got{Text: "x", Done: end(parley.StopLength)},
		},
		{
			"length before arguments", line(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"erase"}}]}`, "length") + done,
			got{Calls: []parley.ToolCall{{ID: "a", Name: "f", Arguments: args(`{}`)}}, Done: end(parley.StopDone)},
		},
		{
			"content filter", line(`{"content":"x","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, "content_filter") + done,
			got{Text: "x", Done: end(parley.StopContentFilter)},
		},
		{"refusal", line(`{"refusal":"I will "}`, "") + line(`{"refusal":"not."}`, "stop") + done, got{Text: "I will not.", Done: end(parley.StopContentFilter)}},
		{"error is null", strings.ReplaceAll(line(`{"content":"x"}`, "stop"), `{"choices"`, `{"error":null,"choices"`) + done, got{Text: "x", Done: end(parley.StopDone)}},
		{
			"comments and other choices", ": PROCESSING\n\n" + line(`{"content":"x"}`, "") + `data: {"choices":[{"index":1,"delta":{"content":"y"},"finish_reason":"stop"}]}` + "\n\n" + line(`{}`, "stop") + done,
			got{Text: "x", Done: end(parley.StopDone)},
		},
		{"windows lines", strings.ReplaceAll(line(`{"content":"x"}`, "stop")+done, "\n", "\r\n"), got{Text: "x", Done: end(parley.StopDone)}},
		{"no done", line(`{"content":"x"}`, "stop"), got{Text: "x", Done: end(parley.StopDone)}},
		{"rubbish after the end", line(`{"content":"x"}`, "stop") + "data: {\n\n", got{Text: "x", Done: end(parley.StopDone)}},
		{"content as parts", line(`{"content":[{"type":"text","text":"x"},{"type":"image"}]}`, "stop") + done, got{Text: "x", Done: end(parley.StopDone)}},
		{
			"reasoning under both names", line(`{"reasoning":"r","reasoning_content":"r"}`, "") + line(`{"content":"x\u0000"}`, "stop") + done,
			got{Reasoning: "r", Text: "x", Done: end(parley.StopDone)},
		},
		{
			"usage with the last choice", strings.ReplaceAll(line(`{"content":"x"}`, "stop"), `{"choices"`, `{"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":4},"choices"`) + done,
			got{Text: "x", Done: &parley.ModelDone{StopReason: parley.StopDone, Usage: parley.Usage{InputTokens: 6, CacheReadTokens: 4, OutputTokens: 2}}},
		},
		{
			"usage makes no sense", strings.ReplaceAll(line(`{"content":"x"}`, "stop"), `{"choices"`, `{"usage":{"prompt_tokens":5,"completion_tokens":-2,"prompt_tokens_details":{"cached_tokens":9,"cache_write_tokens":3}},"choices"`) + done,
			got{Text: "x", Done: &parley.ModelDone{StopReason: parley.StopDone, Usage: parley.Usage{CacheReadTokens: 5}}},
		},
		{"nothing said", line(`{}`, "stop") + done, got{Done: end(parley.StopDone)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			closed := false
			g, err := collect(t, over(t, canned{body: c.body, closed: &closed}, nil).Stream(t.Context(), user("hi")))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, g); diff != "" {
				t.Error(diff)
			}
			if !closed {
				t.Error("the connection was left open")
			}
		})
	}
}

func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	huge := func(n int) string {
		return line(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"`+strings.Repeat("x", n)+`"}}]}`, "") + line(`{}`, "tool_calls") + done
	}
	var many strings.Builder
	for range 129 {
		many.WriteString(line(`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}`, ""))
	}
	for _, c := range []struct {
		name, body string
		code       parley.Code
		text       string
	}{
		{"empty", "", parley.CodeUnavailable, "did not answer with a stream of events"},
		{"a plain answer", `{"id":"x","choices":[{"message":{"content":"hi"}}]}`, parley.CodeUnavailable, "did not answer with a stream of events"},
		{"no finish", line(`{"content":"x"}`, "") + done, parley.CodeUnavailable, "broke off"},
		{"half an event", line(`{"content":"x"}`, "") + `data: {"choices":[{"delta":{},"finish_re`, parley.CodeUnavailable, "broke off"},
		{"no JSON", "data: hello\n\n", parley.CodeUnavailable, "makes no sense"},
		{"other JSON", "data: [1,2]\n\n", parley.CodeUnavailable, "makes no sense"},
		{"arguments too long", huge(256<<10 + 1), parley.CodeUnavailable, "arguments of a call are too long"},
		{"too many calls", many.String() + line(`{}`, "stop"), parley.CodeUnavailable, "too many calls"},
		{"a call without a name", line(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`, "tool_calls") + done, parley.CodeUnavailable, "has no name"},
		{"an endless line", "data: " + strings.Repeat("x", 5<<20), parley.CodeUnavailable, "longer than any answer"},
		{"an endless event", strings.Repeat("data: xxxxxxxxxx\n", 5<<20/17), parley.CodeUnavailable, "longer than any answer"},
		{"gave up", line(`{"content":"x"}`, "") + line(`{}`, "error") + done, parley.CodeUnavailable, "gave up"},
		{"error with a status", `data: {"error":{"code":429,"message":"slow down"}}` + "\n\n", parley.CodeRateLimited, "slow down"},
		{"error in a choice", `data: {"choices":[{"error":{"code":502,"message":"upstream is gone"},"finish_reason":"error"}]}` + "\n\n", parley.CodeUnavailable, "upstream is gone"},
		{"error by type", `data: {"error":{"type":"server_error","message":"oh","code":null}}` + "\n\n", parley.CodeUnavailable, "oh"},
		{"rate limit by type", `data: {"error":{"type":"rate_limit_error","message":"oh"}}` + "\n\n", parley.CodeRateLimited, "oh"},
		{"quota", `data: {"error":{"code":"insufficient_quota","message":"oh"}}` + "\n\n", parley.CodeUnauthorized, "no credit left"},
		{"invalid by type", `data: {"error":{"type":"invalid_request_error","message":"oh"}}` + "\n\n", parley.CodeInvalid, "oh"},
		{"too long by code", `data: {"error":{"code":"context_length_exceeded","message":"oh"}}` + "\n\n", parley.CodeTooLarge, "oh"},
		{"error as text", `data: {"error":"out of memory"}` + "\n\n", parley.CodeUnavailable, "out of memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, err := collect(t, over(t, canned{body: c.body}, nil).Stream(t.Context(), user("hi")))
			if parley.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error is %v (%s), want %s with %q", err, parley.CodeOf(err), c.code, c.text)
			}
			if g.Done != nil || len(g.Calls) > 0 {
				t.Errorf("there is an answer: %+v", g)
			}
		})
	}
	if g, err := collect(t, over(t, canned{body: huge(256 << 10)}, nil).Stream(t.Context(), user("hi"))); err != nil || len(g.Calls) != 1 {
		t.Errorf("arguments of 256 KiB: %v", err)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	body := func(prompt string) string {
		return strings.ReplaceAll(line(`{"content":"x"}`, "stop"), `{"choices"`, `{"usage":{"prompt_tokens":`+prompt+`,"completion_tokens":1000},"choices"`) + done
	}
	for _, c := range []struct {
		name, model, prompt string
		dialect             openai.Dialect
		price               *parley.Price
		want                int64
	}{
		{name: "short", model: "gpt-5.5-2026-04-23", prompt: "272000", dialect: openai.DialectOpenAI, want: 272_000*5 + 1000*30},
		{name: "long", model: "gpt-5.5", prompt: "272001", dialect: openai.DialectOpenAI, want: 272_001*10 + 1000*45},
		{name: "own price", model: "gpt-5.5", prompt: "272001", dialect: openai.DialectOpenAI, price: &parley.Price{Input: 1_000_000}, want: 272_001},
		{name: "another server", model: "gpt-5.5", prompt: "272001", want: 0},
		{name: "not known", model: "gpt-99", prompt: "10", dialect: openai.DialectOpenAI, want: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := over(t, canned{body: body(c.prompt)}, func(cfg *openai.Config) {
				cfg.Model, cfg.Dialect, cfg.Info.Price = c.model, c.dialect, c.price
			})
			g, err := collect(t, m.Stream(t.Context(), user("hi")))
			if err != nil {
				t.Fatal(err)
			}
			if g.Done.Usage.CostMicroUSD != c.want {
				t.Errorf("cost is %d, want %d", g.Done.Usage.CostMicroUSD, c.want)
			}
		})
	}
}
