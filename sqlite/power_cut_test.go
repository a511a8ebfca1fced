package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	writers := 1 + r.IntN(3)*r.IntN(4)
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
	for i := range (cuts + cutsPerStore - 1) / cutsPerStore {
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
				if err := book.check(t.Context(), next, 1, unsynced(t)); err != nil && len(book.acked) > 0 {
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
