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

func TestRunOutcomes(t *testing.T) {
	t.Parallel()
	wait := func(code parley.Code) error {
		return fmt.Errorf("call: %w", &parley.SuspendError{Err: parley.Errorf(code, "wait")})
	}
	tests := []struct {
		name    string
		end     parley.TurnEnd
		err     error
		stopped bool // the process stops
		outcome string
		code    string
	}{
		{name: "done", end: ended(parley.StopDone, 0, nil), outcome: "stop", code: "ok"},
		{name: "cut", end: ended(parley.StopLength, 0, nil), outcome: "length", code: "ok"},
		{name: "aborted", end: ended(parley.StopAborted, 0, nil), outcome: "aborted", code: "ok"},
		{name: "failed for good", end: ended(parley.StopError, 0, &parley.TurnError{Code: "turn_limit"}), outcome: "error", code: "turn_limit"},
		{name: "a reason nobody knows", end: ended("whim", 0, nil), outcome: "other", code: "ok"},
		{name: "waits for a person", err: wait(parley.CodeBusy), outcome: "suspended", code: "approval"},
		{name: "waits for a model", err: wait(parley.CodeUnavailable), outcome: "suspended", code: "unavailable"},
		{name: "waits for a busy model", err: wait(parley.CodeRateLimited), outcome: "suspended", code: "unavailable"},
		{name: "waits for something", err: parley.ErrSuspended, outcome: "suspended", code: "other"},
		{name: "the process stops", err: wait(parley.CodeUnavailable), stopped: true, outcome: "suspended", code: "shutdown"},
		{name: "the runtime failed", err: parley.Errorf(parley.CodeConflict, "another owner"), outcome: "failed", code: "conflict"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := metric.New(metric.Config{Clock: &ticker{}})
			var during []string
			runner := m.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) {
				during = lines(t, m, "parley_turn_runs_active")
				return test.end, test.err
			}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.stopped {
				cancel()
			}
			end, err := runner.Run(ctx, turnOf("main"))
			if end != test.end || !errors.Is(err, test.err) {
				t.Errorf("got %v, %v", end, err)
			}
			if want := []string{`parley_turn_runs_active{agent="main"} 1`}; !slices.Equal(during, want) {
				t.Errorf("during the run %q, want %q", during, want)
			}
			for name, want := range map[string]string{
				"parley_turn_runs_total":               fmt.Sprintf(`parley_turn_runs_total{agent="main",code=%q,outcome=%q} 1`, test.code, test.outcome),
				"parley_turn_runs_active":              `parley_turn_runs_active{agent="main"} 0`,
				"parley_turn_run_duration_seconds_sum": `parley_turn_run_duration_seconds_sum{agent="main"} 0.02`,
			} {
				if got := lines(t, m, name); !slices.Equal(got, []string{want}) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func TestRunThatBreaks(t *testing.T) {
	t.Parallel()
	m := metric.New(metric.Config{})
	runner := m.Runner(runFunc(func(context.Context, parley.TurnContext) (parley.TurnEnd, error) { panic("broken") }))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		_, _ = runner.Run(t.Context(), turnOf("main"))
	}()
	want := []string{`parley_turn_runs_total{agent="main",code="internal",outcome="failed"} 1`}
	if got := lines(t, m, "parley_turn_runs_total"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := lines(t, m, "parley_turn_runs_active"), []string{`parley_turn_runs_active{agent="main"} 0`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCost has turns whose cost is known from the models, from the turn, or from
// both: each millionth is counted once.
func TestCost(t *testing.T) {
	t.Parallel()
	answers := func(cost int64) fakeModel {
		return fakeModel{pieces: []parley.ModelPiece{text("a"), done(parley.Usage{CostMicroUSD: cost})}}
	}
	cut := fakeModel{pieces: []parley.ModelPiece{text("a")}, err: parley.Errorf(parley.CodeUnavailable, "gone")}
	silent := fakeModel{err: parley.Errorf(parley.CodeUnavailable, "down")}
	tests := []struct {
		name   string
		before int64       // what earlier runs of the turn have cost
		calls  []fakeModel // of models m/0, m/1 …
		end    parley.TurnEnd
		err    error
		want   map[string]string
	}{
		{name: "free", calls: []fakeModel{answers(0)}, end: ended(parley.StopDone, 0, nil)},
		{name: "all said", calls: []fakeModel{answers(300), answers(500)}, end: ended(parley.StopDone, 800, nil), want: map[string]string{"m/0": "0.0003", "m/1": "0.0005"}},
		{
			name: "taken up again", before: 1_000_000, calls: []fakeModel{answers(300)}, end: ended(parley.StopDone, 1_000_300, nil),
			want: map[string]string{"m/0": "0.0003"},
		},
		{
			name: "one was cut off", calls: []fakeModel{answers(300), cut, answers(500)}, end: ended(parley.StopDone, 1000, nil),
			want: map[string]string{"m/0": "0.0003", "m/1": "0.0002", "m/2": "0.0005"},
		},
		{
			name: "one never began", calls: []fakeModel{silent, answers(500)}, end: ended(parley.StopDone, 500, nil),
			want: map[string]string{"m/1": "0.0005"},
		},
		{
			name: "suspended", calls: []fakeModel{cut}, err: &parley.SuspendError{Usage: parley.Usage{CostMicroUSD: 200}, Err: parley.Errorf(parley.CodeUnavailable, "down")},
			want: map[string]string{"m/0": "0.0002"},
		},
		{
			name: "suspended, and does not say", before: 5, calls: []fakeModel{answers(300)}, err: parley.ErrSuspended,
			want: map[string]string{"m/0": "0.0003"},
		},
		{name: "a tool of another kind has spent it", end: ended(parley.StopDone, 700, nil), want: map[string]string{"other": "0.0007"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := metric.New(metric.Config{})
			runner := m.Runner(runFunc(func(ctx context.Context, _ parley.TurnContext) (parley.TurnEnd, error) {
				for i := range test.calls {
					test.calls[i].name = fmt.Sprintf("m/%d", i)
					_, _ = drink(ctx, m.Model(&test.calls[i]), 0)
				}
				return test.end, test.err
			}))
			tc := turnOf("main")
			tc.Turn.Usage.CostMicroUSD = test.before
			_, _ = runner.Run(t.Context(), tc)
			var want []string
			for model, usd := range test.want {
				want = append(want, fmt.Sprintf(`parley_cost_usd_total{agent="main",model=%q} %s`, model, usd))
			}
			slices.Sort(want)
			if got := lines(t, m, "parley_cost_usd_total"); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestRecovered(t *testing.T) {
	t.Parallel()
	m := metric.New(metric.Config{})
	for _, outcome := range []string{"resume", "resume", "close", "made up", "never heard of"} {
		m.Recovered(outcome)
	}
	want := []string{
		`parley_recoveries_total{outcome="close"} 1`,
		`parley_recoveries_total{outcome="deliver"} 0`,
		`parley_recoveries_total{outcome="keep"} 0`,
		`parley_recoveries_total{outcome="other"} 2`,
		`parley_recoveries_total{outcome="resume"} 2`,
		`parley_recoveries_total{outcome="suspend"} 0`,
		`parley_recoveries_total{outcome="wait"} 0`,
	}
	if got := lines(t, m, "parley_recoveries_total"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
