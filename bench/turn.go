package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/turn"
)

// Turn measures how fast a turn ends that a person stops: while its model writes,
// and while its tool runs. A run that does not end as stopped, and one that leaves a
// process or a goroutine behind, fails with [parley.CodeInternal]. It stores
// nothing; for the rest it is as [Store].
func Turn(ctx context.Context, cfg Config) (Report, error) {
	cfg.Size.Sessions, cfg.Size.Few, cfg.Size.Deep = 1, 1, 1 // none are stored
	return measureAll(ctx, cfg, turnMeasures(), (*run).turn)
}

// turn takes the figures of [Turn].
func (r *run) turn(ctx context.Context) error {
	return r.steps(ctx, []step{
		{leavesNothing(r.cancelStream), []string{CancelStream}},
		{leavesNothing(r.cancelTool), []string{CancelTool}},
	})
}

// cancels stops runs, beside what the same takes without one.
func (r *run) cancels(ctx context.Context, name string, value, reference func(ctx context.Context, i int) (time.Duration, error)) error {
	side := func(i int, f func(context.Context, int) (time.Duration, error)) func() (float64, error) {
		return func() (float64, error) {
			ctx, over := context.WithTimeoutCause(ctx, cancelLimit, wrong("a run that was stopped did not end within %s", cancelLimit))
			defer over()
			took, err := f(ctx, i)
			return milliseconds(took), err
		}
	}
	var p pair
	err := r.rounds(ctx, "measuring "+name, r.cfg.Size.Cancels, func(i int) error {
		return inTurns(i, into(&p.value, side(i, value)), into(&p.reference, side(i, reference)))
	})
	if err != nil {
		return err
	}
	if m, ok := r.measures[name]; ok {
		res := m.result(p99(p.value), p99(p.reference))
		res.Note = fmt.Sprintf("%d runs; median %.1f ms, and %.1f ms in the reference", len(p.value), median(p.value), median(p.reference))
		r.results[name] = res
	}
	return nil
}

// cancelLimit is how long one run may take, with what is needed to get it going.
const cancelLimit = time.Minute

// stopRun starts a run, stops it as a person does when begun says so, and gives how
// long it went on.
func stopRun(ctx context.Context, runner *turn.Runner, t parley.TurnContext, begun func(context.Context) error) (parley.TurnEnd, time.Duration, error) {
	type outcome struct {
		end parley.TurnEnd
		at  time.Time
		err error
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan outcome, 1)
	go func() {
		end, err := runner.Run(running, t)
		ended <- outcome{end, time.Now(), err}
	}()
	early := begun(ctx)
	start := time.Now()
	cancel(parley.ErrCanceled)
	got := <-ended // a run ends with its context
	if err := errors.Join(early, got.err); err != nil {
		return parley.TurnEnd{}, 0, err
	}
	if reason := got.end.Completed.StopReason; reason != parley.StopAborted {
		return parley.TurnEnd{}, 0, wrong("a run that was stopped ended as %q: %+v", reason, got.end.Completed.Error)
	}
	return got.end, got.at.Sub(start), nil
}

// question is a turn with one message, which leaves no trace.
func question(journal parley.Journal) parley.TurnContext {
	return parley.TurnContext{
		Session:   parley.Session{ID: "web:bench"},
		Turn:      parley.Turn{ID: "t_bench", Session: "web:bench", Attempt: 1},
		Principal: parley.Principal{Identity: "web:ada", User: "ada", Role: parley.RoleOwner, Via: "local"},
		Window:    parley.Window{Turn: []parley.Message{{ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("Go on.")}}}},
		Journal:   journal,
	}
}

// leavesNothing makes a measurement fail that leaves a goroutine behind.
func leavesNothing(measure func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		const label = "parley_bench"
		name := fmt.Sprintf("%p", &ctx) // goroutines have the label of who started them
		var err error
		pprof.Do(ctx, pprof.Labels(label, name), func(ctx context.Context) { err = measure(ctx) })
		if err != nil {
			return err
		}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		left := ""
		for range 100 { // one that is on its way out may need a moment
			if left = labeled(fmt.Sprintf("%q:%q", label, name)); left == "" {
				return nil
			}
			<-tick.C
		}
		return wrong("goroutines are left:\n%s", left)
	}
}

// labeled gives the stacks of the goroutines with a label.
func labeled(label string) string {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return err.Error() // a buffer takes everything
	}
	var found []string
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, label) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

// wrong is a failure of a run that was stopped.
func wrong(format string, args ...any) error {
	return parley.Errorf(parley.CodeInternal, format, args...)
}
