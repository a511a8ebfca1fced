package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// large is a batch that makes a session with so many messages, of so many bytes each.
func large(i, messages, bytes int) parley.Batch {
	b := newcomer(i)
	b.Sessions[0].Events = nil
	for m := range messages {
		b.Sessions[0].Events = append(b.Sessions[0].Events, parley.Draft{Body: &parley.Message{
			ID: fmt.Sprint(m), Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(strings.Repeat("x", bytes))},
		}})
	}
	return b
}

// TestGroupIsBounded: however many batches wait, a transaction has no more of them, and of their bytes, than a group may. Only a batch that is larger has one
// for itself.
func TestGroupIsBounded(t *testing.T) {
	t.Parallel()
	const largeBytes = 300_000
	var small, larger []parley.Batch
	for i := range 600 {
		small = append(small, newcomer(i))
	}
	for i := range 40 {
		larger = append(larger, large(i, 1, largeBytes))
	}
	larger = append(larger, large(40, 5, 900_000), large(41, 1, largeBytes))
	for name, c := range map[string]struct {
		batches []parley.Batch
		isFull  func(first sqlite.TransactionSize) bool // else what follows shows nothing
	}{
		"by number": {small, func(first sqlite.TransactionSize) bool {
			return first.Sessions == sqlite.MaxGroupRequests-1 // and what holds the writer
		}},
		"by bytes": {larger, func(first sqlite.TransactionSize) bool {
			return first.Bytes > sqlite.MaxGroupBytes-2*largeBytes
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
				var sizes []sqlite.TransactionSize
				if err := sqlite.WatchTransactions(t.Context(), s, func(size sqlite.TransactionSize) { sizes = append(sizes, size) }); err != nil {
					t.Fatal(err)
				}
				release := sqlite.HoldWriter(s)
				var all sync.WaitGroup
				for i, b := range c.batches {
					if i == len(c.batches)-2 {
						synctest.Wait() // these come last
					}
					all.Go(func() {
						if _, err := s.Commit(t.Context(), b); err != nil {
							t.Error(err)
						}
					})
				}
				synctest.Wait()
				release()
				all.Wait()
				sessions := 0
				for _, size := range sizes {
					sessions += size.Sessions
					if size.Sessions > sqlite.MaxGroupRequests || size.Bytes > sqlite.MaxGroupBytes && size.Sessions > 1 {
						t.Errorf("a transaction has %d batches with %d bytes", size.Sessions, size.Bytes)
					}
				}
				if sessions != len(c.batches) || len(sizes) == 0 || !c.isFull(sizes[0]) {
					t.Errorf("%d batches are in transactions of %+v", len(c.batches), sizes)
				}
			})
		})
	}
}
