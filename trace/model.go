package trace

import (
	"context"
	"iter"
	"strings"
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/parley-run/parley"
)

// Model gives a model whose calls are spans, called "chat" and the model's name
// without its provider. They belong to the run that makes them, if a
// [Tracer.Runner] runs it.
func (t *Tracer) Model(model parley.Model) parley.Model {
	if t == nil {
		return model
	}
	return &tracedModel{Model: model, tracer: t.tracer}
}

type tracedModel struct {
	parley.Model
	tracer trace.Tracer
}

// Stream implements [parley.Model].
func (m *tracedModel) Stream(ctx context.Context, req parley.ModelRequest) iter.Seq2[parley.ModelPiece, error] {
	return func(yield func(parley.ModelPiece, error) bool) {
		ctx, span := m.start(ctx, req)
		c := call{span: span, start: time.Now()}
		left := string(parley.CodeInternal) // the code of an answer without an end: the model broke
		defer func() { c.end(left) }()
		for piece, err := range m.Model.Stream(ctx, req) {
			c.see(ctx, piece, err)
			if !yield(piece, err) {
				left = "" // who reads it has enough
				return
			}
		}
		left = string(parley.CodeUnavailable) // it broke off
	}
}

func (m *tracedModel) start(ctx context.Context, req parley.ModelRequest) (context.Context, trace.Span) {
	info := m.Model.Info()
	provider, name, found := strings.Cut(info.Name, "/")
	if !found {
		name = info.Name
	}
	ctx, span := m.tracer.Start(ctx, "chat "+name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.GenAIOperationNameChat,
		semconv.GenAIProviderNameKey.String(provider),
		semconv.GenAIRequestModel(name),
		semconv.GenAIRequestStream(true),
	))
	if req.MaxTokens > 0 {
		span.SetAttributes(semconv.GenAIRequestMaxTokens(req.MaxTokens))
	}
	if r, ok := ctx.Value(runKey{}).(*run); ok {
		r.ask(semconv.GenAIProviderNameKey.String(provider), semconv.GenAIRequestModel(name))
		span.SetAttributes(semconv.GenAIConversationID(string(r.session)))
	}
	return ctx, span
}

// call is a call of a model under way.
type call struct {
	span  trace.Span
	start time.Time
	begun bool
	calls bool   // the answer asks for tools
	code  string // of the error
	done  *parley.ModelDone
}

// see takes a piece of the answer into account.
func (c *call) see(ctx context.Context, piece parley.ModelPiece, err error) {
	switch {
	case c.done != nil:
		return
	case err != nil && ctx.Err() != nil:
		c.code = "canceled"
		return
	case err != nil:
		c.code = string(parley.CodeOf(err))
		return
	}
	c.done = piece.Done
	c.calls = c.calls || piece.Call != nil
	if !c.begun {
		c.begun = true
		c.span.SetAttributes(semconv.GenAIResponseTimeToFirstChunk(time.Since(c.start).Seconds()))
	}
}

func (c *call) end(left string) {
	if c.code == "" && c.done == nil {
		c.code = left
	}
	if c.code != "" {
		fail(c.span, c.code)
	}
	if c.done != nil {
		c.span.SetAttributes(semconv.GenAIResponseFinishReasons(c.reason()))
		setUsage(c.span, c.done.Usage)
	}
	c.span.End()
}

// reason is why the answer ended, in the words of the conventions.
func (c *call) reason() string {
	switch r := c.done.StopReason; {
	case r != "" && r != parley.StopDone:
		return string(r)
	case c.calls:
		return "tool_call"
	}
	return string(parley.StopDone)
}
