package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// together64 is how many sessions admit at once.
const together64 = 64

// commits measures durable admissions, by 64 sessions at once and by one alone,
// each beside a bare file. One stretch of each makes a round.
func (r *run) commits(ctx context.Context) (err error) {
	store := r.bed.many
	inboxes, err := openInboxes(ctx, store, "together", r.bed.base)
	if err != nil {
		return err
	}
	single, err := openInbox(ctx, store, "alone", r.bed.base)
	if err != nil {
		return err
	}
	size, err := single.recordBytes()
	if err != nil {
		return err
	}
	perRound := (together64 + 1) * queueLimit
	disk, err := newBare(r.dir, size, perRound*r.cfg.Size.CommitRounds)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.close()) }()

	l := stretch{each: queueLimit, limit: r.cfg.Size.Stretch}
	all := slices.Concat(inboxes, []*inbox{single})
	var together, alone pair
	err = r.rounds(ctx, "measuring commits", r.cfg.Size.CommitRounds, func(i int) error {
		if err := inTurns(i,
			into(&together.value, func() (float64, error) { return admitTogether(ctx, store, inboxes, l) }),
			into(&together.reference, func() (float64, error) { return disk.together(ctx, together64, l) }),
		); err != nil {
			return err
		}
		if err := inTurns(i,
			into(&alone.value, func() (float64, error) { return admitAlone(ctx, store, single, l) }),
			into(&alone.reference, func() (float64, error) { return disk.alone(ctx, l) }),
		); err != nil {
			return err
		}
		return settle(ctx, store, all...)
	})
	if err != nil {
		return err
	}
	r.recordCommits(&together, &alone)
	return verifyAll(ctx, store, all)
}

// openInboxes starts as many sessions as admit at once.
func openInboxes(ctx context.Context, store parley.Store, name string, base time.Time) ([]*inbox, error) {
	inboxes := make([]*inbox, together64)
	for i := range inboxes {
		var err error
		if inboxes[i], err = openInbox(ctx, store, fmt.Sprintf("%s_%d", name, i), base); err != nil {
			return nil, err
		}
	}
	return inboxes, nil
}

// recordCommits judges both figures. Together has a second bar: what group
// commit gains over one at a time.
func (r *run) recordCommits(together, alone *pair) {
	r.record(Commit1, alone)
	m, ok := r.measures[Commit64]
	if !ok {
		return
	}
	res := m.result(together.medians())
	gain := 0.0
	if one := median(alone.value); one > 0 {
		gain = res.Value / one
	}
	res.OK = res.OK && gain >= speedup
	res.BarIs = fmt.Sprintf("%s, ≥ %.1fx alone", res.BarIs, speedup)
	res.Note = fmt.Sprintf("%.1fx one session alone (%.0f/s)", gain, median(alone.value))
	r.results[Commit64] = res
}

// into appends what f gives to values.
func into(values *[]float64, f func() (float64, error)) func() error {
	return func() error {
		v, err := f()
		if err == nil {
			*values = append(*values, v)
		}
		return err
	}
}

// admitTogether gives the admissions per second of all inboxes at once.
func admitTogether(ctx context.Context, store parley.Store, inboxes []*inbox, l stretch) (float64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make([][]parley.Batch, len(inboxes))
	before := 0
	for i, c := range inboxes {
		work[i] = c.admissions(l.each)
		before += c.admitted
	}
	var ready, running sync.WaitGroup
	begin := make(chan struct{})
	var start time.Time
	for i, c := range inboxes {
		ready.Add(1)
		running.Go(func() {
			ready.Done()
			<-begin
			for n, b := range work[i] {
				if l.over(start, n) {
					return
				}
				if err := c.admit(ctx, store, b); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	ready.Wait()
	start = time.Now()
	close(begin)
	running.Wait()
	took := time.Since(start)
	done := -before
	for _, c := range inboxes {
		done += c.admitted
	}
	return rate(done, took), context.Cause(ctx)
}

// admitAlone gives the admissions per second of one inbox.
func admitAlone(ctx context.Context, store parley.Store, c *inbox, l stretch) (float64, error) {
	work := c.admissions(l.each)
	start := time.Now()
	for n, b := range work {
		if l.over(start, n) {
			work = work[:n]
			break
		}
		if err := c.admit(ctx, store, b); err != nil {
			return 0, err
		}
	}
	return rate(len(work), time.Since(start)), nil
}

// commitDeep measures an admission to a session with a long log beside one to
// an empty session.
func (r *run) commitDeep(ctx context.Context) error {
	store := r.bed.many
	deep, err := openDeep(ctx, store, "deep_commit", r.bed.base, r.cfg.Size.Deep, func(done, total int64) {
		r.cfg.ProgressFunc("writing a long log", done, total)
	})
	if err != nil {
		return err
	}
	var p pair
	empties := make([]*inbox, 0, r.cfg.Size.CommitRounds)
	err = r.rounds(ctx, "measuring "+CommitDeep, r.cfg.Size.CommitRounds, func(i int) error {
		// A new one each time: it would not stay empty.
		empty, err := openInbox(ctx, store, fmt.Sprintf("empty_%d", i), r.bed.base)
		if err != nil {
			return err
		}
		empties = append(empties, empty)
		if err := r.commitPairs(ctx, store, deep, empty, &p); err != nil {
			return err
		}
		return settle(ctx, store, deep, empty)
	})
	if err != nil {
		return err
	}
	r.record(CommitDeep, &p)
	return verifyAll(ctx, store, append(empties, deep))
}

// commitPairs admits to both inboxes in turns and notes the median time of each.
func (r *run) commitPairs(ctx context.Context, store parley.Store, deep, empty *inbox, p *pair) error {
	deepWork, emptyWork := deep.admissions(queueLimit), empty.admissions(queueLimit)
	var deepTimes, emptyTimes []float64
	timed := func(c *inbox, b parley.Batch) func() (float64, error) {
		return func() (float64, error) {
			start := time.Now()
			err := c.admit(ctx, store, b)
			return milliseconds(time.Since(start)), err
		}
	}
	start := time.Now()
	l := stretch{each: queueLimit, limit: r.cfg.Size.Stretch}
	for n := 0; n < l.each && !l.over(start, n); n++ {
		if err := inTurns(n, into(&deepTimes, timed(deep, deepWork[n])), into(&emptyTimes, timed(empty, emptyWork[n]))); err != nil {
			return err
		}
	}
	p.value = append(p.value, median(deepTimes))
	p.reference = append(p.reference, median(emptyTimes))
	return nil
}
