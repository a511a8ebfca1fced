package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// caller commits a batch in a goroutine of a bubble.
type caller struct {
	end      context.CancelFunc // ends its context
	returned bool
	err      error
}

func call(t *testing.T, s *sqlite.Store, b parley.Batch) *caller {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	c := &caller{end: end}
	go func() {
		_, c.err = s.Commit(ctx, b)
		c.returned = true
	}()
	return c
}

// wantGivenUp ends a caller's context, and wants it to return, in the certainty that nothing was written.
func (c *caller) wantGivenUp(t *testing.T) {
	t.Helper()
	c.end()
	synctest.Wait()
	if !c.returned || !errors.Is(c.err, parley.ErrUnavailable) || !errors.Is(c.err, context.Canceled) || errors.Is(c.err, parley.ErrOutcomeUnknown) {
		t.Errorf("its context has ended; returned: %t, %v", c.returned, c.err)
	}
}

// TestQueueIsBounded: who comes when the queue is full waits for a place in it, until its context ends.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := openStore(t, filepath.Join(dir, "parley.db"))
		release := sqlite.HoldWriter(s)
		wantFull := func() {
			t.Helper()
			synctest.Wait()
			if n := sqlite.QueuedRequests(s); n != sqlite.MaxQueue {
				t.Errorf("%d batches are queued, not %d", n, sqlite.MaxQueue)
			}
		}
		var callers []*caller
		come := func() *caller {
			callers = append(callers, call(t, s, newcomer(len(callers))))
			return callers[len(callers)-1]
		}
		for range sqlite.MaxQueue - 1 {
			come()
		}
		synctest.Wait() // so that the next one is behind what was taken by now
		queued := come()
		wantFull()
		waits, givesUp := come(), come()
		wantFull()
		givesUp.wantGivenUp(t)
		wantFull()
		queued.wantGivenUp(t)
		wantFull() // whoever waits has taken its place
		for i, c := range callers {
			if c.returned && c != givesUp && c != queued {
				t.Errorf("nothing is committed, and caller %d has returned: %v", i, c.err)
			}
		}
		release()
		synctest.Wait()
		for i, c := range callers {
			wantNothing := c == givesUp || c == queued
			if !c.returned || c.err != nil && !wantNothing {
				t.Errorf("caller %d; returned: %t, %v", i, c.returned, c.err)
			}
			name := newcomer(i).Sessions[0].Session
			if _, err := s.Session(t.Context(), parley.SeeAll(), name); wantNothing != errors.Is(err, parley.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, c := range []*caller{queued, waits, givesUp} {
			name := string(newcomer(slices.Index(callers, c)).Sessions[0].Session)
			if files, _ := filesWith(t, dir, name); (len(files) > 0) != (c == waits) {
				t.Errorf("%s is in %v", name, files)
			}
		}
	})
}

// TestContextEndsWhenTheBatchWasTaken: it may be written down by then, and is applied as well. TestQueueIsBounded has one that was not taken.
func TestContextEndsWhenTheBatchWasTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
		release := sqlite.HoldWriter(s)
		c := call(t, s, said("cli:a", "hello"))
		synctest.Wait()
		c.end()
		synctest.Wait()
		if !c.returned || !errors.Is(c.err, parley.ErrUnavailable) || !errors.Is(c.err, parley.ErrOutcomeUnknown) {
			t.Errorf("returned: %t, %v; want unavailable with an unknown outcome", c.returned, c.err)
		}
		release()
		synctest.Wait()
		if _, err := s.Session(t.Context(), parley.SeeAll(), "cli:a"); err != nil {
			t.Errorf("it was not written: %v", err)
		}
	})
}

func TestContextEndsInTheTransaction(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	started, finish := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- sqlite.SubmitHeld(ctx, s, started, finish)
	}()
	<-started
	cancel()
	err := <-done
	close(finish)
	if !errors.Is(err, parley.ErrOutcomeUnknown) || !errors.Is(err, parley.ErrUnavailable) {
		t.Fatalf("got %v; want unavailable with an unknown outcome", err)
	}
}
