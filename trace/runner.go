package trace

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/parley-run/parley"
)

// Runner gives a runner whose runs are spans, called "invoke_agent" and the agent's
// name. All runs of a turn are in one trace. A run that was suspended is no failure.
func (t *Tracer) Runner(runner parley.Runner) parley.Runner {
	if t == nil {
		return runner
	}
	return &tracedRunner{runner, t.tracer}
}

type tracedRunner struct {
	next   parley.Runner
	tracer trace.Tracer
}

// Run implements [parley.Runner].
func (r *tracedRunner) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	agent := t.Session.Agent.Name
	ctx, span := r.tracer.Start(withTurn(ctx, t.Session.ID, t.Turn.ID), "invoke_agent "+agent, trace.WithNewRoot(), trace.WithAttributes(
		semconv.GenAIOperationNameInvokeAgent,
		semconv.GenAIAgentName(agent),
		semconv.GenAIConversationID(string(t.Session.ID)),
		attribute.String("parley.turn.id", string(t.Turn.ID)),
		attribute.Int("parley.turn.attempt", t.Turn.Attempt),
	))
	whole := false
	// Not by a defer of its own: End would write down what a panic says.
	defer func() {
		if !whole {
			fail(span, "") // it broke
		}
		span.End()
	}()
	ctx = context.WithValue(ctx, runKey{}, &run{session: t.Session.ID, span: span})
	before := t.Turn.Usage
	if t.Journal != nil {
		t.Journal = &tracedJournal{Journal: t.Journal, tracer: r.tracer, session: t.Session.ID}
	}
	end, err := r.next.Run(ctx, t)
	whole = true
	finish(span, before, end, err)
	return end, err
}

// finish notes how a run ended. What it consumed is without what earlier runs of the
// turn did.
func finish(span trace.Span, before parley.Usage, end parley.TurnEnd, err error) {
	reason, usage := string(end.Completed.StopReason), end.Completed.Usage
	switch {
	case errors.Is(err, parley.ErrSuspended):
		reason, usage = "suspended", parley.Usage{}
		if s, ok := errors.AsType[*parley.SuspendError](err); ok {
			usage = s.Usage
		}
		span.SetAttributes(attribute.String("parley.suspend.code", string(parley.CodeOf(err))))
	case err != nil:
		reason, usage = "failed", parley.Usage{}
		fail(span, string(parley.CodeOf(err)))
	case end.Completed.Error != nil:
		fail(span, end.Completed.Error.Code)
	case end.Completed.StopReason == parley.StopError:
		fail(span, "")
	}
	span.SetAttributes(attribute.String("parley.stop_reason", reason))
	if usage != (parley.Usage{}) {
		setUsage(span, minus(usage, before))
	}
}

func minus(u, v parley.Usage) parley.Usage {
	return parley.Usage{
		InputTokens:      max(u.InputTokens-v.InputTokens, 0),
		OutputTokens:     max(u.OutputTokens-v.OutputTokens, 0),
		CacheReadTokens:  max(u.CacheReadTokens-v.CacheReadTokens, 0),
		CacheWriteTokens: max(u.CacheWriteTokens-v.CacheWriteTokens, 0),
		CostMicroUSD:     max(u.CostMicroUSD-v.CostMicroUSD, 0),
	}
}

type runKey struct{}

// run is the run that a call of a model belongs to.
type run struct {
	session parley.SessionID
	span    trace.Span
	asked   sync.Once
}

// ask notes the model that is asked first, as the one of the run.
func (r *run) ask(attributes ...attribute.KeyValue) {
	r.asked.Do(func() { r.span.SetAttributes(attributes...) })
}
