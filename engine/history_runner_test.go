package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/turn"
)

// mood is how the world treats models and tools: they take as long as it takes
// people to do a few more things, and sometimes they fail.
type mood struct {
	mu     sync.Mutex
	n      int
	more   chan struct{}
	down   bool
	calmed bool
}

func newMood() *mood { return &mood{more: make(chan struct{})} }

func (m *mood) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	close(m.more)
	m.more = make(chan struct{})
}

func (m *mood) step()         { m.change(func() { m.n++ }) }
func (m *mood) set(down bool) { m.change(func() { m.down = down && !m.calmed }) }

// calm ends all trouble.
func (m *mood) calm() { m.change(func() { m.down, m.calmed = false, true }) }

// pause waits until so many things have happened.
func (m *mood) pause(ctx context.Context, things int) {
	m.mu.Lock()
	until := m.n + things
	for m.n < until && !m.calmed && ctx.Err() == nil {
		more := m.more
		m.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
		}
		m.mu.Lock()
	}
	m.mu.Unlock()
}

// fails gives the error of a model that is down.
func (m *mood) fails() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return &parley.Error{Code: parley.CodeUnavailable, Message: "overloaded", RetryAfter: time.Duration(m.n%3) * 5 * time.Second}
	}
	return nil
}

// plan is what the agent does about a message: rounds of tools, and then an answer.
func plan(text string) (rounds [][]string, pause int) {
	if _, after, ok := strings.Cut(text, "] "); ok {
		text = after // somebody's name stood before it
	}
	word, id, _ := strings.Cut(text, " ")
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	pause = int(h.Sum32() % 4)
	switch word {
	case "one":
		rounds = [][]string{{"first"}}
	case "two":
		rounds = [][]string{{"first", "second"}}
	case "ask":
		rounds = [][]string{{"first", "careful"}}
	case "slow":
		rounds = [][]string{{"first"}, {"second"}, {"first"}}
	}
	return rounds, pause
}

// config makes the engine's configuration with one of two runners.
func (h *history) config() (engine.Config, error) {
	tools := handTools{history: h, gate: h.gate, mood: h.mood}
	deft := []parley.ApprovalState{parley.ApprovalDenied, parley.ApprovalApproved}[h.seed%2]
	var runner parley.Runner = ownLoop{tools, deft}
	if !h.foreign {
		var err error
		if runner, err = turn.New(turn.Config{Clock: h.clock, CountFunc: func(text string) int { return len(text) }, AgentFunc: func(context.Context, parley.TurnContext) (turn.Agent, error) {
			return turn.Agent{Models: []parley.Model{moody{h}}, Tools: tools, Approval: turn.Approval{Deadline: 5 * time.Minute, Default: deft}}, nil
		}}); err != nil {
			return engine.Config{}, err
		}
	}
	return engine.Config{
		Runner: recorded{h, runner}, Clock: h.clock,
		Limits: engine.Limits{RunningTurns: 2 + int(h.seed%3), Queue: 4, MaxTurns: 20},
	}, nil
}

// recorded notes what its runner is given.
type recorded struct {
	*history
	inner parley.Runner
}

func (r recorded) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	l := line{Kind: "window", Session: t.Session.ID, Turn: t.Turn.ID, Fence: t.Session.Fence, Past: []string{}}
	open := map[parley.CallID]bool{}
	for i, m := range slices.Concat(t.Window.Past, t.Window.Turn) {
		if i < len(t.Window.Past) {
			data, err := json.Marshal(m)
			if err != nil {
				return parley.TurnEnd{}, err
			}
			sum := fnv.New32a()
			_, _ = sum.Write(data)
			l.Past = append(l.Past, fmt.Sprintf("%x", sum.Sum32()))
		}
		if m.Role != parley.MessageTool && len(open) > 0 && i <= len(t.Window.Past) {
			r.ledger.bad("%s: a call without a result stands in the past of %s: %v", t.Session.ID, t.Turn.ID, open)
			clear(open)
		}
		for _, c := range m.Calls() {
			open[c.ID] = true
		}
		for _, p := range m.Parts {
			if p.Result != nil {
				if !open[p.Result.CallID] {
					r.ledger.bad("%s: a result without a call is shown to %s: %s", t.Session.ID, t.Turn.ID, p.Result.CallID)
				}
				delete(open, p.Result.CallID)
			}
		}
	}
	if len(t.Window.Turn) == 0 && !r.takes {
		r.ledger.bad("%s: turn %s is about nothing", t.Session.ID, t.Turn.ID)
	}
	r.gate.alive(func() { r.ledger.write(l) })
	return r.inner.Run(ctx, t)
}

// moody is a model.
type moody struct{ *history }

func (m moody) Info() parley.ModelInfo { return parley.ModelInfo{Name: "fake/moody"} }

func (m moody) Stream(ctx context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		m.trip("the model")
		text, had := "", 0
		for _, msg := range req.Messages {
			switch msg.Role {
			case parley.MessageUser:
				text, had = modelText(msg), 0
			case parley.MessageTool:
				had++
			}
		}
		rounds, pause := plan(text)
		m.mood.pause(ctx, pause)
		if err := errors.Join(ctx.Err(), m.mood.fails()); err != nil {
			yield(parley.ModelPiece{}, err)
			return
		}
		if strings.Contains(text, "refuse") {
			yield(parley.ModelPiece{}, parley.Errorf(parley.CodeForbidden, "not that"))
			return
		}
		for _, round := range rounds {
			if had -= len(round); had >= 0 {
				continue
			}
			for _, name := range round {
				if !yield(parley.ModelPiece{Kind: parley.PartToolCall, Call: &parley.ToolCall{Name: name, Arguments: json.RawMessage(`{}`)}}, nil) {
					return
				}
			}
			yield(parley.ModelPiece{Done: &parley.ModelDone{StopReason: parley.StopDone}}, nil)
			return
		}
		if !yield(parley.ModelPiece{Kind: parley.PartText, Text: "half "}, nil) {
			return
		}
		m.mood.pause(ctx, pause/2)
		if ctx.Err() != nil {
			yield(parley.ModelPiece{}, ctx.Err())
			return
		}
		_ = yield(parley.ModelPiece{Kind: parley.PartText, Text: "re:" + text}, nil) &&
			yield(parley.ModelPiece{Done: &parley.ModelDone{StopReason: parley.StopDone}}, nil)
	}
}

func (h *history) trip(name string) {
	if h.wire != nil {
		h.wire.step(name)
	}
}

// handTools are tools that write down that they ran. One that was given up may run
// on when the next phase has begun, so they keep what belongs to their own.
type handTools struct {
	*history
	gate *gate
	mood *mood
}

func (t handTools) Specs() []parley.ToolSpec { return nil }

func (t handTools) Effect(c parley.ToolCall) (parley.ToolEffect, string) {
	if c.Name == "careful" {
		return parley.ToolApprove, ""
	}
	return parley.ToolAllow, ""
}

func (t handTools) Run(ctx context.Context, by parley.ToolCaller, c parley.ToolCall) (parley.ToolResult, error) {
	t.trip("before a tool")
	if !t.gate.alive(func() { t.ledger.write(line{Kind: "ran", Session: by.Session, Turn: by.Turn, Call: c.ID}) }) {
		return parley.ToolResult{}, errLost
	}
	t.trip("in a tool")
	_, pause := plan("x " + string(c.ID))
	t.mood.pause(ctx, pause)
	return parley.ToolResult{Text: c.Name + " is done"}, ctx.Err()
}

// ownLoop is a runner that does not wrap the default one. Of its calls it says some
// and keeps others to itself.
type ownLoop struct {
	handTools
	deft parley.ApprovalState
}

func (r ownLoop) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	text := ""
	for _, m := range t.Window.Turn {
		if m.Role == parley.MessageUser && text == "" {
			text = parley.PlainText(m.Parts)
		}
	}
	rounds, pause := plan(text)
	for i, round := range rounds {
		if err := r.round(ctx, t, i, round, pause); err != nil {
			return r.stopped(ctx, t, err)
		}
	}
	r.trip("the model")
	r.mood.pause(ctx, pause)
	if err := errors.Join(ctx.Err(), r.mood.fails()); err != nil {
		return r.stopped(ctx, t, &parley.SuspendError{After: 2 * time.Second, Err: err})
	}
	if strings.HasPrefix(text, "refuse") {
		return parley.TurnEnd{}, errors.New("the runner is broken")
	}
	return ends(t, "re:"+text), nil
}

func (r ownLoop) round(ctx context.Context, t parley.TurnContext, n int, names []string, pause int) error {
	calls := make([]parley.ToolCall, len(names))
	said := parley.Said{Message: parley.Message{ID: fmt.Sprintf("%s.round%d", t.Turn.ID, n), Role: parley.MessageAssistant}}
	for i, name := range names {
		calls[i] = parley.ToolCall{ID: parley.CallID(fmt.Sprintf("%s_%d_%d", t.Turn.ID, n, i)), Name: name, Arguments: json.RawMessage(`{}`)}
		said.Message.Parts = append(said.Message.Parts, parley.Part{Kind: parley.PartToolCall, Call: &calls[i]})
		if name == "careful" {
			said.Ask = append(said.Ask, parley.CallQuestion{Call: calls[i].ID, Deadline: 5 * time.Minute, Default: r.deft})
		}
	}
	if len(said.Ask) > 0 || pause%2 == 0 {
		if err := r.mood.fails(); err != nil {
			return &parley.SuspendError{Err: err}
		}
		if err := t.Journal.Say(ctx, said); err != nil {
			return err
		}
	}
	for _, call := range calls {
		if _, err := t.Journal.Call(ctx, call, func(ctx context.Context) (parley.ToolResult, error) {
			return r.handTools.Run(ctx, parley.ToolCaller{Session: t.Session.ID, Turn: t.Turn.ID}, call)
		}); err != nil {
			return err
		}
	}
	_, err := t.Journal.Steered(ctx)
	return err
}

// stopped is the end of a turn that did not get to its end.
func (r ownLoop) stopped(ctx context.Context, t parley.TurnContext, err error) (parley.TurnEnd, error) {
	switch {
	case ctx.Err() == nil:
		return parley.TurnEnd{}, err
	case errors.Is(context.Cause(ctx), parley.ErrCanceled):
		end := ends(t, "half")
		end.Completed.StopReason = parley.StopAborted
		return end, nil
	}
	return parley.TurnEnd{}, &parley.SuspendError{Err: context.Cause(ctx)}
}

func modelText(m parley.ModelMessage) string {
	text := ""
	for _, p := range m.Parts {
		text += p.Text
	}
	return text
}
