package trace

import (
	"context"
	"log/slog"
	"sync"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter sends spans, until it is stopped. It logs failures itself: otherwise they
// would go to a handler that is global.
type exporter struct {
	sdk.SpanExporter
	log *slog.Logger

	mu      sync.Mutex
	stopped bool
	cancel  context.CancelFunc // of what is being sent
	failing bool
}

// ExportSpans implements [sdk.SpanExporter]. Its caller calls it once at a time.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.mu.Lock()
	if e.stopped {
		e.mu.Unlock()
		return nil
	}
	e.cancel = cancel
	e.mu.Unlock()
	err := e.SpanExporter.ExportSpans(ctx, spans)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancel = nil
	switch {
	case e.stopped:
	case err != nil && !e.failing:
		e.log.Warn("traces cannot be sent, and are dropped until they can", "spans", len(spans), "error", err)
	case err == nil && e.failing:
		e.log.Info("traces are sent again")
	}
	e.failing = err != nil
	return nil
}

// stop ends what is being sent, and lets nothing be sent after it.
func (e *exporter) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	if e.cancel != nil {
		e.cancel()
	}
}
