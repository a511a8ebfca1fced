package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/model/openai"
)

// log makes random logs of sessions.
type log struct {
	*rand.Rand
	t      testing.TB
	events []parley.Event
	turns  []parley.TurnID
}

// say appends a message of a turn, or of none.
func (l *log) say(turn parley.TurnID, role parley.MessageRole, parts ...parley.Part) {
	seq := uint64(len(l.events) + 1)
	data, err := parley.EncodeBody(&parley.Message{ID: fmt.Sprint("m", seq), Role: role, Parts: parts})
	if err != nil {
		l.t.Fatal(err)
	}
	l.events = append(l.events, parley.Event{Seq: seq, Type: parley.EventMessage, Turn: turn, Data: data})
}

func (l *log) chance(percent int) bool { return l.IntN(100) < percent }

func (l *log) pick(of ...string) string { return of[l.IntN(len(of))] }

// media gives the part of a file, now and then one that is an image.
func (l *log) media() *parley.Media {
	return &parley.Media{
		Handle: strings.Repeat("a", 64), Type: l.pick("image/png", "image/jpg", "image/tiff", "application/pdf"),
		Name: l.pick("", "x.png", "ünïcode\".pdf"), Size: l.Int64N(1000),
	}
}

// people gives what somebody wrote.
func (l *log) people() []parley.Part {
	var parts []parley.Part
	for range l.IntN(4) {
		if l.chance(30) {
			parts = append(parts, parley.Part{Kind: parley.PartMedia, Media: l.media()})
		} else {
			parts = append(parts, parley.TextPart(l.pick("", " ", "hello", "</system>", "a\nb", "\u2028")))
		}
	}
	return parts
}

// calls gives calls, with ids and names that no API likes.
func (l *log) calls(turn parley.TurnID, n int) []parley.Part {
	var parts []parley.Part
	for i := range n {
		parts = append(parts, call(
			l.pick(fmt.Sprintf("call-%d", i), fmt.Sprintf("%s.%d.%s", turn, i, strings.Repeat("i", 60))),
			l.pick("search", "read.file", "grüß dich", strings.Repeat("n", 200), "mcp__x-y"),
			l.pick("", "{}", `{"a": [1, {"b": null}]}`, `"{broken"`, `[1]`, `null`, `3`),
		))
	}
	return parts
}

// turn appends a turn, which may end anywhere.
func (l *log) turn() {
	turn := parley.TurnID(fmt.Sprint("turn", len(l.turns)))
	l.turns = append(l.turns, turn)
	for range 1 + l.IntN(2) {
		l.say(turn, parley.MessageUser, l.people()...)
	}
	for !l.chance(30) {
		var parts []parley.Part
		if l.chance(30) {
			parts = append(parts, parley.Part{Kind: parley.PartReasoning, Text: "hm"})
		}
		if l.chance(60) {
			parts = append(parts, parley.TextPart(l.pick("", "so", "let me see")))
		}
		calls := l.calls(turn, l.IntN(4))
		l.say(turn, parley.MessageAssistant, append(parts, calls...)...)
		for _, c := range calls {
			if l.chance(10) {
				l.say(turn, parley.MessageUser, parley.TextPart("wait"))
			}
			if l.chance(85) {
				r := parley.ToolResult{CallID: c.Call.ID, Text: l.pick("", "ok", "line\nline"), IsError: l.chance(20), Unknown: l.chance(10)}
				if l.chance(20) {
					r.Media = l.media()
				}
				l.say(turn, parley.MessageTool, parley.Part{Kind: parley.PartToolResult, Result: &r})
			}
		}
		if l.chance(10) {
			l.say(turn, parley.MessageTool, result("of-nothing", "x"))
		}
		if l.chance(10) {
			l.say(turn, parley.MessageSystem, parley.TextPart("The time is up."))
		}
	}
}

// request gives what a model is asked in a turn.
func request(messages []parley.Message, tools []parley.ToolSpec) parley.ModelRequest {
	req := parley.ModelRequest{System: "Be kind.", Tools: tools, MaxTokens: 1000, CacheKey: "s"}
	for _, m := range messages {
		out := message(m.Role, m.Parts...)
		for i, p := range out.Parts {
			if p.Media != nil && p.Media.Size%3 > 0 || p.Result != nil && p.Result.Media != nil {
				out.Parts[i].Data = []byte("pixels")
			}
		}
		req.Messages = append(req.Messages, out)
	}
	return req
}

// TestWindowsAreAccepted renders windows of random sessions. The strict server
// takes each of them, and those of consecutive turns begin alike.
func TestWindowsAreAccepted(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	s := modelserver.OpenAI(t, always(modelserver.Reply{Text: []string{"x"}}))
	m := model(t, s, func(c *openai.Config) { c.Model = "gpt-6-sol" })
	tools := []parley.ToolSpec{{Name: "search", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "read_file"}}

	body := func(messages []parley.Message) []byte {
		before := len(s.Requests())
		if _, err := collect(t, m.Stream(t.Context(), request(messages, tools))); err != nil {
			t.Fatalf("PARLEY_SEED=%d: %v\n%+v", seed, err, messages)
		}
		return s.Requests()[before].Body
	}
	calls := 0
	for i := range soak.Count(60, 2000) {
		l := &log{Rand: rand.New(rand.NewPCG(seed, uint64(i))), t: t}
		for range 1 + l.IntN(4) {
			l.turn()
			if l.chance(30) {
				l.say("", parley.MessageUser, parley.TextPart("by the way"))
			}
		}
		var past []byte // of the turn before
		for _, turn := range l.turns {
			w, err := parley.WindowOf(l.events, turn)
			if err != nil {
				t.Fatal(err)
			}
			whole := body(append(append([]parley.Message(nil), w.Past...), w.Turn...))
			calls += bytes.Count(whole, []byte(`"tool_calls"`))
			begin := upToLast(t, body(w.Past))
			if !bytes.HasPrefix(whole, begin) || !bytes.HasPrefix(begin, past) {
				t.Fatalf("PARLEY_SEED=%d: the windows do not begin alike:\n%s\n%s\n%s", seed, past, begin, whole)
			}
			past = begin
		}
	}
	if calls == 0 {
		t.Error("no window had calls")
	}
}
