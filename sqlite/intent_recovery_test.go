package sqlite_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

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
