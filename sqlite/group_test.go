package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestGroupTakesInWhoComes: batches that come while a group is applied are committed
// with it.
func TestGroupTakesInWhoComes(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	commits, err := sqlite.CountTransactions(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	release := sqlite.HoldWritingGroup(s)
	const together = 20
	var all sync.WaitGroup
	for i := range together {
		all.Go(func() {
			if _, err := s.Commit(t.Context(), newcomer(i)); err != nil {
				t.Error(err)
			}
		})
	}
	for tick := time.NewTicker(time.Millisecond); sqlite.HandedOver(s) < together && !t.Failed(); <-tick.C {
	}
	release()
	all.Wait()
	if n := commits.Load(); n != 1 {
		t.Errorf("%d transactions were committed, not 1", n)
	}
}

// queueAt is who waits for the writer at moments of a bubble's time.
type queueAt struct {
	*testing.T
	store   *sqlite.Store
	commits *atomic.Int64
	start   time.Time
	made    int
	waiting sync.WaitGroup
}

func inQueue(t *testing.T, test func(q *queueAt)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := &queueAt{T: t, store: openStore(t, filepath.Join(t.TempDir(), "parley.db"))}
		var err error
		if q.commits, err = sqlite.CountTransactions(t.Context(), q.store); err != nil {
			t.Fatal(err)
		}
		q.start = time.Now()
		test(q)
		q.waiting.Wait()
	})
}

// commit has a batch committed that may wait or not, and answered at a moment.
func (q *queueAt) commit(mayWait bool, answered time.Duration) {
	q.made++
	b := newcomer(q.made)
	b.MayWait = mayWait
	q.waiting.Go(func() {
		if _, err := q.store.Commit(q.Context(), b); err != nil {
			q.Error(err)
		}
		if took := time.Since(q.start); took != answered {
			q.Errorf("%s is answered after %s, not %s", b.Sessions[0].Session, took, answered)
		}
	})
	synctest.Wait()
}

// sawCommits waits for all, and says in how many transactions they were.
func (q *queueAt) sawCommits(want int64) {
	q.Helper()
	q.waiting.Wait()
	if n := q.commits.Load(); n != want {
		q.Errorf("%d transactions were committed, not %d", n, want)
	}
}

// TestMayWait: a batch that may wait is written with the next one that may not, or when the time is
// over. The others wait for nothing.
func TestMayWait(t *testing.T) {
	t.Parallel()
	const soon = sqlite.MaxWait / 2
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		inQueue(t, func(q *queueAt) {
			q.commit(true, sqlite.MaxWait)
			q.sawCommits(1)
			q.commit(false, sqlite.MaxWait)
			q.commit(true, 2*sqlite.MaxWait)
			q.sawCommits(3)
		})
	})
	t.Run("until another comes", func(t *testing.T) {
		t.Parallel()
		inQueue(t, func(q *queueAt) {
			q.commit(true, soon)
			<-time.After(soon)
			q.commit(false, soon)
			q.sawCommits(1)
		})
	})
	t.Run("together", func(t *testing.T) {
		t.Parallel()
		inQueue(t, func(q *queueAt) {
			q.commit(true, sqlite.MaxWait)
			<-time.After(soon)
			q.commit(true, sqlite.MaxWait)
			q.sawCommits(1)
		})
	})
	t.Run("whose context ends", func(t *testing.T) {
		t.Parallel()
		inQueue(t, func(q *queueAt) {
			ctx, end := context.WithTimeout(q.Context(), soon)
			defer end()
			b := newcomer(0)
			b.MayWait = true
			if _, err := q.store.Commit(ctx, b); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, parley.ErrOutcomeUnknown) {
				q.Errorf("the error is %v", err)
			}
			q.commit(true, soon+sqlite.MaxWait)
			q.sawCommits(1)
		})
	})
	t.Run("until the store is closed", func(t *testing.T) {
		t.Parallel()
		inQueue(t, func(q *queueAt) {
			q.commit(true, 0)
			if err := q.store.Close(); err != nil {
				q.Error(err)
			}
			q.sawCommits(1)
		})
	})
}
