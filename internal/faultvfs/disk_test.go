package faultvfs_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
)

// life inserts rows on a fresh disk until its power goes, and gives the verdict
// on what survived.
func life(t *testing.T, d *faultvfs.Disk, cutAfter int, journal, synchronous string) string {
	t.Helper()
	name := register(t, d)
	path := filepath.Join(t.TempDir(), "t.db")
	d.CutAfter(cutAfter)
	acked := 0
	// Opened again and again, so that the cut also meets the last close, which
	// checkpoints and deletes, and the start after it.
	for alive := true; alive; {
		alive = func() bool {
			c, err := open(path, name, "synchronous("+synchronous+")", "journal_mode("+journal+")",
				"wal_autocheckpoint(8)")
			if err != nil {
				return false
			}
			defer func() { _ = c.Close() }()
			// A second connection reads, so that shared memory is shared.
			r, err := open(path, name)
			if err != nil {
				return false
			}
			defer func() { _ = r.Close() }()
			if run(c, schema) != nil {
				return false
			}
			for range 20 {
				if insert(c, acked+1) != nil {
					return false
				}
				acked++
				if s, err := ask(r, "SELECT count(*) FROM a"); err == nil && s == "0" {
					t.Error("the second connection does not see what was committed")
				}
			}
			return true
		}()
	}
	select {
	case <-d.Done():
	default:
		t.Fatal("an error while the power was on")
	}
	dir := t.TempDir()
	must(t, d.Survive(dir))
	return verdict(dir, acked)
}

func TestDiskKeepsWhatWasSynced(t *testing.T) {
	t.Parallel()
	for _, mode := range []struct{ journal, synchronous string }{
		{"wal", "EXTRA"},
		{"delete", "EXTRA"}, // FULL does not sync the folder after the journal's deletion
		{"truncate", "FULL"},
		{"persist", "FULL"},
	} {
		t.Run(mode.journal, func(t *testing.T) {
			t.Parallel()
			s := soak.Seed(t)
			for i := range uint64(40) {
				d := faultvfs.NewDisk(s + i)
				d.Unordered = i%2 == 0
				r := rand.New(rand.NewPCG(s+i, 1))
				if v := life(t, d, 1+r.IntN(700), mode.journal, mode.synchronous); v != "" {
					t.Errorf("seed %d: %s", s+i, v)
				}
			}
		})
	}
}

// What a test on the disk proves is only worth what the disk loses.
func TestDiskLosesWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	for _, mode := range []struct{ journal, synchronous string }{
		{"wal", "OFF"},
		{"wal", "NORMAL"},
		{"delete", "OFF"},
	} {
		t.Run(mode.journal+" "+mode.synchronous, func(t *testing.T) {
			t.Parallel()
			s := soak.Seed(t)
			lost := 0
			for i := range uint64(20) {
				r := rand.New(rand.NewPCG(s+i, 1))
				if v := life(t, faultvfs.NewDisk(s+i), 100+r.IntN(600), mode.journal, mode.synchronous); v != "" {
					lost++
				}
			}
			t.Logf("%d of 20 cuts lost something", lost)
			if lost == 0 {
				t.Error("20 power cuts without syncs lost nothing")
			}
		})
	}
}

// With FULL the switch to WAL deletes its journal without syncing the folder:
// where names are unordered the journal may come back and undo the database.
func TestDiskUnorderedBringsJournalBack(t *testing.T) {
	t.Parallel()
	s := soak.Seed(t)
	lost := map[bool]int{}
	for i := range uint64(40) {
		for _, unordered := range []bool{false, true} {
			d := faultvfs.NewDisk(s + i)
			d.Unordered = unordered
			if v := life(t, d, 60, "wal", "FULL"); v != "" {
				lost[unordered]++
				t.Logf("unordered %v, seed %d: %s", unordered, s+i, v)
			}
		}
	}
	if lost[false] > 0 || lost[true] == 0 {
		t.Errorf("lost %d times in order, %d times unordered", lost[false], lost[true])
	}
}

func TestDiskFailedSync(t *testing.T) {
	t.Parallel()
	for _, lose := range []bool{false, true} {
		t.Run(fmt.Sprintf("lose=%v", lose), func(t *testing.T) {
			t.Parallel()
			s := soak.Seed(t)
			lost := 0
			for i := range uint64(20) {
				d := faultvfs.NewDisk(s + i)
				f := faultvfs.NewFaults(d)
				path := filepath.Join(t.TempDir(), "t.db")
				c, err := open(path, register(t, f), "synchronous(EXTRA)", "journal_mode(wal)")
				must(t, err)
				must(t, run(c, schema, "PRAGMA synchronous=NORMAL"))
				must(t, insert(c, 1))
				must(t, insert(c, 2))
				// The first sync after two commits without one.
				f.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1, Lose: lose})
				must(t, run(c, "PRAGMA synchronous=FULL"))
				if insert(c, 3) == nil {
					t.Fatal("the sync did not fail")
				}
				if n, err := ask(c, "SELECT count(*) FROM a"); err != nil || n != "2" {
					t.Fatalf("reads find %s rows, %v; they should find what was written", n, err)
				}
				// The next one succeeds, but the pages of the first two count as
				// clean: a commit that builds on them hangs in the air.
				must(t, insert(c, 3))
				d.Cut()
				_ = c.Close()
				dir := t.TempDir()
				must(t, d.Survive(dir))
				if v := verdict(dir, 3); v != "" {
					lost++
				}
			}
			if (lost > 0) != lose {
				t.Errorf("%d of 20 lost something", lost)
			}
		})
	}
}

func TestDiskAfterCut(t *testing.T) {
	t.Parallel()
	d := faultvfs.NewDisk(soak.Seed(t))
	name := register(t, d)
	path := filepath.Join(t.TempDir(), "t.db")
	c, err := open(path, name, "journal_mode(wal)")
	must(t, err)
	must(t, run(c, schema))
	if d.Changes() == 0 {
		t.Error("no changes were counted")
	}
	d.Cut()
	d.Cut()
	if insert(c, 1) == nil {
		t.Error("a write after the cut succeeded")
	}
	if c2, err := sqlite3.Open("file:" + path + "?vfs=" + name); err == nil {
		if _, err := ask(c2, "SELECT count(*) FROM a"); err == nil {
			t.Error("a read after the cut succeeded")
		}
		_ = c2.Close()
	}
	must(t, c.Close())
}
