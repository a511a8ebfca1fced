package keep

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
)

// Store is a store that can be examined.
type Store interface {
	parley.Store
	// Check looks below the reads of a store: at the file itself, and for rows
	// that belong to nothing. It reports what it finds and goes on; its error
	// says that it could not look.
	Check(ctx context.Context, report func(parley.Problem)) error
	// Rebuild recomputes what the events of a session determine.
	Rebuild(ctx context.Context, id parley.SessionID) error
}

// Config of [Doctor]. The zero value checks and changes nothing.
type Config struct {
	// Rebuild repairs what is rebuildable. The store must be open for writing.
	Rebuild bool
	// ProgressFunc, if set, is told now and then how far the check is. A total
	// of 0 means that it is not known. Calls do not overlap. The sessions are
	// counted beforehand for it, which costs some seconds per million.
	ProgressFunc func(step string, done, total int64)
	// Workers is how many sessions are examined at once; 0 means one per
	// processor, at most 4.
	Workers int
	// Media, if set, is the media beside the store: whether every blob has its
	// file is looked at as well.
	Media *blob.Store
	// DeepMedia reads the files of all media and compares them with their names.
	DeepMedia bool
}

// pageSize is how many sessions, events or inputs are read at once: with the
// number of workers, it bounds the memory of a check.
const pageSize = 500

// Doctor checks a store: its file, then every session against its own log, then
// the inputs that wait and the media. With Config.Rebuild it repairs what is rebuildable,
// and looks again to see whether that helped: the report then has what it has without,
// what was fixed of it, and what only the repair brought to light.
//
// What is wrong with the store is in the report, not in the error: the error
// says that the check could not be carried out. The report then has what was
// found until that point.
//
// The store may be in use meanwhile. A session that changes while it is looked
// at is looked at again; one that never holds still is counted as busy.
func Doctor(ctx context.Context, store Store, cfg Config) (Report, error) {
	if cfg.Workers <= 0 {
		cfg.Workers = min(runtime.GOMAXPROCS(0), 4)
	}
	d := &doctor{store: store, cfg: cfg, tried: map[parley.SessionID]string{}}
	err := d.run(ctx)
	return d.report.sorted(), err
}

// doctor is one check under way.
type doctor struct {
	store Store
	cfg   Config
	total int64 // sessions, if they were counted
	below below

	mu     sync.Mutex // guards what follows
	report Report
	// tried are the sessions that were to be rebuilt, each with what to add to its
	// problems if it could not be.
	tried map[parley.SessionID]string
}

func (d *doctor) run(ctx context.Context) error {
	if err := d.file(ctx); err != nil {
		return err
	}
	if d.cfg.ProgressFunc != nil {
		if err := d.count(ctx); err != nil {
			return err
		}
	}
	if err := d.sessions(ctx); err != nil {
		return err
	}
	if err := d.unlisted(ctx); err != nil {
		return err
	}
	if err := d.waiting(ctx); err != nil {
		return err
	}
	if err := d.again(ctx); err != nil {
		return err
	}
	return d.media(ctx)
}

// count finds out how many sessions there are.
func (d *doctor) count(ctx context.Context) error {
	for page, err := range pages(ctx, d.store) {
		if err != nil {
			if fatal(ctx, err) {
				return err
			}
			return nil // reported when the sessions are examined
		}
		d.total += int64(len(page))
		d.progress("counting sessions", d.total)
	}
	return nil
}

// sessions examines every session.
func (d *doctor) sessions(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan []parley.Session)
	var workers sync.WaitGroup
	for range d.cfg.Workers {
		workers.Go(func() {
			for page := range work {
				for _, s := range page {
					if err := d.session(ctx, s); err != nil {
						cancel(err) // the pages that follow fail at once, which empties the channel
						break
					}
				}
			}
		})
	}
	err := d.deal(ctx, work)
	close(work)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// deal hands out the sessions page by page.
func (d *doctor) deal(ctx context.Context, work chan<- []parley.Session) error {
	for page, err := range pages(ctx, d.store) {
		if err != nil {
			if fatal(ctx, err) {
				return err
			}
			d.note(parley.Problem{Kind: KindUnreadable, Detail: "the list of sessions cannot be read to its end: " + err.Error()})
			return nil
		}
		select {
		case work <- page:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// session examines one session, repairs it if that is wanted, and notes what
// was found.
func (d *doctor) session(ctx context.Context, s parley.Session) error {
	if d.wasTried(s.ID) { // it was repaired, which has moved it in the list
		return nil
	}
	found, events, err := d.steady(ctx, s)
	if err != nil {
		return err
	}
	left := found
	if d.cfg.Rebuild && (anyRebuildable(found) || d.below.sessions[s.ID]) {
		if found, left, err = d.repair(ctx, s.ID, found); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report.add(found, left)
	d.report.Sessions++
	d.report.Events += events
	if d.cfg.ProgressFunc != nil {
		d.cfg.ProgressFunc("checking sessions", d.report.Sessions, max(d.total, d.report.Sessions))
	}
	return nil
}

// steady examines a session as it is at one moment: if it was written to
// meanwhile, what looks wrong may be a mixture of before and after.
func (d *doctor) steady(ctx context.Context, s parley.Session) ([]parley.Problem, int64, error) {
	const attempts = 5
	for range attempts {
		found, events, err := d.examine(ctx, s)
		if err != nil || len(found) == 0 {
			return nil, events, err
		}
		again, err := d.store.Session(ctx, parley.SeeAll(), s.ID)
		switch {
		case errors.Is(err, parley.ErrNotFound): // deleted meanwhile
			return nil, events, nil
		case err != nil:
			if fatal(ctx, err) {
				return nil, 0, err
			}
			found = append(found, parley.Problem{Kind: KindUnreadable, Session: s.ID, Detail: err.Error()})
			return found, events, nil
		case unchanged(s, again):
			return found, events, nil
		}
		s = again
	}
	d.mu.Lock()
	d.report.Busy++
	d.mu.Unlock()
	return nil, 0, nil
}

// unchanged reports whether nothing was written to the session between two
// looks at it. Every commit that touches one moves one of these.
func unchanged(a, b parley.Session) bool {
	return a.LastSeq == b.LastSeq && a.Fence == b.Fence && a.Queued == b.Queued && a.Status == b.Status &&
		a.Counters == b.Counters && a.Preview == b.Preview && a.UpdatedAt.Equal(b.UpdatedAt) &&
		(a.Ended == nil) == (b.Ended == nil)
}

// note adds a problem that nothing was done about.
func (d *doctor) note(p parley.Problem) {
	d.add([]parley.Problem{p}, []parley.Problem{p})
}

// add adds what was found in one place, and what of it is left.
func (d *doctor) add(found, left []parley.Problem) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report.add(found, left)
}

// progress tells how far a step is whose end is not known.
func (d *doctor) progress(step string, done int64) {
	if d.cfg.ProgressFunc != nil {
		d.cfg.ProgressFunc(step, done, 0)
	}
}

// fatal reports whether err means that the check cannot go on, rather than that
// something in the store is damaged.
func fatal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, parley.ErrUnavailable)
}
