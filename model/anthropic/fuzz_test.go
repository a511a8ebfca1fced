package anthropic_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/anthropic"
)

// FuzzStream answers with any bytes. Every answer ends once, with Done or an
// error that has a code of its own, and what it has can be stored.
func FuzzStream(f *testing.F) {
	for _, reply := range []modelserver.Reply{
		{Text: []string{"Hel", "lo"}},
		{Reasoning: []string{"a", modelserver.AnthropicRedacted + "b"}, Calls: []modelserver.Call{{ID: "1", Name: "f", Arguments: `{"a":[1]}`}, {ID: "2", Name: "g", Arguments: `{`}}},
		{Text: []string{"a"}, Fault: modelserver.FaultHalf},
		{Text: []string{"a"}, Fault: modelserver.FaultGarbage},
		{Text: []string{"a"}, Fault: modelserver.FaultBadJSON},
		{Text: []string{"a"}, Fault: modelserver.AnthropicFaultError},
	} {
		f.Add(200, recorded(f, reply))
	}
	for _, text := range []string{
		"", "\n\n", "data: {}\n\n", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		"event: x\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":1,\"name\":[],\"input\":\"x\"}}\n\n",
		"event: x\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":-1,\"output_tokens\":1e99}}}\n\n",
		"event: error\ndata: [1]\n\n", "event: error\ndata: {\"error\":{\"type\":\"rate_limit_error\",\"message\":7}}\n\n",
		"event: x\ndata: {\"type\":\"content_block_delta\",\"index\":9}\n\n", ": \xff\nevent: \xff\ndata: \"\xff\"\n\n",
		"event: x\ndata: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"He\xff\"}}\n\n",
		"event: x\ndata: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"id\":\"\xff\",\"name\":\"\xff\",\"input\":{\"a\":\"\xff\"}}}\n\n" +
			"event: x\ndata: {\"type\":\"content_block_stop\"}\n\n",
	} {
		f.Add(200, []byte(text))
		f.Add(500, []byte(text))
	}
	f.Fuzz(func(t *testing.T, status int, data []byte) {
		if status < 100 || status > 999 {
			t.Skip()
		}
		body := &closable{Reader: bytes.NewReader(data)}
		m, err := anthropic.New(anthropic.Config{Model: currentModel, KeyFunc: key, HTTPClient: &http.Client{
			Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
			}),
		}})
		if err != nil {
			t.Fatal(err)
		}
		a := collect(t, m.Stream(t.Context(), hello()))
		if !body.closed {
			t.Error("the connection stays open")
		}
		for _, p := range a.pieces {
			if !utf8.ValidString(p.Text) {
				t.Errorf("got %q", p.Text)
			}
			if c := p.Call; c != nil && (c.Name == "" || !utf8.ValidString(string(c.ID)+c.Name+string(c.Arguments))) {
				t.Errorf("got %q", *c)
			}
		}
		if a.err == nil {
			if u := a.done.Usage; status != 200 || min(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.CostMicroUSD) < 0 {
				t.Errorf("got %+v", a.done)
			}
			return
		}
		codes := []parley.Code{parley.CodeUnavailable, parley.CodeRateLimited, parley.CodeUnauthorized, parley.CodeInvalid, parley.CodeTooLarge}
		if text := a.err.Error(); !slices.Contains(codes, parley.CodeOf(a.err)) || len(text) > 600 || strings.ContainsAny(text, "\n\x00") || !utf8.ValidString(text) {
			t.Errorf("got %q", text)
		}
	})
}

// closable is a body that knows whether it was closed.
type closable struct {
	io.Reader

	closed bool
}

func (c *closable) Close() error { c.closed = true; return nil }

// recorded gives what a server sends.
func recorded(t testing.TB, reply modelserver.Reply) []byte {
	t.Helper()
	s := modelserver.Anthropic(t, says(reply))
	var kept bytes.Buffer
	m := model(t, s, func(c *anthropic.Config) {
		c.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			res, err := s.Client().Transport.RoundTrip(r)
			if err == nil {
				res.Body = struct {
					io.Reader
					io.Closer
				}{io.TeeReader(res.Body, &kept), res.Body}
			}
			return res, err
		})}
	})
	collect(t, m.Stream(t.Context(), hello()))
	return kept.Bytes()
}
