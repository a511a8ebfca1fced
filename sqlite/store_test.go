package sqlite_test

import (
	"context"
	"hash/crc32"
	"path/filepath"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
	"github.com/parley-run/parley/storetest"
)

// TestStore runs the suite. One store in three is encrypted, which no test can
// tell.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness())
}

// harness opens stores for the suite.
func harness() storetest.Harness {
	config := func(dir string) sqlite.Config {
		return sqlite.Config{Key: someKey(int(crc32.ChecksumIEEE([]byte(dir))))}
	}
	return storetest.Harness{
		Open: func(t testing.TB, dir string) parley.Store {
			return openWith(t, filepath.Join(dir, "parley.db"), config(dir))
		},
		NewestFormat: sqlite.NewestVersion(),
		MigrateTo: func(t testing.TB, dir string, format int) {
			if err := sqlite.MigrateTo(t.Context(), filepath.Join(dir, "parley.db"), config(dir), format); err != nil {
				t.Fatal(err)
			}
		},
		Crash: func(t testing.TB, s parley.Store) {
			if err := sqlite.Abandon(s.(*sqlite.Store)); err != nil {
				t.Error(err)
			}
		},
		Check: func(ctx context.Context, s parley.Store) error { return anyProblem(ctx, s.(*sqlite.Store)) },
		Cost:  func(s parley.Store) int64 { return sqlite.PagesRead(s.(*sqlite.Store)) },
	}
}

// openStore opens a store and closes it with the test.
func openStore(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	return openWith(t, path, sqlite.Config{})
}

// openWith opens a store with a configuration and closes it with the test.
func openWith(t testing.TB, path string, cfg sqlite.Config) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s = nil // tests that are over are kept, and what their cleanups refer to with them
	})
	return s
}
