package modelserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-run/parley/internal/modelserver"
)

// openaiPost sends a body to a server and gives what it answered.
func openaiPost(t *testing.T, s *modelserver.Server, path, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

func TestOpenAIRefuses(t *testing.T) {
	t.Parallel()
	s := modelserver.OpenAI(t, func(modelserver.Request) modelserver.Reply { return modelserver.Reply{Text: []string{"hi"}} })
	const (
		path = "/v1/chat/completions"
		user = `{"role":"user","content":"hi"}`
		said = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"not JSON"}}]}`
		a, b = `{"role":"tool","tool_call_id":"a","content":"x"}`, `{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"y"}]}`
	)
	with := func(more string, messages ...string) string {
		return `{"model":"m","stream":true,"messages":[` + strings.Join(messages, ",") + `]` + more + `}`
	}
	calls := func(calls string) string { return with("", `{"role":"assistant","tool_calls":[`+calls+`]}`) }
	tool := func(function string) string {
		return with(`,"tools":[{"type":"function","function":`+function+`}]`, user)
	}
	for _, c := range []struct {
		name, body string
		want       string // empty: it is accepted
	}{
		{"plain", with("", user), ""},
		{"everything", with(`,"max_tokens":5,"stream_options":{"include_usage":true},"reasoning_effort":"low","prompt_cache_key":"k","tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{}}}}]`,
			`{"role":"system","content":"s"}`, `{"role":"developer","content":[{"type":"text","text":"d"}]}`, user,
			`{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eHg=","detail":"low"}},{"type":"image_url","image_url":{"url":"https://x/y.png"}}]}`,
			said, b, a, `{"role":"assistant","content":"z"}`, user), ""},
		{"no JSON", `{`, "could not parse"},
		{"no model", `{"stream":true,"messages":[` + user + `]}`, "must provide a model"},
		{"no messages", `{"model":"m","stream":true}`, "Missing required parameter: 'messages'"},
		{"empty messages", with(""), "empty array"},
		{"no stream", `{"model":"m","messages":[` + user + `]}`, "only streams"},
		{"unknown field", with(`,"top_k":1`, user), "Unrecognized request argument supplied: top_k"},
		{"unknown field of a message", with("", `{"role":"user","content":"x","reasoning_content":"y"}`), "Unknown parameter: 'messages[0].reasoning_content'"},
		{"both limits", with(`,"max_tokens":5,"max_completion_tokens":5`, user), "at the same time"},
		{"limit 0", with(`,"max_tokens":0`, user), "below minimum value"},
		{"limit no number", with(`,"max_tokens":"5"`, user), "Invalid type for 'max_tokens'"},
		{"effort", with(`,"reasoning_effort":"some"`, user), "Invalid value: 'some'"},
		{"cache key", with(`,"prompt_cache_key":"`+strings.Repeat("k", 65)+`"`, user), "maximum length 64"},
		{"stream options", with(`,"stream_options":{"usage":true}`, user), "Unknown parameter: 'stream_options.usage'"},
		{"role", with("", `{"role":"bot","content":"x"}`), "Invalid value: 'bot'"},
		{"no content", with("", `{"role":"user"}`), "expected a string, got null"},
		{"content of a number", with("", `{"role":"user","content":1}`), "Invalid type for 'messages[0].content'"},
		{"no parts", with("", `{"role":"user","content":[]}`), "empty array"},
		{"unknown part", with("", `{"role":"user","content":[{"type":"video"}]}`), "Invalid value: 'video'"},
		{"part without text", with("", `{"role":"user","content":[{"type":"text"}]}`), "Missing required parameter"},
		{"empty assistant", with("", `{"role":"assistant"}`), "expected a string, got null"},
		{"no calls in the list", with("", `{"role":"assistant","content":"x","tool_calls":[]}`), "empty array"},
		{"image of the system", with("", `{"role":"system","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}`), "Invalid value: 'image_url'"},
		{"image in a result", with("", said, a, `{"role":"tool","tool_call_id":"b","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}`), "Invalid value: 'image_url'"},
		{"image no URL", with("", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}`), "Expected a base64-encoded data URL"},
		{"image as a string", with("", `{"role":"user","content":[{"type":"image_url","image_url":"https://x"}]}`), "expected an object"},
		{"image of another type", with("", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/tiff;base64,eHg="}}]}`), "Invalid MIME type"},
		{"image no base64", with("", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,?"}}]}`), "not base64"},
		{"result of nothing", with("", user, a), "must be a response to a preceding message"},
		{"result of another call", with("", said, a, `{"role":"tool","tool_call_id":"c","content":"x"}`), "'c' not found"},
		{"result twice", with("", said, a, a), "'a' not found"},
		{"result too late", with("", said, a, user, b), "did not have response messages: b"},
		{"no result", with("", said, a), "did not have response messages: b"},
		{"result after all", with("", said, a, b, a), "not found"},
		{"two calls of one id", calls(`{"id":"a","type":"function","function":{"name":"f","arguments":""}},{"id":"a","type":"function","function":{"name":"f","arguments":""}}`), "Duplicate value"},
		{"long id", calls(`{"id":"` + strings.Repeat("i", 41) + `","type":"function","function":{"name":"f","arguments":""}}`), "maximum length 40"},
		{"no id", calls(`{"type":"function","function":{"name":"f","arguments":""}}`), "Missing required parameter"},
		{"no type", calls(`{"id":"a","function":{"name":"f","arguments":""}}`), "Invalid value"},
		{"name with a dot", calls(`{"id":"a","type":"function","function":{"name":"f.g","arguments":""}}`), "does not match pattern"},
		{"arguments as an object", calls(`{"id":"a","type":"function","function":{"name":"f","arguments":{}}}`), "Invalid type for 'messages[0].tool_calls[0].function.arguments'"},
		{"no arguments", calls(`{"id":"a","type":"function","function":{"name":"f"}}`), "Missing required parameter"},
		{"tool name", tool(`{"name":"a b"}`), "does not match pattern"},
		{"long tool name", tool(`{"name":"` + strings.Repeat("n", 65) + `"}`), "maximum length 64"},
		{"no tool name", tool(`{"description":"x"}`), "empty string"},
		{"two tools", with(`,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]`, user), "duplicate function name"},
		{"schema of a string", tool(`{"name":"f","parameters":{"type":"string"}}`), "schema must be a JSON Schema of 'type: \\\"object\\\"'"},
		{"schema no object", tool(`{"name":"f","parameters":[]}`), "expected an object"},
		{"schema without properties", tool(`{"name":"f","parameters":{"type":"object"}}`), "object schema missing properties"},
		{"schema of several", tool(`{"name":"f","parameters":{"type":"object","properties":{},"anyOf":[]}}`), "at the top level"},
		{"unknown field of a tool", tool(`{"name":"f","input_schema":{}}`), "Unknown parameter"},
	} {
		status, answer := openaiPost(t, s, path, "k", c.body)
		switch {
		case c.want == "" && (status != http.StatusOK || !strings.HasSuffix(answer, "data: [DONE]\n\n")):
			t.Errorf("%s: %d %s", c.name, status, answer)
		case c.want != "" && (status != http.StatusBadRequest || !strings.Contains(answer, c.want) || !strings.Contains(answer, `"type":"invalid_request_error"`)):
			t.Errorf("%s: %d %s, want %q", c.name, status, answer, c.want)
		}
	}
	if status, answer := openaiPost(t, s, path, "", with("", user)); status != http.StatusUnauthorized {
		t.Errorf("without a key: %d %s", status, answer)
	}
	if status, answer := openaiPost(t, s, "/v1/responses", "k", with("", user)); status != http.StatusNotFound {
		t.Errorf("another path: %d %s", status, answer)
	}
}
