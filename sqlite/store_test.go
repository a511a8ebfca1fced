package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
	"github.com/parley-run/parley/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, storetest.Harness{
		Open: func(t testing.TB, dir string) parley.Store { return openStore(t, filepath.Join(dir, "parley.db")) },
		Crash: func(t testing.TB, s parley.Store) {
			if err := sqlite.Abandon(s.(*sqlite.Store)); err != nil {
				t.Error(err)
			}
		},
	})
}

// openStore opens a store and closes it with the test.
func openStore(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
