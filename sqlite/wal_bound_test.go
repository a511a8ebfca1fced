package sqlite_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestWALIsBounded: readers that overlap without end keep the WAL from starting over, until it has so many pages that
// they are waited for. Then it does, if each of them takes less time than that: also where those who are waited for take so long that others come
// meanwhile. The time is that of a bubble.
func TestWALIsBounded(t *testing.T) {
	t.Parallel()
	const (
		batchBytes = 1_000_000
		batchPages = batchBytes/sqlite.PageBytes + 20 // with those that each transaction changes
		most       = sqlite.WALHeaderBytes + (sqlite.RestartPages+batchPages)*sqlite.FrameBytes
	)
	for _, readTakes := range []time.Duration{sqlite.ReaderTimeout / 4, sqlite.ReaderTimeout * 3 / 4} {
		t.Run(readTakes.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "parley.db")
				s := openStore(t, path)
				commit(t, s, said("cli:a", ""))
				commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{{Session: "cli:a", Deliveries: []parley.DeliveryChange{{New: &parley.Delivery{
					ID: "d", Kind: parley.DeliveryMessage, State: parley.DeliveryPending, Target: parley.Target{Channel: "x", Chat: "1"},
				}}}}}})
				defer overlap(t, s, readTakes)()
				longest, starts := int64(0), []string{}
				for n := 0; len(starts) <= 2 && longest <= most; n++ {
					text := strings.Repeat(string(rune('a'+n%2)), batchBytes) // pages that stay as they are would not be written
					commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{{
						Session: "cli:a", Deliveries: []parley.DeliveryChange{{ID: "d", Text: &text}},
					}}})
					size, start := lookAtWAL(t, path)
					longest = max(longest, size)
					if !slices.Contains(starts, start) {
						starts = append(starts, start)
					}
					<-time.After(time.Millisecond) // else no time would pass for those who read
				}
				if longest < sqlite.RestartPages*sqlite.FrameBytes {
					t.Errorf("the WAL had %d bytes at most: nobody has kept it from starting over, so this shows nothing", longest)
				}
				if longest > most {
					t.Errorf("the WAL has %d bytes, more than %d, and has started over %d times", longest, most, len(starts)-1)
				}
			})
		})
	}
}

// overlap has somebody read at all times of a bubble: each read begins just before the one before ends, and takes so long.
func overlap(t *testing.T, s *sqlite.Store, readTakes time.Duration) (end func()) {
	t.Helper()
	var reading sync.WaitGroup
	ended := make(chan struct{})
	reading.Go(func() {
		for release := sqlite.HoldReader(t.Context(), s); ; {
			select {
			case <-time.After(readTakes):
			case <-ended:
				release()
				return
			}
			next := sqlite.HoldReader(t.Context(), s)
			release()
			release = next
		}
	})
	return func() {
		close(ended)
		reading.Wait()
	}
}

// lookAtWAL gives how long the WAL is, and what changes each time it starts over: a count, and random numbers.
func lookAtWAL(t *testing.T, path string) (size int64, start string) {
	t.Helper()
	f, err := os.Open(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	header := make([]byte, 24)
	if _, err := io.ReadFull(f, header); err != nil {
		t.Fatal(err)
	}
	return info.Size(), string(header[12:])
}
