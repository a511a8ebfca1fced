package trace

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/parley-run/parley"
)

// Config is where traces go, and whose they are. A zero field is its default.
type Config struct {
	// Exporter takes the spans; nil: they are sent by OTLP over HTTP, to where the
	// OTEL_EXPORTER_OTLP_* variables of the environment say.
	Exporter sdk.SpanExporter
	// Service and Version name the program. OTEL_SERVICE_NAME and
	// OTEL_RESOURCE_ATTRIBUTES count before them. Empty: "parley", and no version.
	Service string
	Version string
	// Log is told when spans cannot be sent, and when they can again; nil: nobody is.
	Log *slog.Logger
}

const (
	scope = "github.com/parley-run/parley/trace"
	// flushTime is how long a shutdown tries to send what is left.
	flushTime = 5 * time.Second
	// graceTime is how long it waits then for the sending to stop.
	graceTime = time.Second
)

// Tracer writes traces. Its methods may be called by many goroutines; those of a nil
// one do nothing, and decorate nothing.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	out      *exporter
}

// New makes a tracer, which must be shut down. Which turns are traced, and how many
// spans wait to be sent, is as OTEL_TRACES_SAMPLER and OTEL_BSP_* say: all of them,
// and 2048. It fails with [parley.CodeInvalid] if the environment asks for what cannot
// be done; it does not try to reach anybody.
func New(ctx context.Context, cfg Config) (*Tracer, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Service == "" {
		cfg.Service = "parley"
	}
	if cfg.Exporter == nil {
		if err := checkEnvironment(); err != nil {
			return nil, err
		}
		var err error
		if cfg.Exporter, err = otlptracehttp.New(ctx); err != nil {
			return nil, &parley.Error{Code: parley.CodeInvalid, Op: "prepare traces", Message: "the exporter of traces cannot be made from OTEL_EXPORTER_OTLP_*", Err: err}
		}
	}
	about := []attribute.KeyValue{semconv.ServiceName(cfg.Service)}
	if cfg.Version != "" {
		about = append(about, semconv.ServiceVersion(cfg.Version))
	}
	res, err := resource.New(ctx, resource.WithAttributes(about...), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeInvalid, Op: "prepare traces", Message: "OTEL_RESOURCE_ATTRIBUTES must be name=value pairs with commas between them"}
	}
	t := &Tracer{out: &exporter{SpanExporter: cfg.Exporter, log: cfg.Log}}
	t.provider = sdk.NewTracerProvider(sdk.WithResource(res), sdk.WithIDGenerator(ids{}), sdk.WithBatcher(t.out))
	t.tracer = t.provider.Tracer(scope, trace.WithInstrumentationVersion(cfg.Version), trace.WithSchemaURL(semconv.SchemaURL))
	return t, nil
}

// Shutdown sends what is left, for at most 5 seconds and not after ctx has ended. It
// fails with [parley.CodeUnavailable] if not all could be sent by then: the rest is
// dropped. What is traced after it is dropped as well. It may be called twice.
func (t *Tracer) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- t.provider.Shutdown(context.WithoutCancel(ctx)) }()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("shut down traces: %w", err)
		}
		return nil
	case <-ctx.Done():
	}
	t.out.stop()
	late := time.NewTimer(graceTime)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C: // an exporter of the embedding program that does not stop
	}
	return parley.Errorf(parley.CodeUnavailable, "the last traces could not be sent in time, and were dropped")
}

// fail marks a span as failed. The code alone: what an error says may hold what
// people wrote.
func fail(span trace.Span, code string) {
	if code == "" {
		code = string(parley.CodeInternal)
	}
	span.SetStatus(codes.Error, "")
	span.SetAttributes(semconv.ErrorTypeKey.String(code))
}

// setUsage notes what was consumed. As the conventions want it, the input tokens have
// those of the cache in them.
func setUsage(span trace.Span, u parley.Usage) {
	if u == (parley.Usage{}) {
		return
	}
	span.SetAttributes(
		semconv.GenAIUsageInputTokens(int(u.PromptTokens())),
		semconv.GenAIUsageOutputTokens(int(u.OutputTokens)),
		semconv.GenAIUsageCacheReadInputTokens(int(u.CacheReadTokens)),
		semconv.GenAIUsageCacheCreationInputTokens(int(u.CacheWriteTokens)),
		attribute.Float64("parley.usage.cost_usd", float64(u.CostMicroUSD)/1e6),
	)
}
