package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestCopyUnderLoad copies a store that is being written, to another key or to
// none: the copy has everything that was acknowledged before, and no half batch.
func TestCopyUnderLoad(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][2][]byte{
		"plain": {nil, nil}, "same key": {testKey, testKey}, "encrypt": {nil, testKey}, "decrypt": {testKey, nil},
		"another key": {testKey, bytes.Repeat([]byte{9}, sqlite.KeyBytes)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "store.db")
			s := openWith(t, path, sqlite.Config{Key: keys[0]})
			book := newLedger()
			if err := runLoad(t.Context(), s, 0, 4, 40, book.add); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			started := make(chan struct{})
			go func() {
				var once sync.Once
				done <- runLoad(ctx, s, 1, 4, 300, func(a ack) {
					book.add(a)
					once.Do(func() { close(started) })
				})
			}()
			<-started
			// As another process does.
			r := openWith(t, path, sqlite.Config{Key: keys[0], ReadOnly: true})
			var last, total int64
			for i := range 3 {
				to, copied := t.TempDir(), book.clone()
				err := r.CopyTo(t.Context(), filepath.Join(to, "store.db"), keys[1], func(d, n int64) { last, total = d, n })
				if err != nil {
					t.Fatal(err)
				}
				if last != total || total == 0 {
					t.Errorf("the last progress is %d of %d", last, total)
				}
				copied.key = keys[1]
				if err := copied.check(t.Context(), to, 2, sqlite.Config{}); err != nil {
					t.Fatalf("copy %d: %v", i, err)
				}
			}
			cancel()
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

func TestCopyLeavesNothingBehindWhenItFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	fill(t, s, 20, 400)
	to := filepath.Join(dir, "copy.db")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.CopyTo(ctx, to, testKey, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	if err := s.CopyTo(t.Context(), to, testKey[:3], nil); parley.CodeOf(err) != parley.CodeInvalid {
		t.Errorf("with a bad key: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := os.WriteFile(to, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.CopyTo(t.Context(), to, nil, nil); parley.CodeOf(err) != parley.CodeUnavailable {
		t.Errorf("onto a file: %v", err)
	}
	if data, err := os.ReadFile(to); err != nil || string(data) != "mine" {
		t.Errorf("the file that was there is %q, %v", data, err)
	}
}

// TestCopyHasNothingRedacted copies a store whose pages, and whose write-ahead
// log, still have room for what was taken away.
func TestCopyHasNothingRedacted(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	all := fill(t, s, 30, 1500)
	release := sqlite.HoldReader(t.Context(), s) // so that the WAL cannot be emptied
	defer release()
	ids := slices.Sorted(maps.Keys(all))
	for _, id := range ids[:15] {
		commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{{Session: id, Redact: all[id].seqs}}})
	}
	dir := t.TempDir()
	if err := s.CopyTo(t.Context(), filepath.Join(dir, "copy.db"), nil, nil); err != nil {
		t.Fatal(err)
	}
	found := secretsIn(t, dir)
	for n, id := range ids {
		for _, text := range all[id].texts {
			if gone := n < 15; gone == (found[text] != nil) {
				t.Errorf("%s, redacted %v, is in %v", text, gone, found[text])
			}
		}
	}
}

func TestReplaceBy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, next := filepath.Join(dir, "parley.db"), filepath.Join(dir, "parley.db.next")
	s := openStore(t, path)
	commit(t, s, said("cli:a", "hello"))
	if err := s.CopyTo(t.Context(), next, testKey, nil); err != nil {
		t.Fatal(err)
	}
	r := openWith(t, path, sqlite.Config{ReadOnly: true})
	if _, err := r.Session(t.Context(), parley.SeeAll(), "cli:a"); err != nil {
		t.Fatal(err)
	}
	if err := s.ReplaceBy(next); parley.CodeOf(err) != parley.CodeUnavailable {
		t.Fatalf("while somebody reads: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	if err := s.ReplaceBy(next); err != nil {
		t.Fatal(err)
	}
	if err := s.ReplaceBy(next); parley.CodeOf(err) != parley.CodeUnavailable {
		t.Errorf("a second time: %v", err)
	}
	s = openWith(t, path, sqlite.Config{Key: testKey})
	if got, err := s.Session(t.Context(), parley.SeeAll(), "cli:a"); err != nil || got.Preview != "hello" {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestCopyIsNotGoneOnFrom: what its store has written down after a copy was made is not applied to the copy, also where somebody has put it in
// the place of the store.
func TestCopyIsNotGoneOnFrom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	commit(t, s, newcomer(0))
	if err := s.CopyTo(t.Context(), path+".copy", nil, nil); err != nil {
		t.Fatal(err)
	}
	commit(t, s, newcomer(1))
	records, err := os.ReadFile(path + sqlite.IntentSuffixes[0])
	if err != nil || len(records) == 0 {
		t.Fatalf("nothing was written down, %v", err)
	}
	other := filepath.Join(t.TempDir(), "parley.db")
	if err := errors.Join(os.Rename(path+".copy", other), os.WriteFile(other+sqlite.IntentSuffixes[0], records, 0o600)); err != nil {
		t.Fatal(err)
	}
	events, _, err := openStore(t, other).Log(t.Context(), parley.SeeAll(), 0, 10)
	if err != nil || len(events) != 1 || events[0].Session != "web:0" {
		t.Errorf("the copy has %+v, %v", events, err)
	}
}

// TestCopyAndClose: Close waits for a copy, after it there are none, and neither leaves something beside the store.
func TestCopyAndClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "store.db")
		s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		book := newLedger()
		if err := runLoad(t.Context(), s, 0, 2, 20, book.add); err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		goOn, copied, closed := make(chan struct{}), make(chan error, 1), make(chan error, 1)
		go func() {
			copied <- s.CopyTo(t.Context(), filepath.Join(to, "store.db"), nil, func(int64, int64) { <-goOn })
		}()
		synctest.Wait()
		go func() { closed <- s.Close() }()
		synctest.Wait()
		select {
		case err := <-closed:
			t.Errorf("the store was closed (%v) while it was copied", err)
		default:
		}
		close(goOn)
		if err := errors.Join(<-copied, <-closed); err != nil {
			t.Error(err)
		}
		if err := book.check(t.Context(), to, 2, sqlite.Config{}); err != nil {
			t.Error(err)
		}
		wantUnavailable(t, s.CopyTo(t.Context(), filepath.Join(to, "other.db"), nil, nil))
		for _, folder := range []string{dir, to} {
			if got := names(t, folder); got != "store.db store.db.lock" {
				t.Errorf("there are %s", got)
			}
		}
	})
}
