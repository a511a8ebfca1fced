package trace_test

import (
	"context"
	"log"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/trace"
)

// A program puts the tracer around its runner and its models. Where traces are off,
// its tracer is nil, and the rest stays as it is.
func Example() {
	ctx := context.Background()
	tracer, err := trace.New(ctx, trace.Config{Version: "v1.2.3"}) // as OTEL_EXPORTER_OTLP_* say
	if err != nil {
		log.Fatal(err)
	}
	model := tracer.Model(&fakeModel{})                                                                       // the program's model
	runner := tracer.Runner(runFunc(func(ctx context.Context, _ parley.TurnContext) (parley.TurnEnd, error) { // the program's runner
		for _, err := range model.Stream(ctx, parley.ModelRequest{}) {
			return parley.TurnEnd{}, err
		}
		return parley.TurnEnd{}, nil
	}))
	_, _ = runner.Run(ctx, parley.TurnContext{})
	if err := tracer.Shutdown(ctx); err != nil {
		log.Print(err)
	}
}
