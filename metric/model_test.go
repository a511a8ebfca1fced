package metric_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/metric"
)

func TestModelCodes(t *testing.T) {
	t.Parallel()
	canceled := func(cause error) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(cause)
			return ctx
		}
	}
	rate := parley.Errorf(parley.CodeRateLimited, "slow down")
	tests := []struct {
		name  string
		model fakeModel
		ctx   func(context.Context) context.Context
		most  int
		code  string
		first int // how many answers began
	}{
		{name: "answered", model: fakeModel{pieces: []parley.ModelPiece{text("a"), text("b"), done(parley.Usage{OutputTokens: 2})}}, code: "ok", first: 1},
		{name: "only an end", model: fakeModel{pieces: []parley.ModelPiece{done(parley.Usage{})}}, code: "ok", first: 1},
		{name: "refused", model: fakeModel{err: rate}, code: "rate_limited"},
		{name: "fails in the middle", model: fakeModel{pieces: []parley.ModelPiece{text("a")}, err: rate}, code: "rate_limited", first: 1},
		{name: "a person stops it", model: fakeModel{err: context.Canceled}, ctx: canceled(parley.ErrCanceled), code: "canceled"},
		{name: "its time is up", model: fakeModel{err: context.Canceled}, ctx: canceled(errors.New("late")), code: "given_up"},
		{name: "the reader has enough", model: fakeModel{pieces: []parley.ModelPiece{text("a"), text("b")}}, most: 1, code: "stopped", first: 1},
		{name: "breaks off", model: fakeModel{pieces: []parley.ModelPiece{text("a")}}, code: "unavailable", first: 1},
		{name: "says nothing", model: fakeModel{}, code: "unavailable"},
		{name: "breaks", model: fakeModel{pieces: []parley.ModelPiece{text("a")}, broken: true}, code: "internal", first: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.model.name = "acme/large"
			m := metric.New(metric.Config{Clock: &ticker{}})
			model := m.Model(&test.model)
			if model.Info() != test.model.Info() {
				t.Error("the model is another")
			}
			ctx := t.Context()
			if test.ctx != nil {
				ctx = test.ctx(ctx)
			}
			gotN, gotErr := drink(ctx, model, test.most)
			wantN, wantErr := drink(ctx, &test.model, test.most)
			if gotN != wantN || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("the answer has %d pieces and %v, not %d and %v", gotN, gotErr, wantN, wantErr)
			}
			for name, want := range map[string]string{
				"parley_model_calls_total":                 fmt.Sprintf(`parley_model_calls_total{code=%q,model="acme/large",provider="acme"} 1`, test.code),
				"parley_model_call_duration_seconds_count": `parley_model_call_duration_seconds_count{model="acme/large",provider="acme"} 1`,
				"parley_model_first_piece_seconds_count":   fmt.Sprintf(`parley_model_first_piece_seconds_count{model="acme/large",provider="acme"} %d`, test.first),
			} {
				if got := lines(t, m, name); !slices.Equal(got, []string{want}) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	m := metric.New(metric.Config{})
	model := m.Model(&fakeModel{name: "acme/large", pieces: []parley.ModelPiece{done(parley.Usage{
		InputTokens: 10, OutputTokens: 20, CacheReadTokens: 30, CacheWriteTokens: 40, CostMicroUSD: 2_500_000,
	})}})
	for range 2 {
		if _, err := drink(t.Context(), model, 0); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`parley_model_tokens_total{kind="cache_read",model="acme/large",provider="acme"} 60`,
		`parley_model_tokens_total{kind="cache_write",model="acme/large",provider="acme"} 80`,
		`parley_model_tokens_total{kind="input",model="acme/large",provider="acme"} 20`,
		`parley_model_tokens_total{kind="output",model="acme/large",provider="acme"} 40`,
	}
	if got := lines(t, m, "parley_model_tokens_total"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// Outside of a turn there is no agent.
	want = []string{`parley_cost_usd_total{agent="none",model="acme/large"} 5`}
	if got := lines(t, m, "parley_cost_usd_total"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
