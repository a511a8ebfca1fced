package trace

import (
	"context"

	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/parley-run/parley"
)

// tracedJournal sees the calls of tools that are run. Those whose result is stored,
// that nobody has allowed, or whose outcome is unknown are not run.
type tracedJournal struct {
	parley.Journal
	tracer  trace.Tracer
	session parley.SessionID
}

// Call implements [parley.Journal].
func (j *tracedJournal) Call(ctx context.Context, call parley.ToolCall, run func(context.Context) (parley.ToolResult, error)) (parley.ToolResult, error) {
	return j.Journal.Call(ctx, call, func(ctx context.Context) (result parley.ToolResult, err error) {
		name := toolName(call.Name)
		ctx, span := j.tracer.Start(ctx, "execute_tool "+name, trace.WithAttributes(
			semconv.GenAIOperationNameExecuteTool,
			semconv.GenAIToolName(name),
			semconv.GenAIToolType("function"),
			semconv.GenAIToolCallID(string(call.ID)),
			semconv.GenAIConversationID(string(j.session)),
		))
		whole := false
		// Not by a defer of its own: End would write down what a panic says.
		defer func() {
			switch {
			case !whole:
				fail(span, "") // it broke
			case err != nil && ctx.Err() != nil:
				fail(span, "canceled")
			case err != nil:
				fail(span, string(parley.CodeOf(err)))
			case result.Unknown:
				fail(span, "outcome_unknown")
			case result.IsError:
				fail(span, "tool_error")
			}
			span.End()
		}()
		result, err = run(ctx)
		whole = true
		return result, err
	})
}

// toolName gives the name of a tool if it can be one: it comes from the model, which
// may have made up anything.
func toolName(name string) string {
	if name == "" || len(name) > 64 {
		return "_OTHER"
	}
	for i := range len(name) {
		c := name[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && c != '-' {
			return "_OTHER"
		}
	}
	return name
}
