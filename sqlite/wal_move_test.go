package sqlite_test

import (
	"slices"
	"testing"

	"github.com/parley-run/parley/sqlite"
)

// TestReadWALIsNotMovedAfterEveryCommit: a WAL is moved whenever it is long, however often it was before; one
// that cannot start over, because somebody reads it, is not moved after every commit.
func TestReadWALIsNotMovedAfterEveryCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pages, want []int }{
		"short":        {[]int{1, 2000, 3999}, nil},
		"starts over":  {[]int{2000, 4000, 14, 4000, 9, 3990, 4010, 20, 4020}, []int{4000, 4000, 4010, 4020}},
		"is read":      {[]int{4000, 4014, 4999, 5000, 5999, 6000}, []int{4000, 5000, 6000}},
		"is read once": {[]int{4000, 5000, 14, 4000}, []int{4000, 5000, 4000}},
	} {
		if got := sqlite.MoveAttempts(c.pages...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAddedPagesAreMovedAgain: what commits add is moved when it is as much as before; a WAL that
// readers hold up is not moved after every commit; one that was started over is new.
func TestAddedPagesAreMovedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pages, moved, want int }{
		"all of it":    {4000, 4000, 8000},
		"nearly":       {4300, 4010, 8010},
		"held up":      {4300, 10, 5300},
		"started over": {14, 4010, 4000},
	} {
		if got := sqlite.MovedAgainAt(c.pages, c.moved); got != c.want {
			t.Errorf("%s: again at %d, not at %d", name, got, c.want)
		}
	}
}
