package openai_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// FuzzStream answers with arbitrary bytes. Whatever they are, the answer ends,
// with one end or one error, and what it brings can be stored.
func FuzzStream(f *testing.F) {
	usage := `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}` + "\n\n"
	for _, seed := range []string{
		"", "\n", done, "data: {}\n\n", "data: null\n\n", "event: error\ndata: {\"error\":{\"message\":\"x\",\"code\":502}}\n\n",
		line(`{"role":"assistant","content":""}`, "") + line(`{"content":"hi"}`, "") + line(`{}`, "stop") + usage + done,
		line(`{"reasoning_content":"hm"}`, "") + line(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":"}}]}`, "") +
			line(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`, "tool_calls") + done,
		line(`{"tool_calls":[{"function":{"name":"f\u0000","arguments":{"a":"\ud800"}}}]}`, "function_call"),
		line(`{"tool_calls":[{"index":-1,"id":"","function":{"name":"f","arguments":"nope"}},{"index":99999999,"function":{"name":"g"}}]}`, "length"),
		line(`{"function_call":{"name":"f","arguments":"[[[["}}`, "stop") + "data: {",
		line(`{"refusal":"no","content":[{"type":"text","text":"\u0000x"}]}`, "content_filter"),
		"data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"two lines\"},\"finish_reason\":\"stop\"}]}\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		closed := false
		m := over(t, canned{body: string(body), closed: &closed}, nil)
		ends := 0
		for p, err := range m.Stream(t.Context(), user("hi")) {
			if ends > 0 {
				t.Fatalf("after the end came %+v, %v", p, err)
			}
			switch {
			case err != nil:
				ends++
				if code := parley.CodeOf(err); code == parley.CodeInternal || code == "" {
					t.Fatalf("the error has no code: %v", err)
				}
				if text := err.Error(); strings.Contains(text, testKey) || len(text) > 500 || !utf8.ValidString(text) {
					t.Fatalf("the error is %q", text)
				}
			case p.Done != nil:
				ends++
				u := p.Done.Usage
				if min(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.CostMicroUSD) < 0 {
					t.Fatalf("usage is %+v", u)
				}
			case p.Call != nil:
				id := *p.Call
				id.ID = "c" // the runner names calls itself
				if err := parley.ValidateParts([]parley.Part{{Kind: parley.PartToolCall, Call: &id}}); err != nil || !json.Valid(id.Arguments) {
					t.Fatalf("call %+v: %v", id, err)
				}
			default:
				if err := parley.ValidateParts([]parley.Part{{Kind: p.Kind, Text: p.Text}}); err != nil || p.Text == "" {
					t.Fatalf("piece %+v: %v", p, err)
				}
			}
		}
		if ends != 1 {
			t.Fatalf("the answer has %d ends", ends)
		}
		if !closed {
			t.Fatal("the connection was left open")
		}
	})
}
