package bench_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/bench"
)

func tinyFeed(t *testing.T) bench.Config {
	t.Helper()
	cfg := tiny(t)
	cfg.Size.Subscribers, cfg.Size.FanoutEvents = 30, 3
	return cfg
}

func TestFeed(t *testing.T) {
	t.Parallel()
	cfg := tinyFeed(t)
	cfg.ProbeFunc = nil
	report, err := bench.Feed(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range report.Results {
		names = append(names, r.Name)
		if r.Reference <= 0 || r.Value <= 0 || r.Unit == "" || r.Bar <= 0 || r.What == "" || r.ReferenceIs == "" || r.BarIs == "" {
			t.Errorf("%+v leaves something out", r)
		}
	}
	if want := []string{bench.FeedCatchup, bench.FeedFanout}; !slices.Equal(names, want) {
		t.Errorf("results are %v, want %v", names, want)
	}
	empty(t, cfg.Dir)
}

func TestAll_Only(t *testing.T) {
	t.Parallel()
	cfg := tinyFeed(t)
	cfg.Only = []string{bench.FeedCatchup, bench.AliasLookup}
	report, err := bench.All(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Results) != 2 || report.Results[0].Name != bench.AliasLookup || report.Results[1].Name != bench.FeedCatchup {
		t.Errorf("results are %+v", report.Results)
	}
	for name, run := range map[string]func(context.Context, bench.Config) (bench.Report, error){"all": bench.All, "feed": bench.Feed} {
		cfg.Only = []string{"speed"}
		if _, err := run(t.Context(), cfg); !errors.Is(err, parley.ErrInvalid) {
			t.Errorf("%s: an unknown figure gives %v", name, err)
		}
	}
	cfg.Only = []string{bench.Commit1}
	if _, err := bench.Feed(t.Context(), cfg); !errors.Is(err, parley.ErrInvalid) {
		t.Errorf("a figure of the store gives %v", err)
	}
}

func TestFeed_StopsWithItsContext(t *testing.T) {
	t.Parallel()
	cfg := tinyFeed(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.ProgressFunc = func(step string, done, _ int64) {
		if step == "measuring "+bench.FeedFanout && done == 6 {
			cancel()
		}
	}
	if _, err := bench.Feed(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	empty(t, cfg.Dir)
}

// skipping is a store that leaves an event out of what is read.
type skipping struct {
	parley.Store
	id  parley.SessionID
	seq uint64
}

func (s *skipping) Events(ctx context.Context, v parley.Visibility, id parley.SessionID, q parley.EventQuery) ([]parley.Event, error) {
	events, err := s.Store.Events(ctx, v, id, q)
	if id == s.id {
		events = slices.DeleteFunc(events, func(e parley.Event) bool { return e.Seq == s.seq })
	}
	return events, err
}

func TestFeed_FailsIfAnEventIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]skipping{
		bench.FeedCatchup: {id: "telegram:deep_feed", seq: 100},
		bench.FeedFanout:  {id: "web:arena", seq: 38}, // the second that is measured
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := tinyFeed(t)
			cfg.Only = []string{name}
			cfg.OpenFunc = func(ctx context.Context, path string) (parley.Store, error) {
				store, err := openStore(ctx, path)
				return &skipping{Store: store, id: c.id, seq: c.seq}, err
			}
			if _, err := bench.Feed(t.Context(), cfg); !errors.Is(err, parley.ErrInternal) {
				t.Errorf("an event was lost, and the run says %v", err)
			}
		})
	}
}
