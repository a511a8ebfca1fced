package scripted_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/scripted"
)

var _ parley.Model = (*scripted.Model)(nil)

func TestNew(t *testing.T) {
	t.Parallel()
	free := &parley.Price{}
	for _, test := range []struct {
		config scripted.Config
		want   parley.ModelInfo
	}{
		{scripted.Config{}, parley.ModelInfo{Name: "scripted/demo", Context: 200_000, MaxOutput: 32_000, Price: free}},
		{scripted.Config{Name: "x-1.b", Context: 500}, parley.ModelInfo{Name: "scripted/x-1.b", Context: 500, MaxOutput: 500, Price: free}},
		{scripted.Config{Name: "x", MaxOutput: 7}, parley.ModelInfo{Name: "scripted/x", Context: 200_000, MaxOutput: 7, Price: free}},
	} {
		if diff := cmp.Diff(test.want, modelOf(t, test.config).Info()); diff != "" {
			t.Error(diff)
		}
	}
	for _, c := range []scripted.Config{
		{Name: "a/b"},
		{Name: "a b"},
		{Name: strings.Repeat("x", 65)},
		{Context: -1},
		{MaxOutput: -1},
		{Pace: -1},
		{Context: 1 << 30},
		{MaxOutput: 1 << 30},
	} {
		if m, err := scripted.New(c); m != nil || parley.CodeOf(err) != parley.CodeInvalid {
			t.Errorf("%+v gives %v, %v", c, m, err)
		}
	}
}

// TestPieces: text comes in small pieces, and an answer ends with one Done.
func TestPieces(t *testing.T) {
	t.Parallel()
	m := scriptOf(t, `rules: [{say: [{reasoning: so so}, "one two\n\nDonaudampfschifffahrt äääääääääää ", {call: t}]}]`)
	var got []string
	for _, p := range ask(t.Context(), m, request(user("x"))).pieces {
		switch {
		case p.Done != nil:
			got = append(got, "done")
		case p.Opaque != nil:
			got = append(got, string(p.Kind)+" "+string(p.Opaque))
		default:
			got = append(got, string(p.Kind)+" "+p.Text)
		}
	}
	want := []string{
		"reasoning so ", "reasoning so", "reasoning scripted:ebdd7b80aa4838dc",
		"text one ", "text two\n", "text \n", "text Donaudampfschiff", "text fahrt ", "text ääääääää", "text äää ",
		"tool_call ", "done",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestUsage: a token is four bytes, of what a model would read.
func TestUsage(t *testing.T) {
	t.Parallel()
	m := scriptOf(t, "rules: [{say: [{reasoning: 12345}, '123', {call: {tool: ab, arguments: {}}}]}]")
	req := request(user("12345"), media("", make([]byte, 99), parley.Media{Type: "image/png"}), calls("look"), results(ok("123")), user(""))
	req.System = "1234"
	req.Tools = offered("ab")
	last := func() parley.ModelDone {
		pieces := ask(t.Context(), m, req).pieces
		return *pieces[len(pieces)-1].Done
	}
	// System 4, tool 2+17, roles 4+4+9+4+4, text 5, call 4, result 3: 60 bytes; and one picture.
	// Reasoning 5, text 3, call 2+2: 12 bytes.
	want := parley.Usage{InputTokens: 15 + 1000, OutputTokens: 3}
	if got := last().Usage; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Reasoning is read only in the form of the model that thought it.
	thought := assistant("12345678")
	thought.Parts[0].Kind = parley.PartReasoning
	req.Messages = append(req.Messages, thought, user(""))
	without := last().Usage.InputTokens
	req.Messages[len(req.Messages)-2].Parts[0].Opaque = []byte("x")
	if with := last().Usage.InputTokens; with != without+2 {
		t.Errorf("reasoning counts as %d", with-without)
	}
}

// TestContext: a request that leaves no room is refused, and an answer takes only
// what is left.
func TestContext(t *testing.T) {
	t.Parallel()
	s, err := scripted.Parse("f", []byte("rules: [{say: [{words: 1000}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	m := modelOf(t, scripted.Config{Script: s, Context: 100, MaxOutput: 50})
	answer := func(bytes int) (string, int64) {
		r := ask(t.Context(), m, request(user(strings.Repeat("x", bytes-len("user")))))
		if r.err != nil {
			return string(parley.CodeOf(r.err)), 0
		}
		done := r.pieces[len(r.pieces)-1].Done
		return string(done.StopReason), done.Usage.OutputTokens
	}
	for _, test := range []struct {
		bytes  int
		stop   string
		tokens int64
	}{
		{40, "length", 50},
		{320, "length", 20},
		{396, "length", 1},
		{397, "too_large", 0},
		{4000, "too_large", 0},
	} {
		if stop, tokens := answer(test.bytes); stop != test.stop || tokens != test.tokens {
			t.Errorf("%d bytes: got %s after %d tokens, want %s after %d", test.bytes, stop, tokens, test.stop, test.tokens)
		}
	}
}

// TestTries: an error passes after so many tries of the same request, and is there
// again afterwards.
func TestTries(t *testing.T) {
	t.Parallel()
	m := scriptOf(t, "rules: [{say: [a, {error: {code: unavailable, tries: 2}}, b]}]")
	one, other := request(user("x")), request(user("x"))
	other.CacheKey = "another session"
	run := func(req parley.ModelRequest) string {
		r := ask(t.Context(), m, req)
		if r.err != nil {
			return r.text() + " " + string(parley.CodeOf(r.err))
		}
		return r.String()
	}
	got := []string{run(one), run(other), run(one), run(one), run(other), run(other), run(one)}
	want := []string{"a unavailable", "a unavailable", "a unavailable", "ab ~stop", "a unavailable", "ab ~stop", "a unavailable"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTriesAreBounded: requests that nobody tries again are forgotten at last.
func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	m := scriptOf(t, "rules: [{say: [{error: {code: unavailable, tries: 1}}, b]}]")
	fails := func(i int) bool { return ask(t.Context(), m, request(user(strconv.Itoa(i)))).err != nil }
	for i := range 10_000 {
		if !fails(i) {
			t.Fatalf("%d passes at once", i)
		}
	}
	if fails(0) {
		t.Error("a request was forgotten that might come again")
	}
	if !fails(0) || !fails(10_000) || !fails(1) {
		t.Error("everything is remembered")
	}
}

// TestSame: the same request gets the same pieces, from any model with the script,
// and as often as it is asked.
func TestSame(t *testing.T) {
	t.Parallel()
	say := []string{"help", "long", "think", "tool", "two tools", "approve", `call look {"a":1}`, "fail", "what did I say", "describe", "hello"}
	for _, text := range say {
		synctest.Test(t, func(t *testing.T) {
			req := request(user("before"), assistant("x"), user(text))
			req.Tools = offered("look", "list_files", "git_commit")
			m := modelOf(t, scripted.Config{})
			first := ask(t.Context(), m, req)
			ask(t.Context(), m, request(user("something else")))
			stream := m.Stream(t.Context(), req)
			for _, again := range []reply{ask(t.Context(), m, req), ask(t.Context(), modelOf(t, scripted.Config{}), req), collect(stream), collect(stream)} {
				if diff := cmp.Diff(first.pieces, again.pieces); diff != "" || first.String() != again.String() {
					t.Errorf("%s: %s", text, diff)
				}
			}
		})
	}
}

func collect(stream func(func(parley.ModelPiece, error) bool)) reply {
	var r reply
	for p, err := range stream {
		if err != nil {
			r.err = err
			continue
		}
		r.pieces = append(r.pieces, p)
	}
	return r
}

// TestPauses: pauses last as long as the script says, the step's before the
// script's before the model's.
func TestPauses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		pace time.Duration
		want time.Duration
	}{
		{"rules: [{say: a b c}]", 0, 0},
		{"rules: [{say: a b c}]", time.Second, 3 * time.Second},
		{"{pace: 2s, rules: [{say: a b c}]}", time.Second, 6 * time.Second},
		{"{pace: 0, rules: [{say: a b c}]}", time.Second, 0},
		{"{pace: 2s, rules: [{say: [{text: a b c, pace: 10ms}, {reasoning: a b, pace: 0}]}]}", time.Second, 30 * time.Millisecond},
		{"rules: [{say: [{words: 5, pace: 1s}, {delay: 1m}, x]}]", 0, 65 * time.Second},
		{"rules: [{say: [{delay: 1h}, {error: invalid}]}]", time.Second, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, err := scripted.Parse("f", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			ask(t.Context(), modelOf(t, scripted.Config{Script: s, Pace: test.pace}), request(user("x")))
			if took := time.Since(start); took != test.want {
				t.Errorf("%s with %s took %s, want %s", test.text, test.pace, took, test.want)
			}
		})
	}
}

// TestEnd: when the context ends, the answer does, wherever it is.
func TestEnd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		end        time.Duration // 0: before the first piece
		want       string
	}{
		{"before", "rules: [{say: a b c}]", 0, ""},
		{"before an error", "rules: [{say: [{error: invalid}]}]", 0, ""},
		{"in a delay", "rules: [{say: [before, {delay: 1h}, after]}]", time.Minute, "before"},
		{"between two pieces", "{pace: 1s, rules: [{say: a b c}]}", 1500 * time.Millisecond, "a b "},
		{"in reasoning", "{pace: 1s, rules: [{say: [a, {reasoning: b c}]}]}", 1500 * time.Millisecond, "a"},
		{"in words", "rules: [{say: [{words: 1000, pace: 1s}]}]", 1500 * time.Millisecond, "A script "},
	} {
		for _, deadline := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				m := scriptOf(t, test.text)
				ctx, cancel := context.WithCancel(t.Context())
				want := context.Canceled
				if deadline {
					ctx, cancel = context.WithTimeout(t.Context(), test.end)
					want = context.DeadlineExceeded
				} else {
					time.AfterFunc(test.end, cancel)
				}
				defer cancel()
				if test.end == 0 {
					<-ctx.Done()
				}
				start := time.Now()
				r := ask(ctx, m, request(user("x")))
				if !errors.Is(r.err, want) || r.text() != test.want {
					t.Errorf("%s: got %q and %v", test.name, r.text(), r.err)
				}
				if took := time.Since(start); took != test.end {
					t.Errorf("%s: it took %s", test.name, took)
				}
			})
		}
	}
}

// TestStopListening: who stops early hears nothing more, not even an error.
func TestStopListening(t *testing.T) {
	t.Parallel()
	m := scriptOf(t, "rules: [{say: [a b c, {reasoning: d}, {call: t}, {error: invalid}]}]")
	all := len(ask(t.Context(), m, request(user("x"))).pieces) + 1
	if all != 7 {
		t.Fatalf("the answer has %d parts", all)
	}
	for stop := 1; stop <= all; stop++ {
		n := 0
		m.Stream(t.Context(), request(user("x")))(func(parley.ModelPiece, error) bool {
			n++
			return n < stop
		})
		if n != stop {
			t.Errorf("stopped after %d, and got %d", stop, n)
		}
	}
}

// clock is one that stands still until it is moved.
type clock struct{ timers chan timer }

type timer struct {
	after time.Duration
	fire  func()
	ended chan struct{}
}

func (clock) Now() time.Time { return time.Time{} }

func (c clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	t := timer{d, f, make(chan struct{})}
	c.timers <- t
	return func() bool { close(t.ended); return true }
}

// TestClock: pauses are measured by the clock that was given, and its timers do
// not outlive them.
func TestClock(t *testing.T) {
	t.Parallel()
	s, err := scripted.Parse("f", []byte("rules: [{say: [a, {delay: 1h}, b, {delay: 2h}, c]}]"))
	if err != nil {
		t.Fatal(err)
	}
	c := clock{make(chan timer)}
	m := modelOf(t, scripted.Config{Script: s, Clock: c})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan reply)
	go func() { done <- ask(ctx, m, request(user("x"))) }()
	first := <-c.timers
	first.fire()
	<-first.ended
	second := <-c.timers
	cancel()
	<-second.ended
	r := <-done
	if first.after != time.Hour || second.after != 2*time.Hour || r.text() != "ab" || !errors.Is(r.err, context.Canceled) {
		t.Errorf("waited %s and %s, then %s", first.after, second.after, r)
	}
}

// TestTogether: one model serves many at once.
func TestTogether(t *testing.T) {
	t.Parallel()
	m := modelOf(t, scripted.Config{})
	said := []string{"help", "think", "flaky", "hello"}
	done := make(chan string)
	for i := range 32 {
		go func() {
			req := request(user(said[i%len(said)]))
			req.CacheKey = string(rune('a' + i))
			for {
				if r := ask(context.WithoutCancel(t.Context()), m, req); r.err == nil {
					done <- r.text()
					return
				}
			}
		}()
	}
	var got []string
	for range 32 {
		got = append(got, <-done)
	}
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != len(said) {
		t.Errorf("%d answers to %d questions", n, len(said))
	}
}
