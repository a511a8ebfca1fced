package sqlite_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-run/parley/sqlite"
)

// TestAttempts: a log is moved whenever it is long, however often it was before; one
// that cannot start over, because somebody reads it, is not moved after every commit.
func TestAttempts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pages, want []int }{
		"short":        {[]int{1, 2000, 3999}, nil},
		"starts over":  {[]int{2000, 4000, 14, 4000, 9, 3990, 4010, 20, 4020}, []int{4000, 4000, 4010, 4020}},
		"is read":      {[]int{4000, 4014, 4999, 5000, 5999, 6000}, []int{4000, 5000, 6000}},
		"is read once": {[]int{4000, 5000, 14, 4000}, []int{4000, 5000, 4000}},
	} {
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if got := sqlite.Attempts(store, c.pages...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}
