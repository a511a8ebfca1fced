package metric

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/parley-run/parley"
)

func (m *Metrics) makeStore() {
	m.commits = counter("parley_commits_total", "Commits of the store, by what came of them.", "code")
	m.commits.WithLabelValues(codeOK)
	m.commits.WithLabelValues(codeUnknown) // so that the first one is seen as an increase
	m.commitDuration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "parley_commit_duration_seconds",
		Help: "How long commits took that were written, or may have been.",
		// Each bound is half as much again as the one before, up to about 10 seconds,
		// so that a 99th percentile is not far off.
		Buckets: prometheus.ExponentialBuckets(0.00025, 1.5, 27),
	})
}

// Store gives a store whose commits are counted and timed. Reads pass through.
//
// It has the methods of [parley.Store] alone: what a concrete store can do besides,
// such as copying itself or checking its file, is not reachable through it, and
// asking it by a type assertion finds nothing. A program keeps the store itself for
// that, as it does with other decorators.
func (m *Metrics) Store(store parley.Store) parley.Store { return &meteredStore{Store: store, m: m} }

type meteredStore struct {
	parley.Store
	m *Metrics
}

// Commit implements [parley.Store].
func (s *meteredStore) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	start := s.m.cfg.Clock.Now()
	res, err := s.Store.Commit(ctx, b)
	code := codeOf(err)
	switch {
	case errors.Is(err, parley.ErrOutcomeUnknown):
		code = codeUnknown
	case err == nil && res.Duplicate != nil:
		code = "duplicate"
	}
	if code == codeOK || code == codeUnknown {
		s.m.commitDuration.Observe(s.m.since(start))
	}
	s.m.commits.WithLabelValues(code).Inc()
	return res, err
}
