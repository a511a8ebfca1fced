package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// chatStart measures how long the terminal program takes from its start until it shows
// the conversation and the line to write in, with many sessions stored: with a daemon
// and without one, and the slower of the two is the figure. Beside it stands the least
// that a start of this program can take.
func (r *run) chatStart(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(r.dir, "start-*")
	if err != nil {
		return err
	}
	b := bed{open: r.cfg.OpenFunc}
	pop := population{n: r.cfg.Size.Sessions, base: time.Now().UTC().Truncate(time.Second)}
	if err := b.fill(ctx, filepath.Join(dir, "parley.db"), pop, r.cfg.ProgressFunc); err != nil {
		return err
	}
	if err := writeFiles(dir, answersAlike()); err != nil {
		return err
	}
	// The conversation that each start shows.
	if out, err := r.cfg.ProgramFunc(ctx, "chat", "--data", dir, "Let us begin.").CombinedOutput(); err != nil {
		return fmt.Errorf("begin a conversation: %w: %s", err, out)
	}
	alone, err := r.startRounds(ctx, dir, "measuring "+ChatStart+" without a daemon")
	if err != nil {
		return err
	}
	d, err := startDaemon(ctx, dir, r.cfg.ServeFunc(ctx, dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(ctx)) }()
	served, err := r.startRounds(ctx, dir, "measuring "+ChatStart+" with a daemon")
	if err != nil {
		return err
	}
	slower := alone
	if median(served.value) > median(alone.value) {
		slower = served
	}
	res := r.measures[ChatStart].result(slower.medians())
	res.Note = fmt.Sprintf("%d starts without a daemon, median %.0f ms, and as many with one, %.0f ms; slowest %.0f ms",
		len(alone.value), median(alone.value), median(served.value), max(slowest(alone.value), slowest(served.value)))
	r.results[ChatStart] = res
	return nil
}

func slowest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

// startRounds starts the terminal program, and the shortest command there is, in turns.
func (r *run) startRounds(ctx context.Context, dir, step string) (p pair, err error) {
	start := func() (float64, error) { return r.startOnce(ctx, dir) }
	least := func() (float64, error) {
		begin := time.Now()
		err := r.cfg.ProgramFunc(ctx, "version").Run()
		return milliseconds(time.Since(begin)), err
	}
	if _, err := start(); err != nil { // what is read is in the caches then, for all that follow
		return p, err
	}
	err = r.rounds(ctx, step, r.cfg.Size.Rounds, func(i int) error {
		return inTurns(i, into(&p.value, start), into(&p.reference, least))
	})
	return p, err
}

// startOnce starts the terminal program, looks until it is ready, and leaves it.
func (r *run) startOnce(ctx context.Context, dir string) (float64, error) {
	s, err := openScreen(r.cfg.ProgramFunc(ctx, "chat", "--data", dir))
	if err != nil {
		return 0, err
	}
	at, err := s.shows(ctx, "begin.", "done.", "> ")
	if err != nil {
		s.kill()
		return 0, err
	}
	return milliseconds(at.Sub(s.started)), s.leave(ctx)
}
