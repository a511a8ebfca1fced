package metric

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/parley-run/parley"
)

func (m *Metrics) makeModel() {
	m.modelCalls = counter("parley_model_calls_total", "Calls of models, by what came of them.", "provider", "model", "code")
	m.modelDuration = histogram("parley_model_call_duration_seconds", "How long calls of models took, to the end of the answer or to the error.",
		[]float64{.1, .25, .5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600}, "provider", "model")
	m.modelFirst = histogram("parley_model_first_piece_seconds", "How long models took to begin their answers.",
		[]float64{.05, .1, .25, .5, 1, 2, 4, 8, 15, 30, 60, 120}, "provider", "model")
	m.tokens = counter("parley_model_tokens_total", "Tokens of answered calls, as the models say. Input is without what the cache gave or took.", "provider", "model", "kind")
	m.cost = counter("parley_cost_usd_total", "What models have cost in US dollars, where their price is known.", "agent", "model")
}

// Model gives a model whose calls are counted and timed. What a call cost is counted
// for the agent of the turn it belongs to, if [Metrics.Runner] runs the turn; the
// agent of other calls is "none".
func (m *Metrics) Model(model parley.Model) parley.Model {
	info := model.Info()
	x := &meteredModel{Model: model, m: m, name: m.names.of("model", info.Name)}
	labels := prometheus.Labels{"provider": m.names.of("provider", info.Provider()), "model": x.name}
	x.calls = m.modelCalls.MustCurryWith(labels)
	x.tokens = m.tokens.MustCurryWith(labels)
	x.duration = m.modelDuration.With(labels)
	x.first = m.modelFirst.With(labels)
	return x
}

type meteredModel struct {
	parley.Model
	m     *Metrics
	name  string // as a label's value
	calls *prometheus.CounterVec

	tokens          *prometheus.CounterVec
	duration, first prometheus.Observer
}

// Stream implements [parley.Model].
func (x *meteredModel) Stream(ctx context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		c := &modelCall{meteredModel: x, start: x.m.cfg.Clock.Now()}
		left := string(parley.CodeInternal) // the code of an answer without an end: the model broke
		defer func() { c.end(ctx, left) }()
		for piece, err := range x.Model.Stream(ctx, req) {
			c.see(ctx, piece, err)
			if !yield(piece, err) {
				left = "stopped"
				return
			}
		}
		left = string(parley.CodeUnavailable) // it broke off
	}
}

// modelCall is one call under way.
type modelCall struct {
	*meteredModel
	start time.Time
	begun bool
	code  string // empty: the answer has no end
	done  *parley.ModelDone
}

// see takes a piece of the answer into account.
func (c *modelCall) see(ctx context.Context, piece parley.ModelPiece, err error) {
	switch {
	case c.done != nil:
		return
	case err != nil:
		c.code = failure(ctx, err)
		return
	case piece.Done != nil:
		c.done, c.code = piece.Done, codeOK
	}
	if !c.begun {
		c.begun = true
		c.first.Observe(c.m.since(c.start))
	}
}

// failure is the code of a call that failed: whether a person has stopped it, it was
// given up, or what the model says.
func failure(ctx context.Context, err error) string {
	switch {
	case ctx.Err() == nil:
		return codeOf(err)
	case errors.Is(context.Cause(ctx), parley.ErrCanceled):
		return "canceled"
	}
	return "given_up"
}

func (c *modelCall) end(ctx context.Context, left string) {
	if c.code == "" {
		c.code = left
	}
	c.duration.Observe(c.m.since(c.start))
	c.calls.WithLabelValues(c.code).Inc()
	b := billOf(ctx)
	if c.done == nil {
		if c.begun {
			b.cutOff(c.name)
		}
		return
	}
	u := c.done.Usage
	if u == (parley.Usage{}) {
		b.cutOff(c.name)
	}
	for kind, n := range map[string]int64{"input": u.InputTokens, "output": u.OutputTokens, "cache_read": u.CacheReadTokens, "cache_write": u.CacheWriteTokens} {
		if n > 0 {
			c.tokens.WithLabelValues(kind).Add(float64(n))
		}
	}
	if u.CostMicroUSD > 0 {
		c.m.cost.WithLabelValues(b.agentName(), c.name).Add(dollars(u.CostMicroUSD))
		b.add(u.CostMicroUSD)
	}
}

func dollars(microUSD int64) float64 { return float64(microUSD) / 1e6 }
