package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

// HTTP measures the daemon as clients see it: it runs in a process of its own, and
// so does what puts load on it, over loopback. A message that is acknowledged and
// then not there once, or not answered once, fails the run with
// [parley.CodeInternal], and so does an event that a stream does not bring in its
// place. A system that does not let a process have enough open files gives
// [parley.CodeUnavailable]. For the rest it is as [Store].
func HTTP(ctx context.Context, cfg Config) (Report, error) {
	if cfg.ServeFunc == nil || cfg.LoadFunc == nil {
		return Report{}, parley.Errorf(parley.CodeInvalid, "a run over HTTP needs ServeFunc and LoadFunc")
	}
	cfg.Size.Sessions, cfg.Size.Few, cfg.Size.Deep = 1, 1, 1 // none are stored beforehand
	return measureAll(ctx, cfg, httpMeasures(), (*run).http)
}

// http takes the figures of [HTTP].
func (r *run) http(ctx context.Context) error {
	return r.steps(ctx, []step{
		{r.httpAck, []string{HTTPAck}},
		{r.sseFanout, []string{SSEFanout}},
		{r.sseIdle, []string{SSEIdle}},
	})
}

// AckRounds is how many rounds of posts, and of the bare file, [HTTPAck] has.
const AckRounds = 15

// postsEvery is how often there is a post: 500 a second.
const postsEvery = 2 * time.Millisecond

// httpAnswer is what the model of the daemon says, to everything.
const httpAnswer = "It is done."

// httpAck measures how long a post takes from the moment it is due until it is
// acknowledged, beside a bare file at the same rate, in turns. Then it posts for as
// long without a pause. All of it has to be there, and answered, in the end.
func (r *run) httpAck(ctx context.Context) error {
	return r.withDaemon(ctx, func(ctx context.Context, d *daemonBed, l *loader) error {
		inRounds := posting{name: "api:round", sessions: r.cfg.Size.PostSessions}
		inARow := posting{name: "api:row", sessions: r.cfg.Size.PostSessions}
		for _, p := range []*posting{&inRounds, &inARow} {
			if _, err := l.do(ctx, loadJob{Open: &openJob{Sessions: p.ids()}}); err != nil {
				return err
			}
		}
		times, err := r.ackRounds(ctx, l, &inRounds)
		if err != nil {
			return err
		}
		r.cfg.ProgressFunc("posting without a pause", 0, 0)
		start := time.Now()
		row, err := inARow.post(ctx, l, r.cfg.Size.Posts)
		if err != nil {
			return err
		}
		took := time.Since(start)
		for _, p := range []*posting{&inRounds, &inARow} {
			if err := p.verify(ctx, d, r.cfg.ProgressFunc); err != nil {
				return err
			}
		}
		if m, ok := r.measures[HTTPAck]; ok {
			res := m.result(times.p99.medians())
			res.Note = fmt.Sprintf("%d rounds of %d posts over %d sessions, median %.2f ms, and %.2f ms in the reference; then %d posts in a row, %.0f a second: "+
				"p99 %.1f ms. None was lost, none was answered twice",
				len(times.p99.value), inRounds.posted/len(times.p99.value), inRounds.sessions, median(times.all.value), median(times.all.reference),
				len(row), rate(len(row), took), p99(row))
			r.results[HTTPAck] = res
		}
		return nil
	})
}

// ackTimes are the times of posts and of the bare file: the 99th percentile of each
// round, and all.
type ackTimes struct{ p99, all pair }

// ackRounds posts and appends to a bare file, in turns.
func (r *run) ackRounds(ctx context.Context, l *loader, p *posting) (t ackTimes, err error) {
	each := max(r.cfg.Size.Posts/AckRounds, 1)
	size, err := newInbox("record", time.Now()).recordBytes()
	if err != nil {
		return t, err
	}
	disk, err := newBare(r.dir, size, each*AckRounds)
	if err != nil {
		return t, err
	}
	side := func(all *[]float64, f func() ([]float64, error)) func() (float64, error) {
		return func() (float64, error) {
			took, err := f()
			*all = append(*all, took...)
			return p99(took), err
		}
	}
	err = r.rounds(ctx, "measuring "+HTTPAck, AckRounds, func(i int) error {
		return inTurns(i,
			into(&t.p99.value, side(&t.all.value, func() ([]float64, error) { return p.post(ctx, l, each) })),
			into(&t.p99.reference, side(&t.all.reference, func() ([]float64, error) { return disk.paced(ctx, each, postsEvery) })))
	})
	if e := disk.close(); err == nil {
		err = e
	}
	return t, err
}

// paced appends n records, each at its time, and gives how long each took from then
// until it was durable, in milliseconds.
func (b *bareFile) paced(ctx context.Context, n int, every time.Duration) ([]float64, error) {
	took := make([]float64, n)
	start := time.Now()
	for i := range took {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		due := start.Add(time.Duration(i) * every)
		pauseUntil(due)
		if err := b.append(b.record); err != nil {
			return nil, err
		}
		took[i] = milliseconds(time.Since(due))
	}
	return took, nil
}
