package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
	"github.com/parley-run/parley/storetest"
)

// recorded is a store whose batches are all written down before they are applied, but for those that take something
// away.
type recorded struct {
	*sqlite.Store
	t    testing.TB
	disk *faultvfs.Disk
	dir  string
}

func (s recorded) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	result, err := s.Store.Commit(ctx, b)
	takesAway := false
	for i := range b.Sessions {
		takesAway = takesAway || b.Sessions[i].Delete || len(b.Sessions[i].Redact) > 0
	}
	if is := sqlite.Recordable(b); err == nil && is == takesAway {
		s.t.Errorf("recordable is %t: %+v", is, b)
	}
	return result, err
}

// TestIntents_Random runs random sequences in which the power is cut, and all that was acknowledged comes back, as far as
// SQLite has not got it, from the intents.
func TestIntents_Random(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seed := soak.Seed(t)
	storetest.RunRandom(t, storetest.Harness{
		Open: func(t testing.TB, dir string) parley.Store {
			mu.Lock()
			seed++
			disk := faultvfs.NewDisk(seed)
			mu.Unlock()
			name := fmt.Sprintf("intents_%p", disk)
			vfs.Register(name, disk)
			t.Cleanup(func() { vfs.Unregister(name) })
			s, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.WithVFS(sqlite.Config{Key: someKey(len(dir) + int(dir[len(dir)-1]))}, name))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = s.Close() // it fails where the power is off
				s = nil       // tests that are over are kept, and what their cleanups refer to with them
			})
			return recorded{s, t, disk, dir}
		},
		Crash: func(t testing.TB, store parley.Store) {
			s := store.(recorded)
			s.disk.Cut()
			_ = s.Close() // fails: the power is off
			left := t.TempDir()
			if err := s.disk.Survive(left); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.RemoveAll(s.dir), os.CopyFS(s.dir, os.DirFS(left))); err != nil {
				t.Fatal(err)
			}
		},
		Check: func(ctx context.Context, s parley.Store) error { return anyProblem(ctx, s.(recorded).Store) },
	}, storetest.RandomConfig{Sequences: soak.Count(150, 1500)})
}

// leftBehind is a folder with a store whose power was cut after some commits; the WAL has a header, and nothing of them.
func leftBehind(t *testing.T, commits int) (path string) {
	t.Helper()
	batches := make([]parley.Batch, commits)
	for i := range batches {
		batches[i] = newcomer(i)
	}
	return leftBehindAfter(t, nil, batches)
}

// leftBehindAfter is such a folder, of a store that was closed once, before the last batches were committed.
func leftBehindAfter(t *testing.T, before, last []parley.Batch) (path string) {
	t.Helper()
	const headerBytes = 32
	for seed := soak.Seed(t); !t.Failed(); seed++ {
		disk := faultvfs.NewDisk(seed)
		cfg, made := useVFS(t, disk), filepath.Join(t.TempDir(), "parley.db")
		for i, batches := range [][]parley.Batch{before, last} {
			s, err := sqlite.Open(t.Context(), made, cfg)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range batches {
				commit(t, s, b)
			}
			if i == 1 {
				disk.Cut()
				_ = s.Close() // fails: the power is off
			} else if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		dir := t.TempDir()
		if err := disk.Survive(dir); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(dir, "parley.db")
		if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() <= headerBytes {
			break
		}
	}
	return path
}

// TestIntents_Applied: what SQLite does not have is there when the store is opened, once, and the intents are gone when it is closed.
func TestIntents_Applied(t *testing.T) {
	t.Parallel()
	const commits = 300 // more than a group
	path := leftBehind(t, commits)
	if _, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: true}); !errors.Is(err, parley.ErrUnavailable) || !strings.Contains(err.Error(), "parley serve") {
		t.Errorf("to read it gives %v", err)
	}
	var readers sync.WaitGroup
	for range 8 { // none takes another for who writes
		readers.Go(func() {
			for range 20 {
				if s, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: true}); err == nil {
					t.Errorf("somebody reads it, %v", s.Close())
				}
			}
		})
	}
	readers.Wait()
	for range 2 {
		s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		events, _, err := s.Log(t.Context(), parley.SeeAll(), 0, 2*commits)
		if err != nil || len(events) != commits {
			t.Errorf("%d events, %v", len(events), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, suffix := range sqlite.IntentSuffixes {
			if _, err := os.Stat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", suffix, err)
			}
		}
	}
	s, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestIntents_NotTogether: intents that go on from where the store has not come to are not applied to it, and stay.
func TestIntents_NotTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	intents := path + sqlite.IntentSuffixes[0]
	var files, records [3][]byte
	for i := range files {
		s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		commit(t, s, newcomer(i))
		if records[i], err = os.ReadFile(intents); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	put := func(store, intent int) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, files[store], 0o600), os.WriteFile(intents, records[intent], 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put(0, 2)
	if _, err := sqlite.Open(t.Context(), path, sqlite.Config{}); !errors.Is(err, parley.ErrInvalid) || !strings.Contains(err.Error(), "remove them") {
		t.Errorf("it gives %v", err)
	}
	if is, err := os.ReadFile(intents); err != nil || !bytes.Equal(is, records[2]) {
		t.Errorf("the intents are not as they were, %v", err)
	}
	put(0, 1) // the next
	s := openStore(t, path)
	events, _, err := s.Log(t.Context(), parley.SeeAll(), 0, 10)
	if err != nil || len(events) != 2 || events[1].Session != "web:1" {
		t.Errorf("%+v, %v", events, err)
	}
}

// TestIntents_WithoutTheirStore: where the file of a store is gone and what it had not taken in is still there, no other store is made that
// would take that for its own, or lose it.
func TestIntents_WithoutTheirStore(t *testing.T) {
	t.Parallel()
	path := leftBehind(t, 3)
	store, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	left := readFiles(t, filepath.Dir(path))
	for _, readOnly := range []bool{false, true} {
		_, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: readOnly})
		if !errors.Is(err, parley.ErrInvalid) || !strings.Contains(err.Error(), "put the store back") {
			t.Errorf("read only %t: it gives %v", readOnly, err)
		}
	}
	if is := readFiles(t, filepath.Dir(path)); !reflect.DeepEqual(is, left) {
		t.Errorf("there were %d files, there are %d, or they are not as they were", len(left), len(is))
	}
	if err := os.WriteFile(path, store, 0o600); err != nil {
		t.Fatal(err)
	}
	events, _, err := openStore(t, path).Log(t.Context(), parley.SeeAll(), 0, 10)
	if err != nil || len(events) != 3 {
		t.Errorf("put back, it has %+v, %v", events, err)
	}
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
				r.faults.Inject(faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.Plain, Times: 1, Do: func() { <-finish }})
				r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.Plain, Times: 1})
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
		faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.Plain, Do: func() {
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

// TestIntents_OpenedBesideReader: a store whose process died is opened while another reads an older moment of it, for as long as that takes.
func TestIntents_OpenedBesideReader(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	commit(t, s, newcomer(0))
	reader, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	release := sync.OnceFunc(sqlite.HoldReader(t.Context(), reader))
	defer release()
	commit(t, s, newcomer(1))
	if err := sqlite.Abandon(s); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(path + "-intents-?"); err != nil || len(left) == 0 {
		t.Fatalf("no intents are left, so that this shows nothing: %v", err)
	}
	s, err = sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, newcomer(2))
	for range 2 {
		if events, _, err := s.Log(t.Context(), parley.SeeAll(), 0, 10); err != nil || len(events) != 3 {
			t.Errorf("%d events, %v", len(events), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if s, err = sqlite.Open(t.Context(), path, sqlite.Config{}); err != nil {
			t.Fatal(err)
		}
	}
	release()
	if err := errors.Join(s.Close(), reader.Close()); err != nil {
		t.Error(err)
	}
}

// TestIntents_Failed: a batch that was answered with an error, because what it changes is damaged, is not tried again when the store is opened
// after a power cut: then nobody could open it.
func TestIntents_Failed(t *testing.T) {
	t.Parallel()
	disk := faultvfs.NewDisk(soak.Seed(t))
	cfg := useVFS(t, disk)
	path := filepath.Join(t.TempDir(), "parley.db")
	s, err := sqlite.Open(t.Context(), path, cfg)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, said("cli:a", "hello"))
	if err := errors.Join(sqlite.Damage(t.Context(), s, damageMetadata), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = sqlite.Open(t.Context(), path, cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), paint("cli:a")); parley.CodeOf(err) != parley.CodeInternal {
		t.Errorf("it is damaged, but: %v", err)
	}
	disk.Cut()
	_ = s.Close() // fails: the power is off
	for range 20 {
		dir := t.TempDir()
		if err := disk.Survive(dir); err != nil {
			t.Fatal(err)
		}
		left := openStore(t, filepath.Join(dir, filepath.Base(path)))
		commit(t, left, said("cli:b", "hello"))
	}
}

// TestIntents_CannotBeApplied: where a change that was acknowledged cannot be applied after a crash, because what it changes was damaged since, the
// store is refused each time, and those after it are not applied without it. Who moves the intents away goes on without them.
func TestIntents_CannotBeApplied(t *testing.T) {
	t.Parallel()
	path := leftBehindAfter(t, []parley.Batch{said("cli:a", "hello")}, []parley.Batch{newcomer(1), paint("cli:a"), newcomer(2)})
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Exec(damageMetadata), c.Close()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := sqlite.Open(t.Context(), path, sqlite.Config{}); !errors.Is(err, parley.ErrInvalid) || !strings.Contains(err.Error(), "cannot be applied") {
			t.Fatalf("it gives %v", err)
		}
	}
	for _, suffix := range sqlite.IntentSuffixes {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	events, _, err := openStore(t, path).Log(t.Context(), parley.SeeAll(), 0, 10)
	if err != nil || len(events) != 1 || events[0].Session != "cli:a" {
		t.Errorf("it has %+v, %v", events, err)
	}
}

// damageMetadata damages what [paint] changes.
const damageMetadata = `UPDATE sessions SET metadata = '{'`

func paint(id parley.SessionID) parley.Batch {
	return parley.Batch{At: instant, Sessions: []parley.SessionChange{{
		Session: id, Patch: parley.SessionPatch{Metadata: map[string]string{"color": "red"}},
	}}}
}
