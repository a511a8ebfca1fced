package sqlite_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
	"github.com/parley-run/parley/storetest"
)

// TestIntents_Random runs random sequences in which the power is cut, and all that was acknowledged comes back, as far as
// SQLite has not got it, from the intents.
func TestIntents_Random(t *testing.T) {
	t.Parallel()
	storetest.RunRandom(t, cutHarness(t), storetest.RandomConfig{Sequences: soak.Count(150, 1500)})
}

// TestIntents_NothingWritten: a batch without an intent that changes nothing, for which SQLite has nothing to write or sync, is acknowledged
// only when what it has met is durable. The power goes while that is being written down, or soon after that failed.
func TestIntents_NothingWritten(t *testing.T) {
	t.Parallel()
	const many = 12 // are a crowd, so that what comes next has no intent
	alice := parley.Batch{At: instant, Users: []parley.UserChange{{
		User: parley.User{ID: "alice", Name: "Alice", Role: parley.RoleOwner, CreatedAt: instant},
	}}}
	for name, fails := range map[string]bool{"written": false, "failed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := soak.Seed(t)
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, seed)
				r.start()
				finish := make(chan struct{})
				r.faults.Inject(faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.Side, Times: 1, Do: func() { <-finish }})
				r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.Side, Times: 1})
				var work sync.WaitGroup
				for i := range many {
					work.Go(func() {
						b := newcomer(i)
						b.MayWait = true // all are taken at once
						if i == 0 {
							b.Users = alice.Users
						}
						_, _ = r.store.Commit(t.Context(), b) // nobody is told that it is there
					})
				}
				<-time.After(2 * sqlite.MaxWait)
				synctest.Wait()
				if _, err := r.store.Commit(t.Context(), alice); err != nil {
					t.Errorf("the WAL can be synced, but: %v", err)
				}
				if !fails {
					r.disk.Cut()
				}
				close(finish)
				work.Wait()
				r.disk.Cut()
				_ = r.store.Close() // fails: the power is off
				for range 20 {
					dir := t.TempDir()
					if err := r.disk.Survive(dir); err != nil {
						t.Fatal(err)
					}
					left := openStore(t, filepath.Join(dir, filepath.Base(r.path)))
					if _, err := left.User(t.Context(), "alice"); err != nil {
						t.Fatalf("she was acknowledged: %v", err)
					}
				}
			})
		})
	}
}

// TestIntents_GoMeanwhile: intents that who writes takes away at this moment, because the store was closed in good order, are none.
func TestIntents_GoMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	for _, suffix := range []string{"-intents-a", "-intents-b"} {
		if err := os.WriteFile(path+suffix, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := sqlite.FindIntentsThatGo(path); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestIntents_RefusedLast: a store whose last batch was refused, and that was closed while another process read it, or had it open, misses
// nothing.
func TestIntents_RefusedLast(t *testing.T) {
	t.Parallel()
	for name, reads := range map[string]bool{"reads": true, "has read": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRefusedLast(t, reads)
		})
	}
}

func testRefusedLast(t *testing.T, reads bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	commit(t, s, said("cli:a", "hello"))
	reader, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	release := sync.OnceFunc(sqlite.HoldReader(t.Context(), reader))
	if !reads {
		release()
	}
	b := said("cli:b", "not said")
	b.Sessions[0].Create = nil
	if _, err := s.Commit(t.Context(), b); !errors.Is(err, parley.ErrNotFound) {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(path + "-intents-?"); err != nil || len(left) == 0 {
		t.Fatalf("no intents are left, so that this shows nothing: %v", err)
	}
	another, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: true})
	if err != nil {
		t.Errorf("nothing is missing, but: %v", err)
	} else if err := another.Close(); err != nil {
		t.Error(err)
	}
	release()
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
}

// TestIntents_RedactionBeside: what is emptied for a redaction is not what others were acknowledged by. The power goes right
// after it.
func TestIntents_RedactionBeside(t *testing.T) {
	t.Parallel()
	const writers = 6
	seed := soak.Seed(t)
	for range soak.Count(50, 500) {
		seed++
		random := rand.New(rand.NewPCG(seed, 0))
		disk := faultvfs.NewDisk(seed)
		faults := faultvfs.NewFaults(disk)
		// As on a real disk, the scribe is busy most of the time.
		faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.Side, Do: func() {
			for range 200 {
				runtime.Gosched()
			}
		}})
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), useVFS(t, faults))
		if err != nil {
			t.Fatal(err)
		}
		commit(t, s, said("cli:secret", "secret"))
		var work sync.WaitGroup
		var acked [writers]int
		for w := range writers {
			work.Go(func() {
				for {
					if _, err := s.Commit(t.Context(), newcomer(w*1_000_000+acked[w])); err != nil {
						return // the power is off
					}
					acked[w]++
				}
			})
		}
		commit(t, s, redact("cli:secret", 1))
		disk.CutAfter(1 + random.IntN(60))
		work.Wait()
		_ = s.Close() // fails: the power is off
		dir := t.TempDir()
		if err := disk.Survive(dir); err != nil {
			t.Fatal(err)
		}
		left, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), unsynced(t))
		if err != nil {
			t.Fatal(err)
		}
		for w, n := range acked {
			for i := range n {
				id := newcomer(w*1_000_000 + i).Sessions[0].Session
				if _, err := left.Session(t.Context(), parley.SeeAll(), id); err != nil {
					t.Fatalf("seed %d: %s was acknowledged: %v", seed, id, err)
				}
			}
		}
		if err := left.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
