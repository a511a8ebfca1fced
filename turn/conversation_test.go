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

// counted counts how often a tool ran.
type counted struct {
	parley.Tool
	ran *int
}

func (c counted) Run(ctx context.Context, by parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	*c.ran++
	return c.Tool.Run(ctx, by, call)
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
	failed   map[place]string
}

// place is where in the conversation a request is made.
type place struct{ turn, results int }

// failures are those of the first provider: before a turn without tools, before the
// first call, between two rounds of calls, and after the last. A limit keeps the
// provider out of the turn or two that follow, so nothing is planned there.
var failures = map[place]string{
	{1, 0}: "cut", {2, 0}: "cut", {2, 2}: "overload", {4, 0}: "overload", {4, 2}: "cut",
	{5, 0}: "overload", {6, 1}: "overload", {8, 2}: "overload", {10, 1}: "cut", {11, 0}: "limit", {14, 1}: "limit", {18, 0}: "limit",
}

// fail gives the failure of a place, if there is one and it has not happened.
func (s *script) fail(at place) (modelserver.Reply, bool) {
	what := failures[place{at.turn % 20, at.results}]
	if s.provider != "anthropic" || what == "" || s.failed[at] != "" {
		return modelserver.Reply{}, false
	}
	s.failed[at] = what
	switch what {
	case "overload":
		return modelserver.Reply{Status: 529}, true
	case "limit":
		return modelserver.Reply{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After-Ms": {"300"}}}, true
	}
	return modelserver.Reply{
		Reasoning: []string{"This will ", "never ", "be ", "stored."}, Text: []string{"This will ", "never ", "be ", "stored."},
		Calls: []modelserver.Call{{ID: "call_cut", Name: "add", Arguments: `{"a":1,"b":2}`}}, Fault: modelserver.FaultCut,
	}, true
}

func (s *script) answer(req modelserver.Request) modelserver.Reply {
	all := lastTurn.FindAllSubmatchIndex(req.Body, -1)
	last := all[len(all)-1]
	n, err := strconv.Atoi(string(req.Body[last[2]:last[3]]))
	if err != nil {
		return modelserver.Reply{Status: http.StatusBadRequest}
	}
	results := bytes.Count(req.Body[last[1]:], []byte(s.result))
	if reply, ok := s.fail(place{n, results}); ok {
		return reply
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

// talk is what is left of a conversation.
type talk struct {
	lab         *lab
	claude, gpt []modelserver.Request
	failed      map[place]string
	added       int // how often the tool for sums ran
}

// converse has a conversation of so many turns.
func converse(t *testing.T, turns int) *talk {
	t.Helper()
	out := &talk{lab: newLab(t), failed: map[place]string{}}
	claude := modelserver.Anthropic(t, (&script{"anthropic", `"tool_result"`, out.failed}).answer)
	gpt := modelserver.OpenAI(t, (&script{"openai", `"role":"tool"`, map[place]string{}}).answer)
	key := func(context.Context) (string, error) { return "sk-test-key-of-the-conversation", nil }
	one, err := anthropic.New(anthropic.Config{Model: "claude-sonnet-4-5", BaseURL: claude.URL, KeyFunc: key, HTTPClient: claude.Client(), Thinking: 2048})
	if err != nil {
		t.Fatal(err)
	}
	two, err := openai.New(openai.Config{Model: "gpt-4.1", BaseURL: gpt.URL, KeyFunc: key, HTTPClient: gpt.Client()})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tool.New([]tool.Group{{Name: "sums", Tools: []parley.Tool{counted{adder{}, &out.added}, teller{}}}}, tool.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l := out.lab
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
	out.claude, out.gpt = claude.Requests(), gpt.Requests()
	return out
}

// TestLongConversation has 200 turns with tools over both SDKs, twice: what is
// stored is the same, message by message. Each call has one result and ran once, also
// where the answer after it broke off or came from the other provider. And each
// request begins like the one before it, byte for byte, up to where the earlier one's
// turn starts.
func TestLongConversation(t *testing.T) {
	t.Parallel()
	turns := soak.Count(60, 200)
	first, second := converse(t, turns), converse(t, turns)
	messages := first.lab.messages()
	if diff := cmp.Diff(messages, second.lab.messages()); diff != "" {
		t.Errorf("the second conversation is stored differently:\n%s", diff)
	}
	checkContent(t, first, messages, turns)
	checkFailures(t, first, turns)
	checkPrefix(t, "anthropic", first.claude)
	checkPrefix(t, "openai", first.gpt)
}

// checkContent makes sure that the conversation has what it should prove.
func checkContent(t *testing.T, c *talk, messages []parley.Message, turns int) {
	t.Helper()
	by := map[string]int{}
	open := map[parley.CallID]string{} // calls without a result
	var results, broken, sums, long int
	for _, m := range messages {
		by[m.Model]++
		for _, p := range m.Parts {
			if strings.Contains(p.Text, "never be stored") {
				t.Errorf("half an answer is stored: %+v", m)
			}
			if p.Call != nil {
				open[p.Call.ID] = p.Call.Name
			}
			if p.Result == nil {
				continue
			}
			name, ok := open[p.Result.CallID]
			if !ok || p.Result.Unknown {
				t.Errorf("a result that is not the only one of a call: %+v", p.Result)
			}
			delete(open, p.Result.CallID)
			results++
			switch {
			case p.Result.IsError:
				broken++
			case name == "add":
				sums++
			}
			if len(p.Result.Text) > 10_000 {
				long++
			}
		}
	}
	if by["anthropic/claude-sonnet-4-5"] < turns/2 || by["openai/gpt-4.1"] < turns/2 || results < turns/2 || broken == 0 || long == 0 {
		t.Errorf("the conversation is not what it should be: %v, %d results, %d of them errors, %d long", by, results, broken, long)
	}
	if len(open) != 0 || c.added != sums {
		t.Errorf("%d calls have no result; %d sums were made for %d results", len(open), c.added, sums)
	}
}

// checkFailures makes sure that each kind of failure has happened where tools are
// used: before the first call, and after results.
func checkFailures(t *testing.T, c *talk, turns int) {
	t.Helper()
	have := map[string]bool{}
	for at, what := range c.failed {
		switch {
		case at.turn%2 != 0:
			have[what+" without tools"] = true
		case at.results == 0:
			have[what+" before the first call"] = true
		default:
			have[what+" after a result"] = true
		}
	}
	if turns < 20 { // not all of the script
		return
	}
	for _, want := range []string{
		"cut without tools", "cut before the first call", "cut after a result",
		"overload without tools", "overload before the first call", "overload after a result",
		"limit without tools", "limit before the first call", "limit after a result",
	} {
		if !have[want] {
			t.Errorf("no %s in %v", want, c.failed)
		}
	}
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
