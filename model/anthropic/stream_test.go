package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/anthropic"
)

func TestAnswerInPieces(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, says(modelserver.Reply{
		Reasoning: []string{"Let me ", "see.", modelserver.AnthropicRedacted + "hidden"},
		Text:      []string{"Hel", "lo ", "🙂"},
		Calls: []modelserver.Call{
			{ID: "toolu_1", Name: "search", Arguments: `{"q": "Zürich", "n": 12345678901234567890}`},
			{ID: "toolu_2", Name: "now"},
		},
		Usage: modelserver.Usage{Input: 1000, Output: 200, CacheRead: 5000, CacheWrite: 300},
	}))
	a := ask(t, model(t, s, nil), hello())
	var kinds []string
	for _, p := range a.pieces {
		switch {
		case p.Done != nil:
			kinds = append(kinds, "done")
		case p.Opaque != nil:
			kinds = append(kinds, string(p.Kind)+" closed")
		default:
			kinds = append(kinds, string(p.Kind)+" "+p.Text)
		}
	}
	want := []string{
		"reasoning Let me ", "reasoning see.", "reasoning closed", "reasoning closed",
		"text Hel", "text lo ", "text 🙂", "tool_call ", "tool_call ", "done",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	calls := []parley.ToolCall{
		{ID: "toolu_1", Name: "search", Arguments: json.RawMessage(`{"q": "Zürich", "n": 12345678901234567890}`)},
		{ID: "toolu_2", Name: "now", Arguments: json.RawMessage(`{}`)},
	}
	if diff := cmp.Diff(calls, a.calls); diff != "" {
		t.Error(diff)
	}
	// 1000 at 2 $, 200 at 10 $, 5000 at 0.20 $ and 300 at 2.50 $ for a million.
	done := &parley.ModelDone{StopReason: parley.StopDone, Usage: parley.Usage{
		InputTokens: 1000, OutputTokens: 200, CacheReadTokens: 5000, CacheWriteTokens: 300, CostMicroUSD: 2000 + 2000 + 1000 + 750,
	}}
	if diff := cmp.Diff(done, a.done); diff != "" {
		t.Error(diff)
	}
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	for stop, want := range map[string]parley.StopReason{
		"end_turn": parley.StopDone, "tool_use": parley.StopDone, "stop_sequence": parley.StopDone, "pause_turn": parley.StopDone,
		"max_tokens": parley.StopLength, "model_context_window_exceeded": parley.StopLength,
		"refusal": parley.StopContentFilter, "something_else": parley.StopDone,
	} {
		t.Run(stop, func(t *testing.T) {
			t.Parallel()
			s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"a"}, Stop: stop}))
			if got := ask(t, model(t, s, nil), hello()).done.StopReason; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestRefusedCalls holds that nobody gets the calls of an answer that was refused.
func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	for stop, want := range map[string]int{"refusal": 0, "tool_use": 2, "end_turn": 2} {
		s := modelserver.Anthropic(t, says(modelserver.Reply{
			Text: []string{"a"}, Calls: []modelserver.Call{{ID: "1", Name: "f"}, {ID: "2", Name: "g"}}, Stop: stop,
		}))
		if a := ask(t, model(t, s, nil), hello()); len(a.calls) != want || a.text != "a" {
			t.Errorf("%s: got %+v", stop, a.pieces)
		}
	}
}

// events answers with these events, each as its data.
func events(t *testing.T, data ...string) *anthropic.Model {
	t.Helper()
	var b strings.Builder
	for _, d := range data {
		b.WriteString("event: x\ndata: " + d + "\n\n")
	}
	return model(t, modelserver.Anthropic(t, nil), func(c *anthropic.Config) {
		c.HTTPClient = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			header := http.Header{"Content-Type": {"text/event-stream"}}
			return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(b.String()))}, nil
		})}
	})
}

// TestOrderAfterCalls holds that what follows a call stays behind it, and that an
// answer cannot hold on to any amount of it.
func TestOrderAfterCalls(t *testing.T) {
	t.Parallel()
	begin := []string{
		`{"type":"message_start","message":{"usage":{}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"f","input":{}}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
	}
	text := func(text string) string {
		return `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"` + text + `"}}`
	}
	end := func(stop string) []string {
		return []string{
			`{"type":"content_block_stop","index":1}`, `{"type":"message_delta","delta":{"stop_reason":"` + stop + `"},"usage":{}}`, `{"type":"message_stop"}`,
		}
	}
	for stop, want := range map[string][]parley.PartKind{
		"tool_use": {parley.PartToolCall, parley.PartText, ""}, "refusal": {parley.PartText, ""},
	} {
		var kinds []parley.PartKind
		for _, p := range ask(t, events(t, slices.Concat(begin, []string{text("b")}, end(stop))...), hello()).pieces {
			kinds = append(kinds, p.Kind)
		}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("%s: %s", stop, diff)
		}
	}
	much := slices.Repeat([]string{text(strings.Repeat("a", 1<<19))}, 33)
	a := collect(t, events(t, slices.Concat(begin, much, end("tool_use"))...).Stream(t.Context(), hello()))
	if parley.CodeOf(a.err) != parley.CodeUnavailable || len(a.pieces) > 0 {
		t.Errorf("got %d pieces, %v", len(a.pieces), a.err)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sent, want string }{
		"none":       {"", `{}`},
		"spaces":     {" \n", `{}`},
		"null":       {"null", `{}`},
		"an object":  {`{"a":[1,2]}`, `{"a":[1,2]}`},
		"a list":     {`[1]`, `[1]`},
		"cut short":  {`{"a":[1,`, `"{\"a\":[1,"`},
		"no JSON":    {`a = "ü"`, `"a = \"ü\""`},
		"two values": {`{} {}`, `"{} {}"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.Anthropic(t, says(modelserver.Reply{Calls: []modelserver.Call{{ID: "c", Name: "f", Arguments: c.sent}}}))
			if got := string(ask(t, model(t, s, nil), hello()).calls[0].Arguments); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestArgumentsAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes int
		code  parley.Code
	}{{256 << 10, ""}, {256<<10 + 1, parley.CodeUnavailable}} {
		sent := `"` + strings.Repeat("x", c.bytes-2) + `"`
		s := modelserver.Anthropic(t, says(modelserver.Reply{Calls: []modelserver.Call{{ID: "c", Name: "f", Arguments: sent}}}))
		a := collect(t, model(t, s, nil).Stream(t.Context(), hello()))
		if got := parley.CodeOf(a.err); got != c.code {
			t.Errorf("%d bytes: got %v", c.bytes, a.err)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for fault, want := range map[modelserver.Fault]string{
		modelserver.FaultHalf:           "the answer of anthropic broke off",
		modelserver.FaultCut:            "the connection to anthropic failed",
		modelserver.FaultGarbage:        "the answer of anthropic broke off",
		modelserver.FaultBadJSON:        "the answer of anthropic makes no sense",
		modelserver.AnthropicFaultError: "anthropic broke off the answer: Overloaded",
	} {
		for kind, start := range servers {
			t.Run(string(fault)+" "+kind, func(t *testing.T) {
				t.Parallel()
				s := start(t, says(modelserver.Reply{Text: slices.Repeat([]string{"word "}, 20), Fault: fault}))
				a := collect(t, model(t, s, nil).Stream(t.Context(), hello()))
				if parley.CodeOf(a.err) != parley.CodeUnavailable || !strings.Contains(a.err.Error(), want) {
					t.Errorf("got %v", a.err)
				}
				if got := len(s.Requests()); got != 1 {
					t.Errorf("%d requests were sent", got)
				}
			})
		}
	}
}

var servers = map[string]func(testing.TB, func(modelserver.Request) modelserver.Reply) *modelserver.Server{
	"over HTTP/1": modelserver.Anthropic,
	"over HTTP/2": modelserver.AnthropicTLS,
}

// TestWaiting cancels while the server is silent, before the answer and within.
func TestWaiting(t *testing.T) {
	t.Parallel()
	for _, fault := range []modelserver.Fault{modelserver.FaultHang, modelserver.FaultStall} {
		for kind, start := range servers {
			t.Run(string(fault)+" "+kind, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				s := start(t, func(modelserver.Request) modelserver.Reply {
					if fault == modelserver.FaultHang {
						cancel()
					}
					return modelserver.Reply{Text: []string{"first", "second"}, Fault: fault}
				})
				var got error
				for p, err := range model(t, s, nil).Stream(ctx, hello()) {
					if p.Text != "" {
						cancel()
					}
					got = err
				}
				if !errors.Is(got, context.Canceled) {
					t.Errorf("got %v", got)
				}
				if errors.Is(got, parley.ErrUnavailable) {
					t.Errorf("a cancelled request counts as a failure of the model: %v", got)
				}
			})
		}
	}
}

func TestTimeLimits(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, says(modelserver.Reply{Fault: modelserver.FaultHang}))
	client := *s.Client()
	client.Timeout = 1 // of the transport: the model has failed
	a := collect(t, model(t, s, func(c *anthropic.Config) { c.HTTPClient = &client }).Stream(t.Context(), hello()))
	if !errors.Is(a.err, parley.ErrUnavailable) || !errors.Is(a.err, context.DeadlineExceeded) {
		t.Errorf("got %v", a.err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 1) // of the caller: it has given up
	defer cancel()
	a = collect(t, model(t, s, nil).Stream(ctx, hello()))
	if errors.Is(a.err, parley.ErrUnavailable) || !errors.Is(a.err, context.DeadlineExceeded) {
		t.Errorf("got %v", a.err)
	}
}

// TestStopReading takes a little of an answer that never ends. That nothing is
// left behind is seen when the tests are over, and by the server's closing, which
// waits for its handlers.
func TestStopReading(t *testing.T) {
	t.Parallel()
	for kind, start := range servers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := start(t, says(modelserver.Reply{Text: []string{"a"}, Fault: modelserver.FaultEndless}))
			n := 0
			for _, err := range model(t, s, nil).Stream(t.Context(), hello()) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == 100 {
					break
				}
			}
			if n != 100 {
				t.Errorf("got %d pieces", n)
			}
		})
	}
}

// TestConcurrent uses one model from many goroutines.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, func(r modelserver.Request) modelserver.Reply {
		var body struct {
			Messages []struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return modelserver.Reply{Status: 500}
		}
		return modelserver.Reply{Text: []string{body.Messages[0].Content[0].Text}}
	})
	m := model(t, s, nil)
	results := make(chan [2]string)
	for i := range 16 {
		go func() {
			want := strings.Repeat("x", i+1)
			var got string
			for p := range m.Stream(t.Context(), parley.ModelRequest{Messages: []parley.ModelMessage{user(want)}}) {
				got += p.Text
			}
			results <- [2]string{want, got}
		}()
	}
	for range 16 {
		if r := <-results; r[0] != r[1] {
			t.Errorf("asked %s, got %s", r[0], r[1])
		}
	}
}

// TestProtocols holds that the servers of these tests speak what they are called.
func TestProtocols(t *testing.T) {
	t.Parallel()
	for kind, start := range servers {
		s := start(t, says(modelserver.Reply{Text: []string{"a"}}))
		var got int
		ask(t, model(t, s, func(c *anthropic.Config) {
			c.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				res, err := s.Client().Transport.RoundTrip(r)
				if err == nil {
					got = res.ProtoMajor
				}
				return res, err
			})}
		}), hello())
		if want := map[string]int{"over HTTP/1": 1, "over HTTP/2": 2}[kind]; got != want {
			t.Errorf("%s: got HTTP/%d", kind, got)
		}
	}
}
