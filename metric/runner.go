package metric

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/parley-run/parley"
)

func (m *Metrics) makeRunner() {
	m.runs = counter("parley_turn_runs_total", "Runs of turns: those that ended by their stop reason, else suspended or failed. A turn that is taken up again is run again.", "agent", "outcome", "code")
	m.runDuration = histogram("parley_turn_run_duration_seconds", "How long runs of turns took.",
		[]float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600, 1200, 1800}, "agent")
	m.running = gauge("parley_turn_runs_active", "Turns that run.", "agent")
	m.recovered = counter("parley_recoveries_total", "Turns that a stop of the program had cut off, by what became of them.", "outcome")
	for _, outcome := range outcomes {
		m.recovered.WithLabelValues(outcome)
	}
}

// outcomes are what can become of a turn that was cut off.
var outcomes = []string{"deliver", "wait", "keep", "resume", "close", "suspend"}

// Recovered counts a turn that the last stop of the program had cut off, by what
// became of it: deliver, wait, keep, resume, close, suspend. Another outcome counts as
// "other".
func (m *Metrics) Recovered(outcome string) {
	if !slices.Contains(outcomes, outcome) {
		outcome = other
	}
	m.recovered.WithLabelValues(outcome).Inc()
}

// Runner gives a runner whose runs are counted and timed. What a run has cost is
// counted for its agent: the calls of models that [Metrics.Model] watches as they
// end, and the rest, such as that of an answer that was cut off, when the run ends.
func (m *Metrics) Runner(runner parley.Runner) parley.Runner { return &meteredRunner{runner, m} }

type meteredRunner struct {
	next parley.Runner
	m    *Metrics
}

// Run implements [parley.Runner].
func (r *meteredRunner) Run(ctx context.Context, t parley.TurnContext) (end parley.TurnEnd, err error) {
	agent := r.m.names.of("agent", t.Session.Agent.Name)
	running := r.m.running.WithLabelValues(agent)
	running.Inc()
	start := r.m.cfg.Clock.Now()
	outcome, code := "failed", string(parley.CodeInternal) // if it breaks
	defer func() {
		running.Dec()
		r.m.runDuration.WithLabelValues(agent).Observe(r.m.since(start))
		r.m.runs.WithLabelValues(agent, outcome, code).Inc()
	}()
	b := &bill{agent: agent}
	end, err = r.next.Run(context.WithValue(ctx, billKey{}, b), t)
	outcome, code = r.m.outcomeOf(ctx, end, err)
	spent := end.Completed.Usage
	if s, ok := errors.AsType[*parley.SuspendError](err); ok {
		spent = s.Usage
	}
	if model, rest := b.rest(spent.CostMicroUSD - t.Turn.Usage.CostMicroUSD); rest > 0 {
		r.m.cost.WithLabelValues(agent, model).Add(dollars(rest))
	}
	return end, err
}

// outcomeOf says how a run ended, and with which code.
func (m *Metrics) outcomeOf(ctx context.Context, end parley.TurnEnd, err error) (outcome, code string) {
	switch {
	case errors.Is(err, parley.ErrSuspended):
		return "suspended", suspension(ctx, err)
	case err != nil:
		return "failed", codeOf(err)
	}
	outcome, code = string(end.Completed.StopReason), codeOK
	switch end.Completed.StopReason {
	case parley.StopDone, parley.StopLength, parley.StopContentFilter, parley.StopAborted, parley.StopError:
	default:
		outcome = other
	}
	if e := end.Completed.Error; e != nil {
		code = m.names.of("code", e.Code)
	}
	return outcome, code
}

// suspension says what a turn waits for.
func suspension(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "shutdown"
	}
	switch parley.CodeOf(err) {
	case parley.CodeBusy:
		return "approval"
	case parley.CodeUnavailable, parley.CodeRateLimited:
		return string(parley.CodeUnavailable)
	}
	return other
}

type billKey struct{}

// bill is what a run has cost so far, as the models say that it called. A nil one
// is that of calls outside of a run.
type bill struct {
	agent string

	mu      sync.Mutex
	counted int64  // millionths of a dollar
	cut     string // the last model that did not say what it cost
}

func billOf(ctx context.Context) *bill {
	b, _ := ctx.Value(billKey{}).(*bill)
	return b
}

func (b *bill) agentName() string {
	if b == nil {
		return unnamed
	}
	return b.agent
}

func (b *bill) add(microUSD int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted += microUSD
}

// cutOff notes a model that did not get to say what it cost.
func (b *bill) cutOff(model string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = model
}

// rest is what of the run's cost nobody has counted, and the model it is counted
// for.
func (b *bill) rest(spent int64) (model string, microUSD int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	model = other
	if b.cut != "" {
		model = b.cut
	}
	return model, spent - b.counted
}
