package turn_test

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/openai"
	"github.com/parley-run/parley/turn"
)

// TestSloppyAnswers has models that leave out what they should say, or say it in
// ways that nobody expects: the answer is stored all the same.
func TestSloppyAnswers(t *testing.T) {
	t.Parallel()
	prose := func(kind parley.PartKind, s string) parley.ModelPiece { return parley.ModelPiece{Kind: kind, Text: s} }
	var turns []parley.ModelPiece // from reasoning to text and back, more often than a message has parts
	for range 200 {
		turns = append(turns, prose(parley.PartReasoning, "hm "), text("a "))
	}
	tests := []struct {
		name   string
		pieces []parley.ModelPiece
		kinds  map[parley.PartKind]string // all that is said, by kind
	}{
		{"a piece of no kind", []parley.ModelPiece{prose("", "x")}, map[parley.PartKind]string{parley.PartText: "x"}},
		{"a piece of a kind that is no prose", []parley.ModelPiece{prose(parley.PartMedia, "x")}, map[parley.PartKind]string{parley.PartText: "x"}},
		{"no stop reason", []parley.ModelPiece{text("x"), {Done: &parley.ModelDone{}}}, map[parley.PartKind]string{parley.PartText: "x"}},
		{"many parts", turns, map[parley.PartKind]string{
			parley.PartText: strings.Repeat("a ", 200), parley.PartReasoning: strings.Repeat("hm ", 200),
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			m := plays(says(test.pieces...), says(text("next")))
			r := runner(t, turn.Agent{Models: models(m)})
			end := l.run(r, l.ask(parley.TextPart("Go")))
			if end.Completed.StopReason != parley.StopDone || end.Last == nil {
				t.Fatalf("%+v", end)
			}
			got := map[parley.PartKind]string{}
			for _, p := range l.messages()[1].Parts {
				got[p.Kind] += p.Text
			}
			for kind, want := range test.kinds {
				if got[kind] != want {
					t.Errorf("%s: %q", kind, got[kind])
				}
			}
			if len(got) != len(test.kinds) {
				t.Errorf("stored: %q", got)
			}
			l.run(r, l.ask(parley.TextPart("And now?"))) // the session goes on
		})
	}
}

// TestWithdrawnCalls does not run the calls of an answer that the provider took back.
func TestWithdrawnCalls(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ran := 0
	tools := &bench{tools: map[string]toolFunc{"look": gives("x", &ran)}}
	m := plays(says(text("I will"), call("look", `{}`), done(parley.StopContentFilter)))
	end := l.run(runner(t, turn.Agent{Models: models(m), Tools: tools}), l.ask(parley.TextPart("Go")))
	if ran != 0 || end.Completed.StopReason != parley.StopContentFilter || end.Last == nil || len(end.Last.Calls()) != 0 {
		t.Errorf("ran %d, %+v", ran, end)
	}
}

// TestMuchProviderState has a model give more state of its own than a turn can
// store: the oldest is forgotten, the latest is given back, and the turn goes on.
func TestMuchProviderState(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	const rounds = 8
	ran := 0
	m := plays()
	for range rounds {
		m.answers = append(m.answers, says(thought("hm", strings.Repeat("s", 100<<10)), call("look", `{}`)))
	}
	m.answers = append(m.answers, says(text("ok")))
	tools := &bench{tools: map[string]toolFunc{"look": gives("x", &ran)}}
	id := l.ask(parley.TextPart("Go"))
	end, err := runner(t, turn.Agent{Models: models(m), Tools: tools}).Run(t.Context(), l.context(id))
	if err != nil || end.Completed.StopReason != parley.StopDone || ran != rounds {
		t.Fatalf("ran %d, %+v, %v", ran, end.Completed, err)
	}
	var given []bool // for each round, whether the model got its state back
	for _, msg := range m.asked[rounds].Messages {
		for _, p := range msg.Parts {
			if p.Kind == parley.PartReasoning {
				given = append(given, len(p.Opaque) > 0)
			}
		}
	}
	if len(given) != rounds || given[0] || !given[rounds-1] {
		t.Errorf("state given back: %v", given)
	}
	stored, err := l.store.Turn(t.Context(), parley.SeeAll(), l.session, id)
	if err != nil || len(stored.Opaque) == 0 || len(stored.Opaque) > parley.MaxBodyBytes {
		t.Errorf("%d bytes of state, %v", len(stored.Opaque), err)
	}
	l.close(id, end)
}

// TestServersThatDoNotCount has a server that does not say what an answer took: it
// is charged by its length.
func TestServersThatDoNotCount(t *testing.T) {
	t.Parallel()
	const words = 1000
	server := modelserver.OpenAI(t, func(modelserver.Request) modelserver.Reply {
		return modelserver.Reply{Text: []string{strings.Repeat("word ", words)}}
	})
	m, err := openai.New(openai.Config{
		Model: "gpt-4.1", BaseURL: server.URL, HTTPClient: server.Client(), NoUsage: true,
		KeyFunc: func(context.Context) (string, error) { return "sk-test-key-of-the-conversation", nil },
		Info:    parley.ModelInfo{Price: &parley.Price{Input: 1_000_000, Output: 1_000_000}}, // a millionth of a dollar a token
	})
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t)
	p := &purse{left: 1 << 40}
	l.budget = p
	end := l.run(runner(t, turn.Agent{Models: models(m)}), l.ask(parley.TextPart("Go")))
	if end.Completed.StopReason != parley.StopDone || end.Last == nil {
		t.Fatalf("%+v", end)
	}
	if u := end.Completed.Usage; len(p.spent) != 1 || p.spent[0] != u.CostMicroUSD || u.CostMicroUSD < words || u.CostMicroUSD > 2*words || u.OutputTokens < words {
		t.Errorf("spent %v, %+v", p.spent, u)
	}
}
