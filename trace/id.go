package trace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"

	"go.opentelemetry.io/otel/trace"

	"github.com/parley-run/parley"
)

type turnKey struct{}

// withTurn gives a context in which a trace gets the id of the turn's: all runs of a
// turn, also after a restart, are one trace.
func withTurn(ctx context.Context, session parley.SessionID, turn parley.TurnID) context.Context {
	sum := sha256.Sum256([]byte(string(session) + "\n" + string(turn)))
	return context.WithValue(ctx, turnKey{}, trace.TraceID(sum[:16]))
}

// ids makes the ids of traces and spans.
type ids struct{}

// NewIDs implements the SDK's generator of ids.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, ok := ctx.Value(turnKey{}).(trace.TraceID)
	if !ok {
		_, _ = rand.Read(id[:]) // it never fails
	}
	return id, ids{}.NewSpanID(ctx, id)
}

// NewSpanID implements the SDK's generator of ids.
func (ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	for !id.IsValid() {
		_, _ = rand.Read(id[:]) // it never fails
	}
	return id
}
