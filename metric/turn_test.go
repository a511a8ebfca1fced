package metric_test

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/metric"
	"github.com/parley-run/parley/model/scripted"
	"github.com/parley-run/parley/parleytest"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/turn"
)

// priced is a model that costs 3 dollars for a million tokens, and says so.
type priced struct{ parley.Model }

func (p priced) Info() parley.ModelInfo {
	info := p.Model.Info()
	info.Price = &parley.Price{Input: 3_000_000, Output: 3_000_000}
	return info
}

func (p priced) Stream(ctx context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		for piece, err := range p.Model.Stream(ctx, req) {
			if piece.Done != nil {
				done := *piece.Done
				done.Usage.CostMicroUSD = p.Info().Price.Cost(done.Usage)
				piece.Done = &done
			}
			if !yield(piece, err) {
				return
			}
		}
	}
}

// look is a tool.
type look struct{}

func (look) Spec() parley.ToolSpec {
	return parley.ToolSpec{Name: "look", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (look) Run(context.Context, parley.ToolCaller, parley.ToolCall) (parley.ToolResult, error) {
	return parley.ToolResult{Text: "nothing"}, nil
}

// TestTurns runs real turns: one with a tool, one whose model is down until its
// breaker opens. What is counted as cost is what the store has.
func TestTurns(t *testing.T) {
	t.Parallel()
	script, err := scripted.Parse("script", []byte(`
rules:
  - when: {after_tool: look}
    say: [{text: "There is nothing."}]
  - when: {contains: look}
    say: [{call: {tool: look, arguments: {}}}]
  - when: {contains: down}
    say: [{error: {code: unavailable}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := scripted.New(scripted.Config{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	var runner *turn.Runner
	m := metric.New(metric.Config{BreakerFunc: func() map[string]string { return runner.Breakers() }})
	model := m.Model(priced{plain})
	registry, err := tool.New([]tool.Group{{Name: "all", Tools: []parley.Tool{look{}}}}, tool.Config{})
	if err != nil {
		t.Fatal(err)
	}
	runner, err = turn.New(turn.Config{Breaker: turn.BreakerConfig{Failures: 1, Pause: time.Hour}, AgentFunc: func(_ context.Context, tc parley.TurnContext) (turn.Agent, error) {
		set, err := registry.For(tc.Principal, nil)
		return turn.Agent{Models: []parley.Model{model}, Tools: set}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	suspended := make(chan struct{}, 1)
	inner := m.Runner(runner)
	w := parleytest.New(t, parleytest.Config{Engine: engine.Config{Runner: runFunc(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
		end, err := inner.Run(ctx, tc)
		if err != nil {
			suspended <- struct{}{}
		}
		return end, err
	})}})
	id := w.Session("a")
	if got := w.Say(id, "look"); got != "There is nothing." {
		t.Fatalf("%q", got)
	}
	s, err := w.Store.Session(t.Context(), parley.SeeAll(), id)
	if err != nil {
		t.Fatal(err)
	}
	cost := s.Counters.CostMicroUSD
	if cost <= 0 {
		t.Fatal("the turn was free")
	}
	w.Post(w.Session("b"), "down")
	<-suspended
	for name, want := range map[string][]string{
		"parley_turn_runs_total": {
			`parley_turn_runs_total{agent="main",code="ok",outcome="stop"} 1`,
			`parley_turn_runs_total{agent="main",code="unavailable",outcome="suspended"} 1`,
		},
		"parley_model_calls_total": {
			`parley_model_calls_total{code="ok",model="scripted/demo",provider="scripted"} 2`,
			`parley_model_calls_total{code="unavailable",model="scripted/demo",provider="scripted"} 1`,
		},
		"parley_breaker_state": {
			`parley_breaker_state{provider="scripted",state="closed"} 0`,
			`parley_breaker_state{provider="scripted",state="half_open"} 0`,
			`parley_breaker_state{provider="scripted",state="open"} 1`,
		},
	} {
		if got := lines(t, m, name); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	counted := lines(t, m, "parley_cost_usd_total")
	if len(counted) != 1 {
		t.Fatalf("cost: %q", counted)
	}
	value, ok := strings.CutPrefix(counted[0], `parley_cost_usd_total{agent="main",model="scripted/demo"} `)
	if usd, err := strconv.ParseFloat(value, 64); !ok || err != nil || math.Abs(usd*1e6-float64(cost)) > 0.001 {
		t.Errorf("counted %q, the store has %d millionths", counted, cost)
	}
}
