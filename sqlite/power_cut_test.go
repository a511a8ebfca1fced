package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

const cutsPerStore = 5

// cutLife runs the load on the store in dir until the power goes, and puts
// what survives into next. One writer in three runs alone: then the seed repeats
// the run exactly, otherwise all but the scheduling.
func cutLife(ctx context.Context, t *testing.T, r *rand.Rand, dir, next, synchronous string, cutAfter, life int, book *ledger) error {
	t.Helper()
	disk := faultvfs.NewDisk(r.Uint64())
	disk.Unordered = r.IntN(2) == 0
	disk.CutAfter(cutAfter)
	writers := someWriters(r)
	cfg := useVFS(t, disk)
	cfg.Key = book.key
	if synchronous != "" {
		cfg = sqlite.WithSynchronous(cfg, synchronous)
	}
	book.begin(life, writers)
	s, err := sqlite.Open(ctx, filepath.Join(dir, "store.db"), cfg)
	if err == nil {
		err = runLoad(ctx, s, life, writers, 10_000, book.add)
		_ = s.Close() // fails: the power is off
	}
	select {
	case <-disk.Done():
	default:
		return fmt.Errorf("an error while the power was on: %w", err)
	}
	if !errors.Is(err, parley.ErrUnavailable) {
		return fmt.Errorf("without power the store says %w, want unavailable", err)
	}
	return disk.Survive(next)
}

// randomCut chooses the change at which the power goes.
func randomCut(r *rand.Rand) int {
	switch r.IntN(4) {
	case 0: // while the store is made, opened, recovered
		return 1 + r.IntN(60)
	case 1: // beyond the first move
		return 1 + r.IntN(600)
	default:
		return 1 + r.IntN(250)
	}
}

// TestPowerCut cuts the power under load, again and again on what survived.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	cuts, seed := soak.Count(100, 1000), soak.Seed(t)
	stores := (cuts + cutsPerStore - 1) / cutsPerStore
	crowds := wantCrowds(t, stores)
	for i := range stores {
		t.Run(fmt.Sprintf("store %d", i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			dir, book := t.TempDir(), newLedger()
			book.key = someKey(i)
			last := min(cutsPerStore, cuts-i*cutsPerStore) - 1
			for cut := range last + 1 {
				ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
				next := t.TempDir()
				err := cutLife(ctx, t, r, dir, next, "", randomCut(r), 2*cut, book)
				if err == nil {
					cfg := unsynced(t)
					if cut == last {
						cfg = sqlite.Config{} // as a program would
					}
					err = book.check(ctx, next, 2*cut+1, cfg)
				}
				cancel()
				if err != nil {
					t.Fatalf("seed %d, store %d, cut %d, %d acknowledged: %v", seed, i, cut, len(book.acked), err)
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				dir = next
			}
			crowds.add(book.inCrowd)
			t.Logf("%d batches acknowledged, none lost", len(book.acked))
		})
	}
}

// TestPowerCutControl runs the same without syncs. It has to lose what was
// acknowledged: otherwise the disk proves nothing.
func TestPowerCutControl(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"OFF", "NORMAL"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			// Not each cut comes at a moment when something is not yet on the disk.
			const maxStores, enough = 100, 3
			seed, stores, lost := soak.Seed(t), 0, 0
			for i := 0; i < maxStores && lost < enough; i++ {
				stores++
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				next, book := t.TempDir(), newLedger()
				if err := cutLife(t.Context(), t, r, t.TempDir(), next, mode, 150+r.IntN(250), 0, book); err != nil {
					t.Fatalf("seed %d, store %d: %v", seed, i, err)
				}
				if err := book.check(t.Context(), next, 1, unsynced(t)); err != nil && strings.Contains(err.Error(), "lost: batch") {
					lost++
					t.Logf("store %d, %d acknowledged: %v", i, len(book.acked), err)
				}
			}
			if lost == 0 {
				t.Errorf("seed %d: %d power cuts without syncs lost nothing: this disk proves nothing", seed, stores)
			}
			t.Logf("%d of %d lost something", lost, stores)
		})
	}
}

// TestPowerCutControl_Lying has a disk whose syncs do nothing from some moment on, under the store as it is. What is acknowledged then has to be
// found missing, whether it was synced as intents or, in a crowd, in the WAL.
func TestPowerCutControl_Lying(t *testing.T) {
	t.Parallel()
	for name, writers := range map[string]int{"a few": 2, "a crowd": 2 * leastCrowd} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const maxStores, enough = 50, 3
			seed, stores, lost := soak.Seed(t), 0, 0
			for i := 0; i < maxStores && lost < enough; i++ {
				stores++
				r := newRig(t, seed+uint64(i))
				r.start()
				honest := len(r.book.acked)
				r.disk.Lie()
				if err := runLoad(t.Context(), r.store, 2, writers, 96/writers, r.book.add); err != nil {
					t.Fatalf("seed %d: %v", seed+uint64(i), err)
				}
				r.disk.Cut()
				_ = r.store.Close() // fails: the power is off
				next := t.TempDir()
				if err := r.disk.Survive(next); err != nil {
					t.Fatal(err)
				}
				err := r.book.check(t.Context(), next, 1, unsynced(t))
				if err != nil && strings.Contains(err.Error(), "lost: batch 2.") {
					lost++
					t.Logf("%d acknowledged before, %d after, %d of them in a crowd: %v", honest, len(r.book.acked)-honest, r.book.inCrowd, err)
				}
				if isCrowd := r.book.inCrowd > 0; isCrowd != (writers >= leastCrowd) {
					t.Fatalf("seed %d: %d writers, and %d commits in a crowd", seed+uint64(i), writers, r.book.inCrowd)
				}
			}
			if lost < enough {
				t.Errorf("seed %d: %d of %d power cuts have lost what a lying disk had taken: this disk proves nothing", seed, lost, stores)
			}
		})
	}
}
