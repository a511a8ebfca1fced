package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/sqlite"
	"github.com/parley-run/parley/turn"
)

// start is when the tests' time begins.
var start = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

var alice = parley.Principal{Identity: "cli:alice", User: "alice", Role: parley.RoleOwner, Via: "local"}

// counter is a clock that goes on by 20 milliseconds with each look, so that the
// same steps have the same times. Its timers are real.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return start.Add(time.Duration(c.n) * 20 * time.Millisecond)
}

func (c *counter) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// lab is one session in a real store, and what the engine does around a turn.
type lab struct {
	t       testing.TB
	store   *sqlite.Store
	clock   *counter
	session parley.SessionID
	system  string
	budget  parley.Budget
	turns   int
	fence   parley.Fence
	deltas  []parley.Delta
	steer   func(context.Context) ([]parley.Message, error)
}

func newLab(t testing.TB) *lab {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	l := &lab{t: t, store: store, clock: &counter{}, session: "cli:lab", system: "Be brief."}
	l.commit(parley.SessionChange{Session: l.session, Create: &parley.NewSession{
		Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli", Interactive: true}, Type: parley.SessionDirect,
	}, Events: []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: parley.Source{Kind: "cli"}}}}})
	return l
}

func (l *lab) commit(c parley.SessionChange, expect ...parley.Expectation) parley.Result {
	l.t.Helper()
	c.Session = l.session
	r, err := l.store.Commit(context.WithoutCancel(l.t.Context()), parley.Batch{At: l.clock.Now(), Expect: expect, Sessions: []parley.SessionChange{c}})
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

// ask starts a turn with a message.
func (l *lab) ask(parts ...parley.Part) parley.TurnID {
	l.t.Helper()
	l.turns++
	id := parley.TurnID(fmt.Sprintf("t%d", l.turns))
	running := parley.StatusRunning
	r := l.commit(parley.SessionChange{
		Claim: true, Patch: parley.SessionPatch{Status: &running},
		Turns: []parley.TurnChange{{ID: id, Start: true}},
		Events: []parley.NewEvent{
			{Turn: id, Body: &parley.TurnStarted{Attempt: 1}},
			{Turn: id, Identity: alice.Identity, Body: &parley.Message{ID: string(id) + ".in", Role: parley.MessageUser, Parts: parts}},
		},
	})
	l.fence = r.Sessions[0].Fence
	return id
}

// again takes a turn up again, as after a restart.
func (l *lab) again(id parley.TurnID) {
	l.t.Helper()
	turn, err := l.store.Turn(l.t.Context(), parley.SeeAll(), l.session, id)
	if err != nil {
		l.t.Fatal(err)
	}
	attempt := turn.Attempt + 1
	r := l.commit(parley.SessionChange{
		Claim: true, Turns: []parley.TurnChange{{ID: id, Attempt: &attempt}},
		Events: []parley.NewEvent{{Turn: id, Body: &parley.TurnStarted{Attempt: attempt}}},
	})
	l.fence = r.Sessions[0].Fence
}

// context gives what a runner gets for a turn.
func (l *lab) context(id parley.TurnID) parley.TurnContext {
	l.t.Helper()
	ctx := l.t.Context()
	turn, err := l.store.Turn(ctx, parley.SeeAll(), l.session, id)
	if err != nil {
		l.t.Fatal(err)
	}
	session, err := l.store.Session(ctx, parley.SeeAll(), l.session)
	if err != nil {
		l.t.Fatal(err)
	}
	window, err := parley.WindowOf(l.events(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	journal, err := engine.OpenJournal(ctx, l.store, engine.JournalConfig{
		Session: l.session, Turn: id, Fence: l.fence, Clock: l.clock, SteeredFunc: l.steer,
		PublishFunc: func(d parley.Delta) { l.deltas = append(l.deltas, d) },
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return parley.TurnContext{
		Session: session, Turn: turn, Principal: alice, System: l.system, Window: window, Journal: journal, Budget: l.budget,
	}
}

// run runs a turn and closes it.
func (l *lab) run(r *turn.Runner, id parley.TurnID) parley.TurnEnd {
	l.t.Helper()
	end, err := r.Run(l.t.Context(), l.context(id))
	if err != nil {
		l.t.Fatalf("turn %s: %v", id, err)
	}
	l.close(id, end)
	return end
}

func (l *lab) close(id parley.TurnID, end parley.TurnEnd) {
	l.t.Helper()
	idle, done := parley.StatusIdle, parley.TurnDone
	change := parley.SessionChange{
		Patch: parley.SessionPatch{Status: &idle},
		Turns: []parley.TurnChange{{ID: id, State: &done, StopReason: &end.Completed.StopReason, Usage: &end.Completed.Usage}},
	}
	if end.Last != nil {
		change.Events = append(change.Events, parley.NewEvent{Turn: id, Body: end.Last})
	}
	change.Events = append(change.Events, parley.NewEvent{Turn: id, Identity: alice.Identity, Body: &end.Completed})
	l.commit(change, parley.FenceIs{Session: l.session, Fence: l.fence})
}

// events gives the whole log.
func (l *lab) events() []parley.Event {
	l.t.Helper()
	var all []parley.Event
	for after := uint64(0); ; {
		page, err := l.store.Events(l.t.Context(), parley.SeeAll(), l.session, parley.EventQuery{After: after, Limit: 1000})
		if err != nil {
			l.t.Fatal(err)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		after = page[len(page)-1].Seq
	}
}

// messages gives the stored messages.
func (l *lab) messages() []parley.Message {
	l.t.Helper()
	var all []parley.Message
	for _, e := range l.events() {
		if e.Type != parley.EventMessage {
			continue
		}
		body, err := e.Decode()
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, *body.(*parley.Message))
	}
	return all
}

// playFunc is one answer of a model.
type playFunc = func(ctx context.Context, yield func(parley.ModelPiece, error) bool)

// play is a model that plays a list of answers, and keeps what it was asked.
type play struct {
	name    string
	info    parley.ModelInfo
	answers []func(ctx context.Context, yield func(parley.ModelPiece, error) bool)
	asked   []parley.ModelRequest
}

func (p *play) Info() parley.ModelInfo {
	info := p.info
	if info.Name = p.name; p.name == "" {
		info.Name = "fake/one"
	}
	return info
}

func (p *play) Stream(ctx context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		p.asked = append(p.asked, req)
		if len(p.answers) == 0 {
			yield(parley.ModelPiece{}, errors.New("the model was asked once too often"))
			return
		}
		answer := p.answers[0]
		p.answers = p.answers[1:]
		answer(ctx, yield)
	}
}

// plays makes a model of answers.
func plays(answers ...func(context.Context, func(parley.ModelPiece, error) bool)) *play {
	return &play{answers: answers}
}

// says gives pieces, and the end unless they have one.
func says(pieces ...parley.ModelPiece) func(context.Context, func(parley.ModelPiece, error) bool) {
	return func(_ context.Context, yield func(parley.ModelPiece, error) bool) {
		for _, p := range pieces {
			if !yield(p, nil) {
				return
			}
		}
		if len(pieces) == 0 || pieces[len(pieces)-1].Done == nil {
			yield(done(parley.StopDone), nil)
		}
	}
}

// fails gives pieces, then an error.
func fails(err error, pieces ...parley.ModelPiece) func(context.Context, func(parley.ModelPiece, error) bool) {
	return func(_ context.Context, yield func(parley.ModelPiece, error) bool) {
		for _, p := range pieces {
			if !yield(p, nil) {
				return
			}
		}
		yield(parley.ModelPiece{}, err)
	}
}

// hangs gives pieces, then nothing until it is stopped.
func hangs(pieces ...parley.ModelPiece) func(context.Context, func(parley.ModelPiece, error) bool) {
	return func(ctx context.Context, yield func(parley.ModelPiece, error) bool) {
		for _, p := range pieces {
			if !yield(p, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(parley.ModelPiece{}, ctx.Err())
	}
}

func text(s string) parley.ModelPiece { return parley.ModelPiece{Kind: parley.PartText, Text: s} }

func thought(s string, opaque string) parley.ModelPiece {
	return parley.ModelPiece{Kind: parley.PartReasoning, Text: s, Opaque: []byte(opaque)}
}

func call(tool, args string) parley.ModelPiece {
	return parley.ModelPiece{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "x", Name: tool, Arguments: json.RawMessage(args)}}
}

func done(r parley.StopReason) parley.ModelPiece {
	return parley.ModelPiece{Done: &parley.ModelDone{StopReason: r, Usage: parley.Usage{InputTokens: 100, OutputTokens: 10, CostMicroUSD: 5}}}
}

// bench is a set of tools by name.
type bench struct {
	tools   map[string]func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error)
	effects map[string]parley.ToolEffect
}

func (b *bench) Specs() []parley.ToolSpec {
	var specs []parley.ToolSpec
	for name := range b.tools {
		specs = append(specs, parley.ToolSpec{Name: name, Description: "Does " + name + ".", Schema: json.RawMessage(`{"type":"object"}`)})
	}
	slices.SortFunc(specs, func(x, y parley.ToolSpec) int { return len(x.Name) - len(y.Name) })
	return specs
}

func (b *bench) Effect(c parley.ToolCall) (parley.ToolEffect, string) {
	if e := b.effects[c.Name]; e != "" {
		return e, "the policy says so"
	}
	return parley.ToolAllow, ""
}

func (b *bench) Run(ctx context.Context, by parley.ToolCaller, c parley.ToolCall) (parley.ToolResult, error) {
	return b.tools[c.Name](ctx, by, c)
}

// gives is a tool that gives a text and counts how often it ran.
func gives(text string, ran *int) func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
	return func(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
		*ran++
		return parley.ToolResult{Text: text}, nil
	}
}

// runner makes a runner for an agent.
func runner(t testing.TB, a turn.Agent, change ...func(*turn.Config)) *turn.Runner {
	t.Helper()
	cfg := turn.Config{AgentFunc: func(context.Context, parley.TurnContext) (turn.Agent, error) { return a, nil }}
	for _, f := range change {
		f(&cfg)
	}
	r, err := turn.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// models makes a chain.
func models(m ...parley.Model) []parley.Model { return m }

// inMemory gives what a runner gets for a turn that nothing is stored of.
func inMemory(words string) parley.TurnContext {
	m := parley.Message{ID: "in", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(words)}}
	return parley.TurnContext{
		Session: parley.Session{ID: "cli:none"}, Turn: parley.Turn{ID: "t", Attempt: 1}, Principal: alice,
		Window: parley.Window{Turn: []parley.Message{m}}, Journal: turn.NewTranscript(m),
	}
}
