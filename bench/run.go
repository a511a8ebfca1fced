package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/parley-run/parley"
)

// measureAll is a run: the figures that were asked for of those there are, taken
// in a folder of their own.
func measureAll(ctx context.Context, cfg Config, known []measure, take func(*run, context.Context) error) (_ Report, err error) {
	if err := cfg.validate(); err != nil {
		return Report{}, err
	}
	measures, err := chosen(known, cfg.Only)
	if err != nil {
		return Report{}, err
	}
	if err := checkSpace(cfg.Dir, cfg.Size); err != nil {
		return Report{}, err
	}
	dir, err := os.MkdirTemp(cfg.Dir, "parley-bench-*")
	if err != nil {
		return Report{}, parley.Errorf(parley.CodeUnavailable, "cannot work in %s: %v; choose another folder with --dir", cfg.Dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	r := &run{cfg: cfg, dir: dir, measures: measures, results: map[string]Result{}}
	report := Report{Machine: machine(dir)}
	if err := take(r, ctx); err != nil {
		return report, err
	}
	for _, m := range known {
		if res, ok := r.results[m.name]; ok {
			if report.Machine.volatile() {
				res.Note = join(res.Note, "files are in memory here, so this says nothing about a disk")
			}
			report.Results = append(report.Results, res)
		}
	}
	return report, nil
}

// run is one run under way.
type run struct {
	cfg      Config
	dir      string
	measures map[string]measure
	results  map[string]Result
	bed      *bed // of [Store]
}

// step measures one or several figures.
type step struct {
	measure func(context.Context) error
	names   []string
}

// steps takes those of the steps that are wanted.
func (r *run) steps(ctx context.Context, list []step) error {
	for _, step := range list {
		if !r.wants(step.names...) {
			continue
		}
		runtime.GC() // what came before must not be collected in this one's time
		if err := step.measure(ctx); err != nil {
			return fmt.Errorf("measure %s: %w", step.names[0], err)
		}
	}
	return nil
}

func (r *run) wants(names ...string) bool {
	for _, name := range names {
		if _, ok := r.measures[name]; ok {
			return true
		}
	}
	return false
}

// record judges a figure, if it was asked for.
func (r *run) record(name string, p *pair) {
	if m, ok := r.measures[name]; ok {
		r.results[name] = m.result(p.medians())
	}
}

// rounds runs a measurement round by round.
func (r *run) rounds(ctx context.Context, step string, n int, round func(i int) error) error {
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.cfg.ProgressFunc(step, int64(i), int64(n))
		if err := round(i); err != nil {
			return err
		}
	}
	return nil
}

// join puts notes together.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
