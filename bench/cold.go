package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// ProbeResult is what a fresh process says about a store it opened.
type ProbeResult struct {
	Start    time.Duration `json:"start_ns"`       // from before the store was opened until the first read was answered
	Resident int64         `json:"resident_bytes"` // after the pages were read; -1 where that is not known
}

// Probe opens a store as a daemon does at its start, reads once, then reads so
// many pages of the list, and says how long the start took and how much memory
// the process then holds. It means something only in a process that has done
// nothing else.
func Probe(ctx context.Context, open func(context.Context, string) (parley.Store, error), path string, pages int) (_ ProbeResult, err error) {
	begin := time.Now()
	store, err := open(ctx, path)
	if err != nil {
		return ProbeResult{}, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if _, err := store.Sessions(ctx, parley.SeeAll(), parley.SessionQuery{Limit: 1}); err != nil {
		return ProbeResult{}, err
	}
	res := ProbeResult{Start: time.Since(begin)}
	cursor := ""
	for range pages {
		if _, cursor, err = listPage(ctx, store, parley.SeeAll(), cursor); err != nil {
			return ProbeResult{}, err
		}
	}
	debug.FreeOSMemory() // collects first
	res.Resident = resident()
	return res, nil
}

// cold measures what a fresh process needs to start on a store with many
// sessions, in time and memory, beside one with none.
func (r *run) cold(ctx context.Context) error {
	if err := r.bed.close(); err != nil { // a store has one process that writes
		return err
	}
	for _, path := range []string{r.bed.manyPath, r.bed.emptyAt} { // both are in the caches
		if _, err := r.probe(ctx, path, idlePages); err != nil {
			return err
		}
	}
	if r.wants(StartCold) {
		if err := r.startCold(ctx); err != nil {
			return err
		}
	}
	if r.wants(RSSIdle) {
		return r.rssIdle(ctx)
	}
	return nil
}

// startCold takes several starts per round: they are short, and the machine
// does other things as well.
func (r *run) startCold(ctx context.Context) error {
	const starts = 3
	side := func(path string) func() (float64, error) {
		return func() (float64, error) {
			var times []float64
			for range starts {
				res, err := r.probe(ctx, path, 0)
				if err != nil {
					return 0, err
				}
				times = append(times, milliseconds(res.Start))
			}
			return median(times), nil
		}
	}
	var p pair
	err := r.rounds(ctx, "measuring "+StartCold, r.cfg.Size.Rounds, func(i int) error {
		return inTurns(i, into(&p.value, side(r.bed.manyPath)), into(&p.reference, side(r.bed.emptyAt)))
	})
	r.record(StartCold, &p)
	return err
}

// idlePages is how many pages of the list a process reads before its memory is
// looked at.
const idlePages = 100

func (r *run) rssIdle(ctx context.Context) error {
	known := true
	side := func(path string) func() (float64, error) {
		return func() (float64, error) {
			res, err := r.probe(ctx, path, idlePages)
			known = known && res.Resident >= 0
			return float64(res.Resident) / (1 << 20), err
		}
	}
	var p pair
	err := r.rounds(ctx, "measuring "+RSSIdle, r.cfg.Size.Rounds, func(i int) error {
		return inTurns(i, into(&p.value, side(r.bed.manyPath)), into(&p.reference, side(r.bed.emptyAt)))
	})
	if err != nil || !known { // where the system does not tell, there is no figure
		return err
	}
	many, none := p.medians()
	res := r.measures[RSSIdle].result(many-none, none)
	res.Note = fmt.Sprintf("%.1f MiB in all", many)
	r.results[RSSIdle] = res
	return nil
}

// probe runs one fresh process.
func (r *run) probe(ctx context.Context, path string, pages int) (ProbeResult, error) {
	cmd := r.cfg.ProbeFunc(ctx, path, pages)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return ProbeResult{}, fmt.Errorf("a fresh process failed: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	var res ProbeResult
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		return ProbeResult{}, fmt.Errorf("a fresh process answered %q: %w", out.String(), err)
	}
	return res, nil
}
