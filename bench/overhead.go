package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/parley-run/parley"
)

// turnsEach is how many turns a session has while it is measured. Each round has
// sessions of its own: what a turn reads grows with its session.
const turnsEach = 8

// engineOverhead measures the processor time of turns beside that of their commits.
func (r *run) engineOverhead(ctx context.Context) (err error) {
	if cpuTime() < 0 {
		return nil // where the system does not tell, there is no figure
	}
	answer := text(1, 300)
	b, err := r.openEngine(ctx, "turns", 0, answer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	bare, err := r.openBare(ctx, "commits.db")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()

	side := func(round int, store parley.Store, work func(talks []*talk) error) func() (float64, error) {
		return func() (float64, error) {
			talks, err := r.openTalks(ctx, store, round, together64, answer)
			if err != nil {
				return 0, err
			}
			runtime.GC() // what the other side left must not be collected in this one's time
			before := cpuTime()
			if err := work(talks); err != nil {
				return 0, err
			}
			took := cpuTime() - before
			for _, t := range talks {
				if err := t.answered(ctx, store); err != nil {
					return 0, err
				}
			}
			return milliseconds(took) / (together64 * turnsEach), nil
		}
	}
	var p pair
	rounds := r.cfg.Size.Rounds
	var commits int64
	err = r.rounds(ctx, "measuring "+EngineOverhead, rounds, func(i int) error {
		return inTurns(i,
			into(&p.value, side(i, b.raw, func(talks []*talk) error {
				before := b.commits.Load()
				err := b.converse(ctx, talks, turnsEach)
				commits += b.commits.Load() - before
				return err
			})),
			into(&p.reference, side(i, bare, func(talks []*talk) error { return commitTurns(ctx, bare, talks) })))
	})
	if err != nil {
		return err
	}
	if m, ok := r.measures[EngineOverhead]; ok {
		res := m.result(p.medians())
		res.Note = fmt.Sprintf("%d turns in a row in each session; %.2f commits per turn, and 2 in the reference", turnsEach, float64(commits)/float64(rounds*together64*turnsEach))
		r.results[EngineOverhead] = res
	}
	return nil
}

// commitTurns commits the turns of all talks at once.
func commitTurns(ctx context.Context, store parley.Store, talks []*talk) error {
	return atOnce(ctx, len(talks), func(ctx context.Context, i int) error {
		for range turnsEach {
			if err := talks[i].commitTurn(ctx, store); err != nil {
				return err
			}
		}
		return nil
	})
}

// modelTime is how long the model of [TurnsConcurrent] takes to answer.
const modelTime = 100 * time.Millisecond

// turnsConcurrent measures how many turns a second the engine gets done when there
// are more sessions than places, and a turn is mostly waiting.
func (r *run) turnsConcurrent(ctx context.Context) (err error) {
	const answer = "It is done."
	b, err := r.openEngine(ctx, "concurrent", modelTime, answer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	n := r.cfg.Size.Turns
	var turns, alone, cpu []float64
	err = r.rounds(ctx, "measuring "+TurnsConcurrent, r.cfg.Size.Rounds, func(i int) error {
		return inTurns(i,
			into(&turns, func() (float64, error) {
				talks, err := r.openTalks(ctx, b.raw, i, n, answer)
				if err != nil {
					return 0, err
				}
				start, before := time.Now(), cpuTime()
				if err := b.converse(ctx, talks, 1); err != nil {
					return 0, err
				}
				took := time.Since(start)
				cpu = append(cpu, milliseconds(cpuTime()-before)/float64(n))
				for _, t := range talks {
					if err := t.answered(ctx, b.raw); err != nil {
						return 0, err
					}
				}
				return rate(n, took), nil
			}),
			into(&alone, func() (float64, error) { return b.modelAlone(ctx) }))
	})
	if err != nil {
		return err
	}
	if m, ok := r.measures[TurnsConcurrent]; ok {
		res := m.result(median(turns), rate(together64, modelTime))
		res.Note = fmt.Sprintf("%d sessions at once; the model alone, asked by 64 at once, was seen at %.0f answers a second", n, median(alone))
		if each := median(cpu); each > 0 { // else the system does not tell
			res.Note += fmt.Sprintf("; a turn took %.2f ms of processor time, so the bar takes %.1f cores that are free for it", each, m.bar*res.Reference*each/1000)
		}
		r.results[TurnsConcurrent] = res
	}
	return nil
}

// modelAlone gives the answers a second of the model without an engine.
func (b *engineBed) modelAlone(ctx context.Context) (float64, error) {
	const each = 2
	start := time.Now()
	err := atOnce(ctx, together64, func(ctx context.Context, _ int) error {
		for range each {
			for _, err := range b.model.Stream(ctx, parley.ModelRequest{}) {
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	return rate(together64*each, time.Since(start)), err
}
