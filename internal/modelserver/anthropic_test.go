package modelserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley/internal/modelserver"
)

// anthropicPost sends a request as it is and gives the answer.
func anthropicPost(t *testing.T, s *modelserver.Server, body string, header map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestAnthropicStream(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, func(modelserver.Request) modelserver.Reply {
		return modelserver.Reply{
			Reasoning: []string{"hm"}, Text: []string{"a", "b"}, Calls: []modelserver.Call{{ID: "c", Name: "f", Arguments: `{"a":1}`}},
		}
	})
	status, text := anthropicPost(t, s, `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Hi"}]}`, nil)
	var names []string
	for event := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(event, "\n")
		var inner struct{ Type string }
		if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &inner); err != nil || "event: "+inner.Type != name {
			t.Errorf("%s is not what it is called: %v", event, err)
		}
		names = append(names, inner.Type)
	}
	want := strings.Fields(`message_start
		content_block_start ping content_block_delta content_block_delta content_block_stop
		content_block_start content_block_delta content_block_delta content_block_stop
		content_block_start content_block_delta content_block_delta content_block_delta content_block_delta content_block_delta content_block_stop
		message_delta message_stop`)
	// The pieces of the arguments are the server's own affair.
	names, want = slices.Compact(names), slices.Compact(want)
	if status != http.StatusOK || !slices.Equal(names, want) {
		t.Errorf("got %d, %v", status, names)
	}
}

// TestAnthropicRefuses changes one thing at a time in a request that is accepted.
func TestAnthropicRefuses(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, func(modelserver.Request) modelserver.Reply { return modelserver.Reply{Text: []string{"ok"}} })
	const good = `{"model":"m","max_tokens":2000,"stream":true,
		"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],
		"tools":[{"name":"f","input_schema":{"type":"object"}},{"name":"g","input_schema":{"type":"object"}}],
		"thinking":{"type":"enabled","budget_tokens":1024},
		"messages":[
			{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlh"}}]},
			{"role":"assistant","content":[{"type":"redacted_thinking","data":"x.SEALED"},{"type":"tool_use","id":"c1","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r"}]},{"type":"text","text":"And"}]}]}`
	// What the server would have given.
	base := strings.Replace(good, "x.SEALED", anthropicSealed(t), 1)
	if status, text := anthropicPost(t, s, base, nil); status != http.StatusOK {
		t.Fatalf("got %d, %s", status, text)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"no model":            {`"model":"m",`, ``, "model: Field required"},
		"no limit":            {`"max_tokens":2000,`, ``, "max_tokens: Field required"},
		"no messages":         {`"messages"`, `"metadata":{},"messages":null,"system"`, "messages: Field required"},
		"an unknown field":    {`"model":"m",`, `"model":"m","n":1,`, "n: Extra inputs"},
		"one in a message":    {`{"role":"user","content":[{"type":"tool_result"`, `{"role":"user","name":"x","content":[{"type":"tool_result"`, "name: Extra inputs"},
		"one in a block":      {`"text":"Hi"`, `"text":"Hi","x":1`, "x: Extra inputs"},
		"a role":              {`{"role":"user","content":[{"type":"tool_result"`, `{"role":"tool","content":[{"type":"tool_result"`, "Unexpected role"},
		"who begins":          {`"messages":[`, `"messages":[{"role":"assistant","content":"x"},`, "first message must use"},
		"empty text":          {`"text":"Hi"`, `"text":""`, "must be non-empty"},
		"blank text":          {`"text":"Hi"`, `"text":" \n"`, "non-whitespace"},
		"no content":          {`"messages":[`, `"messages":[{"role":"user","content":[]},`, "non-empty content"},
		"a call at the end":   {`]}]}`, `]},{"role":"assistant","content":[{"type":"redacted_thinking","data":"` + anthropicSealed(t) + `"},{"type":"tool_use","id":"c2","name":"f","input":{}}]}]}`, "without `tool_result`"},
		"a call unanswered":   {`{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r"}]},`, ``, "without `tool_result`"},
		"a result of nothing": {`"tool_use_id":"c1"`, `"tool_use_id":"c9"`, "unexpected `tool_use_id`"},
		"results that wait":   {`[{"type":"tool_result"`, `[{"type":"text","text":"x"},{"type":"tool_result"`, "must come first"},
		"ids twice":           {`{"type":"tool_use","id":"c1","name":"f","input":{}}`, `{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"tool_use","id":"c1","name":"f","input":{}}`, "must be unique"},
		"an id":               {`"id":"c1"`, `"id":"c.1"`, "should match pattern"},
		"a name":              {`"id":"c1","name":"f"`, `"id":"c1","name":"a b"`, "should match pattern"},
		"an input":            {`"input":{}`, `"input":[]`, "valid dictionary"},
		"a tool's name":       {`{"name":"f"`, `{"name":"a.b"`, "should match pattern"},
		"a long one":          {`{"name":"f"`, `{"name":"` + strings.Repeat("f", 65) + `"`, "should match pattern"},
		"tools twice":         {`"name":"g"`, `"name":"f"`, "must be unique"},
		"a schema":            {`{"type":"object"}}]`, `{"type":"string"}}]`, "should be 'object'"},
		"no budget":           {`"budget_tokens":1024`, `"budget_tokens":1023`, "greater than or equal to 1024"},
		"too large a budget":  {`"budget_tokens":1024`, `"budget_tokens":2000`, "must be greater than"},
		"a later model":       {`"model":"m"`, `"model":"claude-opus-5-5"`, "is not supported for this model"},
		"a foreign signature": {`{"type":"redacted_thinking"`, `{"type":"thinking","thinking":"x","signature":"y"},{"type":"redacted_thinking"`, "Invalid `signature`"},
		"a foreign seal":      {`"data":"x.`, `"data":"y.`, "Invalid `signature`"},
		"no thinking":         {`{"type":"redacted_thinking","data":"` + anthropicSealed(t) + `"},`, ``, "Expected `thinking`"},
		"base64":              {`R0lGODlh`, `R0lGODl*`, "Invalid base64"},
		"a media type":        {`image/gif`, `image/tiff`, "should be 'image/jpeg'"},
		"another picture":     {`image/gif`, `image/png`, "appears to be"},
		"failed and silent":   {`"content":[{"type":"text","text":"r"}]`, `"is_error":true`, "cannot be empty"},
		"failed with picture": {`"content":[{"type":"text","text":"r"}]`, `"is_error":true,"content":[{"type":"image"}]`, "must be type `text`"},
		"markers": {
			`{"type":"text","text":"Hi"}`, strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}},`, 4), ","),
			"maximum of 4 blocks",
		},
		"spaces at the end": {`]}]}`, `]},{"role":"assistant","content":"So "}]}`, "trailing whitespace"},
		"no JSON":           {`"model"`, `model`, "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(base, c.from) {
				t.Fatalf("%s is not in the request", c.from)
			}
			status, text := anthropicPost(t, s, strings.Replace(base, c.from, c.to, 1), nil)
			var body struct {
				Type  string
				Error struct{ Type, Message string }
			}
			if err := json.Unmarshal([]byte(text), &body); err != nil {
				t.Fatalf("got %d, %s: %v", status, text, err)
			}
			if status != http.StatusBadRequest || body.Type != "error" || body.Error.Type != "invalid_request_error" || !strings.Contains(body.Error.Message, c.want) {
				t.Errorf("got %d, %s", status, text)
			}
		})
	}
	t.Run("no key", func(t *testing.T) {
		t.Parallel()
		if status, text := anthropicPost(t, s, base, map[string]string{"X-Api-Key": ""}); status != http.StatusUnauthorized || !strings.Contains(text, "authentication_error") {
			t.Errorf("got %d, %s", status, text)
		}
	})
	t.Run("no version", func(t *testing.T) {
		t.Parallel()
		if status, text := anthropicPost(t, s, base, map[string]string{"Anthropic-Version": ""}); status != http.StatusBadRequest || !strings.Contains(text, "anthropic-version") {
			t.Errorf("got %d, %s", status, text)
		}
	})
}

// anthropicSealed gets a redacted block from a server.
func anthropicSealed(t *testing.T) string {
	t.Helper()
	s := modelserver.Anthropic(t, func(modelserver.Request) modelserver.Reply {
		return modelserver.Reply{Reasoning: []string{modelserver.AnthropicRedacted + "x"}}
	})
	_, text := anthropicPost(t, s, `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Hi"}]}`, nil)
	_, rest, _ := bytes.Cut([]byte(text), []byte(`"data":"`))
	data, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(data)
}
