package sqlite_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/parley-run/parley"
)

// TestView: what a store cannot promise for all: reads of one view from several
// goroutines wait for each other, and one that comes too late is refused.
func TestView(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
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
		// What is committed meanwhile is not seen, but by others.
		commit(t, s, said("cli:b", "hello"))
		if _, err := s.Session(ctx, parley.SeeAll(), "cli:b"); parley.CodeOf(err) != parley.CodeNotFound {
			t.Errorf("in the view: %v", err)
		}
		_, err := s.Session(t.Context(), parley.SeeAll(), "cli:b")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tooLate(); parley.CodeOf(err) != parley.CodeInternal {
		t.Errorf("after the view: %v", err)
	}
}
