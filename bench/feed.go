package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/feed"
)

// Feed measures the feed over a store: how fast a subscriber catches up, and how
// long a commit takes to the last of many subscribers. Every subscriber has to
// get every event in order, else the run fails with [parley.CodeInternal]. For
// the rest it is as [Store].
func Feed(ctx context.Context, cfg Config) (Report, error) {
	cfg.Size.Sessions, cfg.Size.Few = 1, 1 // none are stored
	return measureAll(ctx, cfg, feedMeasures(), (*run).feed)
}

// feed takes the figures of [Feed].
func (r *run) feed(ctx context.Context) error {
	return r.steps(ctx, []step{
		{r.catchUp, []string{FeedCatchup}},
		{r.fanOut, []string{FeedFanout}},
	})
}

// feedBed is a store with a feed over it.
type feedBed struct {
	raw, store parley.Store
	feed       *feed.Feed
}

func (r *run) openFeed(ctx context.Context, name string) (*feedBed, error) {
	store, err := r.cfg.OpenFunc(ctx, filepath.Join(r.dir, name))
	if err != nil {
		return nil, fmt.Errorf("make a store: %w", err)
	}
	f := feed.New(store, feed.Config{})
	return &feedBed{raw: store, store: feed.Announce(store, f), feed: f}, nil
}

func (b *feedBed) close() error {
	b.feed.Close()
	return b.raw.Close()
}

// catchUp measures how many events a second a subscriber gets that starts at the
// beginning of a long log, beside the store's pages alone.
func (r *run) catchUp(ctx context.Context) (err error) {
	b, err := r.openFeed(ctx, "catchup.db")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	deep, err := openDeep(ctx, b.store, "deep_feed", time.Now().UTC().Truncate(time.Second), r.cfg.Size.Deep, func(done, total int64) {
		r.cfg.ProgressFunc("writing a long log", done, total)
	})
	if err != nil {
		return err
	}
	s, err := b.raw.Session(ctx, parley.SeeAll(), deep.id)
	if err != nil {
		return err
	}
	var p pair
	err = r.rounds(ctx, "measuring "+FeedCatchup, r.cfg.Size.Rounds, func(i int) error {
		return inTurns(i,
			into(&p.value, func() (float64, error) { return follow(ctx, b.feed, deep.id, s.LastSeq) }),
			into(&p.reference, func() (float64, error) { return readLog(ctx, b.raw, deep.id, s.LastSeq) }))
	})
	if err != nil {
		return err
	}
	r.record(FeedCatchup, &p)
	return nil
}

// follow gives the events a second that a subscription gives.
func follow(ctx context.Context, f *feed.Feed, id parley.SessionID, last uint64) (float64, error) {
	start := time.Now()
	var seq uint64
	for u, err := range f.Subscribe(ctx, parley.SeeAll(), id, parley.Position{}) {
		if err != nil {
			return 0, err
		}
		if seq++; u.Event == nil || u.Event.Seq != seq || u.Position.Seq != seq {
			return 0, lost("a subscriber got %+v where event %d should be", u, seq)
		}
		if seq == last {
			return rate(int(seq), time.Since(start)), nil
		}
	}
	return 0, errors.Join(ctx.Err(), lost("a subscription ended at event %d of %d", seq, last))
}

// readLog gives the events a second that the store alone gives.
func readLog(ctx context.Context, store parley.Store, id parley.SessionID, last uint64) (float64, error) {
	start := time.Now()
	var seq uint64
	for seq < last {
		events, err := store.Events(ctx, parley.SeeAll(), id, parley.EventQuery{After: seq, Limit: parley.MaxPageSize})
		if err != nil {
			return 0, err
		}
		if len(events) == 0 {
			return 0, lost("the log of %s ends at %d instead of %d", id, seq, last)
		}
		seq = events[len(events)-1].Seq
	}
	return rate(int(seq), time.Since(start)), nil
}
