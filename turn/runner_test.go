package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/turn"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := plays(says(text("Hel"), text("lo."), done(parley.StopDone)))
	end := l.run(runner(t, turn.Agent{Models: models(m)}), l.ask(parley.TextPart("Hi")))
	want := parley.TurnEnd{
		Last: &parley.Message{ID: "t1.1.1", Role: parley.MessageAssistant, Model: "fake/one", Parts: []parley.Part{parley.TextPart("Hello.")}},
		Completed: parley.TurnCompleted{
			StopReason: parley.StopDone, PromptTokens: 100, Usage: parley.Usage{InputTokens: 100, OutputTokens: 10, CostMicroUSD: 5},
		},
	}
	if diff := cmp.Diff(want, end); diff != "" {
		t.Error(diff)
	}
	var shown []string
	for i, d := range l.deltas {
		if d.Stream != "t1.1.1" || d.N != i+1 || d.Session != l.session || d.Fence != l.fence || d.After != 3 {
			t.Errorf("delta %+v", d)
		}
		shown = append(shown, d.Text)
	}
	if strings.Join(shown, "|") != "Hel|lo." {
		t.Errorf("shown: %q", shown)
	}
	if req := m.asked[0]; req.System != "Be brief." || len(req.Messages) != 1 || req.Messages[0].Parts[0].Text != "Hi" || req.CacheKey != "cli:lab" {
		t.Errorf("asked: %+v", req)
	}
}

// TestRounds goes through two rounds of tools, with signed reasoning, and then
// through a second turn.
func TestRounds(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var looked, wrote int
	tools := &bench{tools: map[string]func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error){
		"look": gives("a tree", &looked), "write": gives("written", &wrote),
	}}
	m := plays(
		says(thought("I should look.", "sig-1"), text("Let me see."), call("look", `{"at":1}`), call("write", `{}`), done(parley.StopDone)),
		says(call("look", ``), done(parley.StopDone)),
		says(text("It is a tree."), done(parley.StopDone)),
		says(text("Bye.")),
	)
	r := runner(t, turn.Agent{Models: models(m), Tools: tools})
	end := l.run(r, l.ask(parley.TextPart("What is there?")))
	if looked != 2 || wrote != 1 || end.Completed.Usage.InputTokens != 300 || end.Completed.StopReason != parley.StopDone {
		t.Errorf("looked %d, wrote %d, %+v", looked, wrote, end.Completed)
	}
	l.run(r, l.ask(parley.TextPart("Thanks.")))

	var roles []string
	ids := map[parley.CallID]bool{}
	for _, msg := range l.messages() {
		roles = append(roles, string(msg.Role))
		for _, c := range msg.Calls() {
			if ids[c.ID] || c.ID == "x" {
				t.Errorf("call id %s is not our own, or used twice", c.ID)
			}
			ids[c.ID] = true
		}
	}
	if got := strings.Join(roles, " "); got != "user assistant tool tool assistant tool assistant user assistant" {
		t.Errorf("roles: %s", got)
	}
	// Within the turn the model gets its signature back, later not.
	if got := string(m.asked[2].Messages[1].Parts[0].Opaque); got != "sig-1" {
		t.Errorf("signature in the open turn: %q", got)
	}
	if got := m.asked[3].Messages[1].Parts[0]; got.Opaque != nil || got.Text != "I should look." {
		t.Errorf("reasoning in the next turn: %+v", got)
	}
	if turn, err := l.store.Turn(t.Context(), parley.SeeAll(), l.session, "t1"); err != nil || turn.Opaque != nil {
		t.Errorf("opaque state is left: %q, %v", turn.Opaque, err)
	}
}

// TestSameTwice is the promise that the same conversation is stored the same.
func TestSameTwice(t *testing.T) {
	t.Parallel()
	once := func() []parley.Message {
		l := newLab(t)
		n := 0
		m := plays(says(call("look", `{}`)), says(text("Done.")))
		l.run(runner(t, turn.Agent{Models: models(m), Tools: &bench{tools: map[string]func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error){"look": gives("x", &n)}}}), l.ask(parley.TextPart("Go")))
		return l.messages()
	}
	if diff := cmp.Diff(once(), once()); diff != "" {
		t.Error(diff)
	}
}

// TestOddCalls has a model that asks for things in ways that cannot be stored or
// sent back.
func TestOddCalls(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	m := plays(
		says(call("rm -rf /\x00", `{"a":1}`), call("", ``), call("deep", deep), call(strings.Repeat("n", 99), `"not an object"`)),
		says(text("Sorry.")),
	)
	tools := &bench{effects: map[string]parley.ToolEffect{"rm_-rf___": parley.ToolDeny, "unnamed": parley.ToolDeny, "deep": parley.ToolDeny, strings.Repeat("n", 64): parley.ToolDeny}}
	end := l.run(runner(t, turn.Agent{Models: models(m), Tools: tools}), l.ask(parley.TextPart("Go")))
	if end.Completed.StopReason != parley.StopDone {
		t.Fatalf("%+v", end.Completed)
	}
	for i, c := range l.messages()[1].Calls() {
		if !json.Valid(c.Arguments) {
			t.Errorf("call %d: arguments %s", i, c.Arguments)
		}
	}
	for _, msg := range l.messages()[2:6] {
		if r := msg.Parts[0].Result; r == nil || !r.IsError || !strings.HasPrefix(r.Text, "Refused: ") {
			t.Errorf("result %+v", r)
		}
	}
}

func TestFallback(t *testing.T) {
	t.Parallel()
	limited := &parley.Error{Code: parley.CodeRateLimited, Message: "slow down", RetryAfter: 7e9}
	down := parley.Errorf(parley.CodeUnavailable, "overloaded")
	tests := []struct {
		name   string
		first  error
		pieces []parley.ModelPiece
		answer string // of the second model; "": it is not asked
		code   string // of the turn's error
		waits  bool
	}{
		{name: "rate limit", first: limited, answer: "two"},
		{name: "overload", first: down, answer: "two"},
		{name: "after the first words", first: down, pieces: []parley.ModelPiece{text("On")}, waits: true},
		{name: "after a call", first: down, pieces: []parley.ModelPiece{call("look", `{}`)}, waits: true},
		{name: "credential", first: parley.Errorf(parley.CodeUnauthorized, "no"), code: "model_unauthorized"},
		{name: "bad request", first: parley.Errorf(parley.CodeInvalid, "no"), code: "model_refused"},
		{name: "too long", first: parley.Errorf(parley.CodeTooLarge, "no"), code: "context_too_large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			one, two := plays(fails(test.first, test.pieces...)), plays(says(text("two")))
			two.name = "other/two"
			r := runner(t, turn.Agent{Models: models(one, two)})
			id := l.ask(parley.TextPart("Hi"))
			end, err := r.Run(t.Context(), l.context(id))
			if test.waits {
				if !errors.Is(err, parley.ErrSuspended) || !errors.Is(err, parley.ErrUnavailable) || len(two.asked) > 0 {
					t.Errorf("%+v, %v", end, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.answer != "" && (end.Last == nil || end.Last.Model != "other/two" || parley.PlainText(end.Last.Parts) != test.answer) {
				t.Errorf("%+v", end)
			}
			if test.code != "" && (end.Completed.Error == nil || end.Completed.Error.Code != test.code || end.Completed.StopReason != parley.StopError || len(two.asked) > 0) {
				t.Errorf("%+v", end.Completed)
			}
		})
	}
}

// TestOutage has a whole chain down: the turn waits as long as the first of them
// asks for, and goes on when it is back.
func TestOutage(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	one := plays(fails(&parley.Error{Code: parley.CodeRateLimited, Message: "later", RetryAfter: 9e9}), says(text("Back.")))
	two := plays(fails(&parley.Error{Code: parley.CodeUnavailable, Message: "overloaded", RetryAfter: 4e9}))
	two.name = "other/two"
	r := runner(t, turn.Agent{Models: models(one, two)})
	id := l.ask(parley.TextPart("Hi"))
	_, err := r.Run(t.Context(), l.context(id))
	wait, ok := errors.AsType[*parley.SuspendError](err)
	if !ok || wait.After != 4e9 || !strings.Contains(err.Error(), "later") || !strings.Contains(err.Error(), "overloaded") {
		t.Fatalf("%+v", err)
	}
	// A provider that said when is left alone until then.
	if _, err := r.Run(t.Context(), l.context(id)); !errors.Is(err, parley.ErrSuspended) || len(one.asked) != 1 {
		t.Fatalf("asked %d times, %v", len(one.asked), err)
	}
	late := runner(t, turn.Agent{Models: models(one, two)})
	l.again(id)
	if end := l.run(late, id); end.Last == nil || end.Last.ID != "t1.2.1" {
		t.Errorf("%+v", end)
	}
}

func TestContextLimit(t *testing.T) {
	t.Parallel()
	words := parley.TextPart(strings.Repeat("word ", 3000)) // 15,000 bytes, about 3,000 tokens
	t.Run("too long", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		m := plays(says(text("no")))
		m.info.Context = 3000
		end := l.run(runner(t, turn.Agent{Models: models(m)}), l.ask(words))
		if e := end.Completed.Error; e == nil || e.Code != "context_too_large" || !strings.Contains(e.Message, "fake/one takes 1500") || len(m.asked) > 0 {
			t.Errorf("%+v", end.Completed)
		}
	})
	t.Run("more bytes than tokens", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		m := plays(says(text("yes")))
		m.info.Context = 7000
		if end := l.run(runner(t, turn.Agent{Models: models(m)}), l.ask(words)); end.Last == nil {
			t.Errorf("%+v", end.Completed)
		}
	})
	t.Run("a fallback that is too small is passed over", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		one, two, three := plays(fails(parley.Errorf(parley.CodeUnavailable, "down"))), plays(), plays(says(text("three")))
		two.name, three.name = "b/two", "c/three"
		two.info.Context = 2000
		if end := l.run(runner(t, turn.Agent{Models: models(one, two, three)}), l.ask(words)); end.Last == nil || end.Last.Model != "c/three" {
			t.Errorf("%+v", end)
		}
	})
}

func TestSteered(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	n := 0
	m := plays(says(call("look", `{}`)), says(text("As you wish.")))
	tools := &bench{tools: map[string]func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error){"look": gives("x", &n)}}
	said := parley.Message{ID: "s1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("Hurry.")}}
	l.steer = func(context.Context) ([]parley.Message, error) {
		l.commit(parley.SessionChange{Events: []parley.NewEvent{{Turn: "t1", Body: &said}}})
		return []parley.Message{said}, nil
	}
	l.run(runner(t, turn.Agent{Models: models(m), Tools: tools}), l.ask(parley.TextPart("Go")))
	last := m.asked[1].Messages
	if got := last[len(last)-1]; got.Role != parley.MessageUser || got.Parts[0].Text != "Hurry." {
		t.Errorf("the model was last told %+v", got)
	}
}
