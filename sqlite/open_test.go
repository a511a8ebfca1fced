package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

func TestSecondWriterIsToldWhoHasTheStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	openStore(t, path)
	_, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if parley.CodeOf(err) != parley.CodeUnavailable || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Fatalf("got %v; want unavailable and the process", err)
	}
}

// TestOpen_AtOnce: who finds no store, and waits for the lock of another who makes it, does not put one of its own in its place.
func TestOpen_AtOnce(t *testing.T) {
	t.Parallel()
	const many = 4
	path := filepath.Join(t.TempDir(), "parley.db")
	var work sync.WaitGroup
	for i := range many {
		work.Go(func() {
			s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
			for errors.Is(err, parley.ErrUnavailable) { // another has it
				s, err = sqlite.Open(t.Context(), path, sqlite.Config{})
			}
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.Commit(t.Context(), newcomer(i)); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if events, _, err := openStore(t, path).Log(t.Context(), parley.SeeAll(), 0, 2*many); err != nil || len(events) != many {
		t.Errorf("%d of %d are there, %v", len(events), many, err)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	if _, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: true}); !errors.Is(err, parley.ErrNotFound) {
		t.Fatalf("opening nothing: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatalf("reading made a file: %v", err)
	}
	w := openStore(t, path)
	commit(t, w, said("cli:a", "hello"))
	r, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if s, err := r.Session(t.Context(), parley.SeeAll(), "cli:a"); err != nil || s.Preview != "hello" {
		t.Fatalf("got %v, %v", s, err)
	}
	if _, err := r.Commit(t.Context(), said("cli:b", "hello")); !errors.Is(err, parley.ErrUnavailable) {
		t.Fatalf("committing: %v", err)
	}
}

// TestGrowingStoreIsNotTruncated looks at a store's file while another process
// may move its WAL into it: what it sees are moments of a file that grows.
func TestGrowingStoreIsNotTruncated(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	commit(t, s, said("cli:a", "hello"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	looked := make(chan error, 1)
	go func() {
		defer close(looked)
		for ctx.Err() == nil {
			if found, err := sqlite.Inspect(path); err != nil || !found {
				looked <- fmt.Errorf("found %v: %w", found, err)
				return
			}
		}
	}()
	text := strings.Repeat("x", 20_000)
	for i := range 300 {
		b := said(parley.SessionID(fmt.Sprintf("cli:%d", i)), text)
		b.Sessions[0].Redact = []uint64{1} // so that the WAL is emptied at once
		b.Sessions[0].Deliveries = []parley.DeliveryChange{{New: &parley.Delivery{
			ID: parley.DeliveryID(fmt.Sprint(i)), Kind: parley.DeliveryMessage, Target: parley.Target{Channel: "c", Chat: "1"}, Text: text, State: parley.DeliveryPending,
		}}}
		commit(t, s, b)
	}
	stop()
	if err := <-looked; err != nil {
		t.Error(err)
	}
}

func TestFilesArePrivateAndPathsMayBeOdd(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b?c#d%41&e=ü")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, filepath.Join(dir, "parley.db"))
	commit(t, s, said("cli:a", "hello"))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 3 {
		t.Fatalf("got %v, %v", entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		// The index of the WAL has no content.
		if mode := info.Mode().Perm(); mode&0o077 != 0 && !strings.HasSuffix(e.Name(), "-shm") {
			t.Errorf("%s has mode %v", e.Name(), mode)
		}
	}
}

func TestMissingFolder(t *testing.T) {
	t.Parallel()
	_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "missing", "parley.db"), sqlite.Config{})
	if !errors.Is(err, parley.ErrInvalid) || !strings.Contains(err.Error(), "does not exist") {
		t.Fatal(err)
	}
}
