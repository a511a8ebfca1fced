package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/model/anthropic"
)

// TestRandomWindows asks with windows of random sessions, twice each, and the
// second time with what was answered. The server takes every one of them, and
// what was said before the turn is rendered as it is without the turn.
func TestRandomWindows(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	var reply modelserver.Reply
	s := modelserver.Anthropic(t, func(modelserver.Request) modelserver.Reply { return reply })
	asked := 0
	for round := range soak.Count(150, 1_500) {
		g := generator{Rand: rand.New(rand.NewPCG(seed, uint64(round)))}
		w, err := parley.WindowOf(g.events(), "t3")
		if err != nil {
			t.Fatal(err)
		}
		past, turn := g.messages(w.Past), g.messages(w.Turn)
		if len(past)+len(turn) == 0 {
			continue
		}
		m := model(t, s, func(c *anthropic.Config) {
			c.Model = pickOne(g.Rand, currentModel, budgetModel, "imitation")
			c.Thinking = pickOne(g.Rand, 0, 1024, 9000)
		})
		req := parley.ModelRequest{System: pickOne(g.Rand, "", " ", "Be brief."), Messages: slices.Concat(past, turn), MaxTokens: pickOne(g.Rand, 0, 1, 5000)}
		if g.IntN(2) == 0 {
			req.Tools = []parley.ToolSpec{{Name: "f"}, {Name: "g", Schema: json.RawMessage(`{"type":"object"}`)}}
		}
		reply = g.reply(round)
		a := collect(t, m.Stream(t.Context(), req))
		if nothing := parley.CodeOf(a.err) == parley.CodeInvalid && strings.Contains(a.err.Error(), "no message to answer"); nothing {
			continue
		}
		if a.err != nil {
			t.Fatalf("round %d: %v\n%s", round, a.err, last(s))
		}
		asked++
		whole := sent(t, s)
		checkRoles(t, whole)
		if a = collect(t, m.Stream(t.Context(), goOn(req, a))); a.err != nil {
			t.Fatalf("round %d, going on: %v\n%s", round, a.err, last(s))
		}
		checkRoles(t, sent(t, s))
		req.Messages = past
		if a = collect(t, m.Stream(t.Context(), req)); a.err != nil {
			continue // nothing was said before
		}
		before := sketch(t, sent(t, s).Messages)
		ended := len(before) - 1 // the last can grow, and the one before what only stands in for it
		if before[ended] == `u "(Please go on.)"*` {
			ended--
		}
		if diff := cmp.Diff(before[:ended], sketch(t, whole.Messages)[:ended]); diff != "" {
			t.Fatalf("round %d: what was said before the turn changed: %s", round, diff)
		}
	}
	if asked < soak.Count(150, 1_500)/2 {
		t.Errorf("only %d windows were worth asking with", asked)
	}
}

func last(s *modelserver.Server) []byte { return s.Requests()[len(s.Requests())-1].Body }

// checkRoles holds that messages alternate, beginning and ending with the user's.
func checkRoles(t *testing.T, b body) {
	t.Helper()
	for i, raw := range b.Messages {
		want := []string{`"role":"user"`, `"role":"assistant"`}[i%2]
		if !bytes.HasSuffix(raw, []byte(want+"}")) || i == len(b.Messages)-1 && i%2 != 0 {
			t.Fatalf("message %d of %d: %s", i, len(b.Messages), raw)
		}
	}
}

func pickOne[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// generator makes up sessions.
type generator struct{ *rand.Rand }

// events gives the events of a session with three turns, and things said between.
func (g generator) events() []parley.Event {
	var events []parley.Event
	for i := range g.IntN(14) {
		var body parley.EventBody = g.message(i)
		if g.IntN(15) == 0 && i > 0 {
			body = &parley.Rewound{ToSeq: uint64(g.IntN(i))}
		}
		data, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		events = append(events, parley.Event{
			Seq: uint64(i + 1), Type: body.EventType(), Data: data, Turn: pickOne[parley.TurnID](g.Rand, "", "t1", "t2", "t3"),
		})
	}
	return events
}

func (g generator) message(i int) *parley.Message {
	m := &parley.Message{
		ID:   fmt.Sprint("m", i),
		Role: pickOne(g.Rand, parley.MessageUser, parley.MessageAssistant, parley.MessageAssistant, parley.MessageTool, parley.MessageTool, parley.MessageSystem),
	}
	for range g.IntN(4) {
		m.Parts = append(m.Parts, g.part(m.Role))
	}
	return m
}

// part gives a part that fits the role, most of the time.
func (g generator) part(role parley.MessageRole) parley.Part {
	kinds := []parley.PartKind{parley.PartText, parley.PartReasoning, parley.PartMedia, parley.PartToolCall, parley.PartToolResult}
	if g.IntN(4) > 0 {
		switch role {
		case parley.MessageAssistant:
			kinds = []parley.PartKind{parley.PartText, parley.PartReasoning, parley.PartToolCall}
		case parley.MessageTool:
			kinds = []parley.PartKind{parley.PartToolResult}
		default:
			kinds = []parley.PartKind{parley.PartText, parley.PartMedia}
		}
	}
	p := parley.Part{Kind: pickOne(g.Rand, kinds...)}
	id := pickOne[parley.CallID](g.Rand, "a", "b", "c.1", "d:ü", parley.CallID(strings.Repeat("e", 200)))
	media := &parley.Media{Handle: "h", Type: pickOne(g.Rand, "image/png", "image/jpeg", "text/plain"), Name: pickOne(g.Rand, "", "n.png")}
	text := pickOne(g.Rand, "", " ", "word", "ends ", "\"<ü>\"\n")
	switch p.Kind {
	case parley.PartText, parley.PartReasoning:
		p.Text = text
	case parley.PartMedia:
		p.Media = media
	case parley.PartToolCall:
		p.Call = &parley.ToolCall{
			ID: id, Name: pickOne(g.Rand, "f", "g h", strings.Repeat("n", 70), "ü"),
			Arguments: json.RawMessage(pickOne(g.Rand, `{}`, `{"a":{"b":[1,2.5e10]}}`, `[1]`, `"x"`, `null`, `7`)),
		}
	case parley.PartToolResult:
		p.Result = &parley.ToolResult{CallID: id, Text: text, IsError: g.IntN(3) == 0, Unknown: g.IntN(5) == 0}
		if g.IntN(3) == 0 {
			p.Result.Media = media
		}
	}
	return p
}

// messages adds what is not stored.
func (g generator) messages(stored []parley.Message) []parley.ModelMessage {
	var out []parley.ModelMessage
	for _, m := range stored {
		mm := message(m.Role, m.Parts...)
		for i := range mm.Parts {
			mm.Parts[i].Data = []byte(pickOne(g.Rand, "", pngBytes, gifBytes, "text"))
			mm.Parts[i].Opaque = []byte(pickOne(g.Rand, "", "", "{", `{"model":"`+currentModel+`","signature":"x"}`))
		}
		out = append(out, mm)
	}
	return out
}

func (g generator) reply(round int) modelserver.Reply {
	r := modelserver.Reply{Text: []string{"ok"}}
	for i := range g.IntN(3) {
		r.Calls = append(r.Calls, modelserver.Call{ID: fmt.Sprintf("r%d_%d", round, i), Name: "f", Arguments: pickOne(g.Rand, "", "{", `{"a":1}`)})
	}
	if g.IntN(2) == 0 {
		r.Reasoning = []string{pickOne(g.Rand, "", "hm"), modelserver.AnthropicRedacted + "x", "more"}
	}
	return r
}
