package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestView: what [parley.Store] leaves open. Reads of one view from several goroutines wait
// for each other, what is committed inside of it is seen after it, and a read that comes
// too late is refused.
func TestView(t *testing.T) {
	t.Parallel()
	// With one reader, a view inside of another that were not part of it would wait for ever.
	s := openWith(t, filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{Readers: 1})
	commit(t, s, said("cli:a", "hello"))
	read := func(ctx context.Context) error {
		_, err := s.Session(ctx, parley.SeeAll(), "cli:a")
		return err
	}
	var tooLate func() error
	err := s.View(t.Context(), func(ctx context.Context) error {
		tooLate = func() error { return read(ctx) }
		var reading sync.WaitGroup
		for range 8 {
			reading.Go(func() {
				if err := read(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		reading.Wait()
		// What is committed meanwhile is not seen.
		commit(t, s, said("cli:b", "hello"))
		err := s.View(ctx, func(ctx context.Context) error {
			_, err := s.Session(ctx, parley.SeeAll(), "cli:b")
			return err
		})
		if parley.CodeOf(err) != parley.CodeNotFound {
			t.Errorf("in the view: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(t.Context(), parley.SeeAll(), "cli:b"); err != nil {
		t.Error(err)
	}
	if err := tooLate(); parley.CodeOf(err) != parley.CodeInternal {
		t.Errorf("after the view: %v", err)
	}
}

// TestView_Panic: a function that panics leaves no transaction behind, which would keep the
// WAL from starting over, and no connection that others get.
func TestView_Panic(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openWith(t, path, sqlite.Config{Readers: 1})
	commit(t, s, said("cli:a", "hello"))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		_ = s.View(t.Context(), func(ctx context.Context) error {
			if _, err := s.Session(ctx, parley.SeeAll(), "cli:a"); err != nil {
				t.Error(err)
			}
			panic("on purpose")
		})
	}()
	commit(t, s, said("cli:b", "hello"))
	if _, err := s.Session(t.Context(), parley.SeeAll(), "cli:b"); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("somebody still has the store open: %v", err)
	}
}
