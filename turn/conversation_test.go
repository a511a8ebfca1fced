package turn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/model/anthropic"
	"github.com/parley-run/parley/model/openai"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/turn"
)

// This file has a long conversation over the real SDKs, with servers on loopback
// that answer, call tools, fail and break off, always in the same places.

// adder is a tool with real arguments.
type adder struct{}

func (adder) Spec() parley.ToolSpec {
	return parley.ToolSpec{
		Name: "add", Description: "Adds two numbers.",
		Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}`),
	}
}

func (adder) Run(_ context.Context, _ parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	var args struct{ A, B int }
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return parley.ToolResult{}, err
	}
	return parley.ToolResult{Text: strconv.Itoa(args.A + args.B)}, nil
}

// teller is a tool with a long result.
type teller struct{}

func (teller) Spec() parley.ToolSpec {
	return parley.ToolSpec{Name: "tell", Description: "Tells something long.", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (teller) Run(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
	return parley.ToolResult{Text: strings.Repeat("and so on ", 3000)}, nil
}

var lastTurn = regexp.MustCompile(`turn (\d+)\.`)

// script answers a request by the turn it belongs to and by how many tool results
// the turn has by then. Each failure happens once.
type script struct {
	provider string
	result   string // how a tool result looks in a request
	failed   map[int]bool
}

func (s *script) answer(req modelserver.Request) modelserver.Reply {
	all := lastTurn.FindAllSubmatchIndex(req.Body, -1)
	last := all[len(all)-1]
	n, err := strconv.Atoi(string(req.Body[last[2]:last[3]]))
	if err != nil {
		return modelserver.Reply{Status: http.StatusBadRequest}
	}
	results := bytes.Count(req.Body[last[1]:], []byte(s.result))
	if s.provider == "anthropic" && results == 0 && !s.failed[n] {
		s.failed[n] = true
		switch n % 20 {
		case 5:
			return modelserver.Reply{Status: 529}
		case 11:
			return modelserver.Reply{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}}}
		case 17:
			return modelserver.Reply{Text: []string{"This will ", "never ", "be ", "stored."}, Fault: modelserver.FaultCut}
		}
	}
	reply := modelserver.Reply{Usage: modelserver.Usage{Input: 100 + n, Output: 10, CacheRead: 50}}
	add := func(b int) modelserver.Call {
		return modelserver.Call{ID: "call_" + strconv.Itoa(b), Name: "add", Arguments: fmt.Sprintf(`{"a":%d,"b":%d}`, n, b)}
	}
	switch {
	case n%4 == 0 && results == 0:
		reply.Text = []string{"Two ", "sums."}
		reply.Calls = []modelserver.Call{add(1), add(2)}
	case n%4 == 2 && results < 2:
		reply.Reasoning = []string{"I need ", "to add."}
		reply.Calls = []modelserver.Call{add(results)}
		if n%8 == 2 && results == 1 {
			reply.Calls[0] = modelserver.Call{ID: "call_0", Name: "tell", Arguments: `{}`}
		}
		if n%8 == 6 && results == 1 {
			reply.Calls[0].Arguments = `{"a": not json` // the registry refuses it
		}
	default:
		reply.Reasoning = []string{"Now I know."}
		reply.Text = []string{"The answer ", "of turn " + strconv.Itoa(n), " by " + s.provider + "."}
	}
	return reply
}

// converse has a conversation of so many turns, and gives what is stored and what
// the two servers got.
func converse(t *testing.T, turns int) (*lab, []modelserver.Request, []modelserver.Request) {
	t.Helper()
	claude := modelserver.Anthropic(t, (&script{"anthropic", `"tool_result"`, map[int]bool{}}).answer)
	gpt := modelserver.OpenAI(t, (&script{"openai", `"role":"tool"`, map[int]bool{}}).answer)
	key := func(context.Context) (string, error) { return "sk-test-key-of-the-conversation", nil }
	one, err := anthropic.New(anthropic.Config{Model: "claude-sonnet-4-5", BaseURL: claude.URL, KeyFunc: key, HTTPClient: claude.Client(), Thinking: 2048})
	if err != nil {
		t.Fatal(err)
	}
	two, err := openai.New(openai.Config{Model: "gpt-4.1", BaseURL: gpt.URL, KeyFunc: key, HTTPClient: gpt.Client()})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tool.New([]tool.Group{{Name: "sums", Tools: []parley.Tool{adder{}, teller{}}}}, tool.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t)
	r := runner(t, turn.Agent{}, func(c *turn.Config) {
		c.Clock = l.clock
		c.AgentFunc = func(_ context.Context, tc parley.TurnContext) (turn.Agent, error) {
			set, err := registry.For(tc.Principal, nil)
			return turn.Agent{Models: models(one, two), Tools: set, MaxTokens: 4096}, err
		}
	})
	for n := 1; n <= turns; n++ {
		id := l.ask(parley.TextPart(fmt.Sprintf("This is turn %d. What do you say?", n)))
		for {
			end, err := r.Run(t.Context(), l.context(id))
			if errors.Is(err, parley.ErrSuspended) {
				l.again(id) // as the engine does when a stream broke off
				continue
			}
			if err != nil {
				t.Fatalf("turn %d: %v", n, err)
			}
			if end.Completed.StopReason != parley.StopDone {
				t.Fatalf("turn %d: %+v", n, end.Completed)
			}
			l.close(id, end)
			break
		}
	}
	return l, claude.Requests(), gpt.Requests()
}

// TestLongConversation has 200 turns with tools over both SDKs, twice: what is
// stored is the same, message by message. And each request begins like the one
// before it, byte for byte, up to where the earlier one's turn starts.
func TestLongConversation(t *testing.T) {
	t.Parallel()
	turns := soak.Count(60, 200)
	first, claude, gpt := converse(t, turns)
	second, _, _ := converse(t, turns)
	messages := first.messages()
	if diff := cmp.Diff(messages, second.messages()); diff != "" {
		t.Errorf("the second conversation is stored differently:\n%s", diff)
	}
	by := map[string]int{}
	var results, broken, cut int
	for _, m := range messages {
		by[m.Model]++
		for _, p := range m.Parts {
			if strings.Contains(p.Text, "never be stored") {
				t.Errorf("half an answer is stored: %+v", m)
			}
			if p.Result != nil {
				results++
				if p.Result.IsError {
					broken++
				}
				if len(p.Result.Text) > 10_000 {
					cut++
				}
			}
		}
	}
	if by["anthropic/claude-sonnet-4-5"] < turns || by["openai/gpt-4.1"] == 0 || results < turns/2 || broken == 0 || cut == 0 {
		t.Errorf("the conversation is not what it should be: %v, %d results, %d of them errors, %d long", by, results, broken, cut)
	}
	checkPrefix(t, "anthropic", claude)
	checkPrefix(t, "openai", gpt)
}

// checkPrefix compares each request with the next one.
func checkPrefix(t *testing.T, provider string, requests []modelserver.Request) {
	t.Helper()
	if len(requests) < 3 {
		t.Fatalf("%s: only %d requests", provider, len(requests))
	}
	longest := 0
	for i := range len(requests) - 1 {
		body := requests[i].Body
		turns := lastTurn.FindAllIndex(body, -1)
		said := turns[len(turns)-1][0]
		if at := bytes.LastIndex(body[:said], []byte("This is ")); at >= 0 {
			said = at
		}
		begin := bytes.LastIndex(body[:said], []byte(`{"content":`))
		if begin < 0 {
			t.Fatalf("%s: request %d: cannot find where its turn starts", provider, i)
		}
		longest = max(longest, begin)
		if next := requests[i+1].Body; !bytes.HasPrefix(next, body[:begin]) {
			at := 0
			for at < begin && at < len(next) && body[at] == next[at] {
				at++
			}
			t.Fatalf("%s: request %d differs from request %d at byte %d of %d, before its turn starts:\n%.200s\n%.200s", provider, i+1, i, at, begin, body[max(at-80, 0):], next[max(at-80, 0):])
		}
	}
	if longest < 10_000 {
		t.Errorf("%s: the longest prefix has %d bytes, which is too little to prove anything", provider, longest)
	}
}
