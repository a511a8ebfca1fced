package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// large is a batch that makes a session with so many messages, of so many bytes each.
func large(i, messages, bytes int) parley.Batch {
	b := newcomer(i)
	b.Sessions[0].Events = nil
	for m := range messages {
		b.Sessions[0].Events = append(b.Sessions[0].Events, parley.NewEvent{Body: &parley.Message{
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
