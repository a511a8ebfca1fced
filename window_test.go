package parley_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
)

// logbook makes events.
type logbook struct {
	t      testing.TB
	events []parley.Event
}

func (l *logbook) add(turn parley.TurnID, body parley.EventBody) {
	l.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		l.t.Fatal(err)
	}
	l.events = append(l.events, parley.Event{Session: "cli:x", Seq: uint64(len(l.events) + 1), Type: body.EventType(), Turn: turn, Data: data})
}

func (l *logbook) say(turn parley.TurnID, role parley.MessageRole, parts ...parley.Part) {
	l.t.Helper()
	l.add(turn, &parley.Message{ID: fmt.Sprintf("m%d", len(l.events)+1), Role: role, Parts: parts})
}

func callPart(id parley.CallID) parley.Part {
	return parley.Part{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: id, Name: "look", Arguments: json.RawMessage(`{}`)}}
}

func resultPart(id parley.CallID, text string) parley.Part {
	return parley.Part{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: id, Text: text}}
}

// sketch is a window in one line.
func sketch(messages []parley.Message) string {
	var out []string
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				out = append(out, "call:"+string(p.Call.ID))
			case p.Result != nil && p.Result.Text == parley.NoResult:
				out = append(out, "none:"+string(p.Result.CallID))
			case p.Result != nil:
				out = append(out, "result:"+string(p.Result.CallID))
			default:
				out = append(out, p.Text)
			}
		}
	}
	return strings.Join(out, " ")
}

func TestWindow(t *testing.T) {
	t.Parallel()
	text := parley.TextPart
	tests := []struct {
		name string
		log  func(l *logbook)
		past string
		turn string
	}{
		{"empty", func(*logbook) {}, "", ""},
		{"before the turn's first message", func(l *logbook) {
			l.say("t1", parley.MessageUser, text("a"))
		}, "a", ""},
		{"what was logged during a turn comes after it", func(l *logbook) {
			l.say("t1", parley.MessageUser, text("a"))
			l.say("", parley.MessageUser, text("logged"))
			l.say("t1", parley.MessageAssistant, text("b"))
			l.say("t2", parley.MessageUser, text("c"))
		}, "a b logged", "c"},
		{"what is logged during this turn is not in its window", func(l *logbook) {
			l.say("t1", parley.MessageUser, text("a"))
			l.say("t2", parley.MessageUser, text("b"))
			l.say("", parley.MessageUser, text("logged"))
			l.say("t2", parley.MessageAssistant, text("c"))
		}, "a", "b c"},
		{"a call without a result, in the past and in the turn", func(l *logbook) {
			l.say("t1", parley.MessageUser, text("a"))
			l.say("t1", parley.MessageAssistant, callPart("1"), callPart("2"))
			l.say("t1", parley.MessageTool, resultPart("2", "x"))
			l.say("t2", parley.MessageUser, text("b"))
			l.say("t2", parley.MessageAssistant, callPart("3"))
		}, "a call:1 call:2 result:2 none:1", "b call:3"},
		{"a missing result comes before the next words", func(l *logbook) {
			l.say("t1", parley.MessageAssistant, callPart("1"))
			l.say("t1", parley.MessageUser, text("steered"))
		}, "call:1 none:1 steered", ""},
		{"what was said between a call and its result comes after it", func(l *logbook) {
			l.say("t1", parley.MessageAssistant, callPart("1"), callPart("2"))
			l.say("t1", parley.MessageSystem, text("restarted"))
			l.say("t1", parley.MessageTool, resultPart("1", "x"))
			l.say("t1", parley.MessageUser, text("steered"))
			l.say("t1", parley.MessageTool, resultPart("2", "x"))
			l.say("t1", parley.MessageAssistant, text("b"))
		}, "call:1 call:2 result:1 result:2 restarted steered b", ""},
		{"results without a call, twice, and out of place", func(l *logbook) {
			l.say("t1", parley.MessageTool, resultPart("0", "x"))
			l.say("t1", parley.MessageAssistant, callPart("1"))
			l.say("t1", parley.MessageTool, resultPart("1", "x"), resultPart("1", "x"))
			l.say("t1", parley.MessageTool, resultPart("1", "x"))
			l.say("t1", parley.MessageAssistant, text("b"))
			l.say("t1", parley.MessageTool, resultPart("1", "x"))
			l.say("t2", parley.MessageTool, resultPart("1", "x"))
		}, "call:1 result:1 b", ""},
		{"a redacted call takes its result along, a redacted result is missed", func(l *logbook) {
			l.say("t1", parley.MessageAssistant, callPart("1"))
			l.say("t1", parley.MessageTool, resultPart("1", "x"))
			l.say("t1", parley.MessageAssistant, callPart("2"))
			l.say("t1", parley.MessageTool, resultPart("2", "x"))
			l.say("t1", parley.MessageAssistant, text("b"))
			l.events[0].Data = parley.TombstoneData
			l.events[3].Data = parley.TombstoneData
		}, "call:2 none:2 b", ""},
		{"rewound", func(l *logbook) {
			l.say("t0", parley.MessageUser, text("a"))
			l.say("t0", parley.MessageAssistant, text("b"))
			l.say("t1", parley.MessageUser, text("c"))
			l.say("", parley.MessageUser, text("logged"))
			l.add("", &parley.Rewound{ToSeq: 2, Turns: 1})
			l.say("t2", parley.MessageUser, text("d"))
		}, "a b", "d"},
		{"rewound into the middle of a turn", func(l *logbook) {
			l.say("t1", parley.MessageUser, text("a"))
			l.say("t1", parley.MessageAssistant, callPart("1"))
			l.say("t1", parley.MessageTool, resultPart("1", "x"))
			l.add("", &parley.Rewound{ToSeq: 2})
		}, "a call:1 none:1", ""},
		{"rewound before all of its own turn", func(l *logbook) {
			l.say("t1", parley.MessageUser, text("a"))
			l.say("t2", parley.MessageUser, text("b"))
			l.add("", &parley.Rewound{ToSeq: 1})
			l.say("", parley.MessageUser, text("logged"))
		}, "a", ""},
		{"what was carried here was not taken back here", func(l *logbook) {
			l.say("t0", parley.MessageUser, text("a"))
			l.say("t0", parley.MessageAssistant, text("b"))
			l.events[0].Seq, l.events[1].Seq = 0, 0
			l.say("t1", parley.MessageUser, text("c"))
			l.add("", &parley.Rewound{ToSeq: 0})
			l.say("t2", parley.MessageUser, text("d"))
		}, "a b", "d"},
		{"hidden from models", func(l *logbook) {
			l.say("t1", parley.MessageUser, text("a"))
			l.add("t1", &parley.Message{ID: "h", Role: parley.MessageSystem, Hidden: true, Parts: []parley.Part{text("please wait")}})
			l.add("", &parley.Message{ID: "i", Role: parley.MessageSystem, Hidden: true, Parts: []parley.Part{text("please wait")}})
			l.say("t1", parley.MessageAssistant, text("b"))
		}, "a b", ""},
		{"other events say nothing", func(l *logbook) {
			l.add("", &parley.Started{Agent: "main", Source: parley.Source{Kind: "cli"}})
			l.add("t2", &parley.TurnStarted{Attempt: 1})
			l.say("t2", parley.MessageUser, text("a"))
			l.add("t2", &parley.TurnStarted{Attempt: 2})
		}, "", "a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := &logbook{t: t}
			test.log(l)
			w, err := parley.WindowOf(l.events, "t2")
			if err != nil {
				t.Fatal(err)
			}
			if got := sketch(w.Past); got != test.past {
				t.Errorf("past: %q, want %q", got, test.past)
			}
			if got := sketch(w.Turn); got != test.turn {
				t.Errorf("turn: %q, want %q", got, test.turn)
			}
		})
	}
}

// TestWindowRules runs random logs: every window of a later turn begins with the
// past of an earlier one, and no call or result stands alone.
func TestWindowRules(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range soak.Count(200, 2000) {
		l := &logbook{t: t}
		calls := 0
		var before []parley.Message
		for turn := range 2 + rng.IntN(8) {
			id := parley.TurnID(fmt.Sprintf("t%d", turn))
			l.say(id, parley.MessageUser, parley.TextPart("in"))
			w, err := parley.WindowOf(l.events, id)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(sketch(w.Past)+" ", sketch(before)+" ") && len(before) > 0 {
				t.Fatalf("past %q does not begin with %q", sketch(w.Past), sketch(before))
			}
			before = w.Past
			checkPairs(t, w.Past)
			for range rng.IntN(6) {
				switch rng.IntN(4) {
				case 0:
					l.say("", parley.MessageUser, parley.TextPart("logged"))
				case 1:
					l.say(id, parley.MessageAssistant, parley.TextPart("out"))
				case 2:
					calls += 2
					l.say(id, parley.MessageAssistant, callPart(parley.CallID(fmt.Sprint(calls-1))), callPart(parley.CallID(fmt.Sprint(calls))))
				case 3:
					l.say(id, parley.MessageTool, resultPart(parley.CallID(fmt.Sprint(rng.IntN(calls+2))), "x"))
				}
			}
		}
	}
}

func checkPairs(t *testing.T, messages []parley.Message) {
	t.Helper()
	open := map[parley.CallID]bool{}
	for _, m := range messages {
		if m.Role != parley.MessageTool && len(open) > 0 {
			t.Fatalf("calls without results in %q", sketch(messages))
		}
		for _, p := range m.Parts {
			if p.Call != nil {
				open[p.Call.ID] = true
			}
			if p.Result != nil {
				if !open[p.Result.CallID] {
					t.Fatalf("a result without its call in %q", sketch(messages))
				}
				delete(open, p.Result.CallID)
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls without results in %q", sketch(messages))
	}
}
