package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
)

// kindsOfFull are a full disk as SQLite's own file system reports it, and as the driver's does: an I/O error with a cause, which is gone when
// SQLite has rolled back.
var kindsOfFull = map[string]error{"sqlite": faultvfs.ErrFull, "system": faultvfs.ErrNoSpace}

// TestFull_Commit: whichever file cannot grow, and however it is reported, a full disk is called so.
func TestFull_Commit(t *testing.T) {
	t.Parallel()
	for name, full := range kindsOfFull {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, soak.Seed(t))
			r.start()
			r.faults.Inject(faultvfs.Rule{Op: faultvfs.AnyChange, Grow: true, Err: full})
			err := r.commit(bigBatch + "1")
			if parley.CodeOf(err) != parley.CodeUnavailable || !strings.Contains(err.Error(), "the disk is full") {
				t.Errorf("got %v", err)
			}
			r.faults.Heal()
			r.mustCommit(1)
			r.cut()
		})
	}
}

// TestFull_Make: a store for which there is no room is refused with what to do, and nothing is left of it. Every write that makes a file
// longer is the one that fails in turn.
func TestFull_Make(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for name, full := range kindsOfFull {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sweep(t, faultvfs.Rule{Op: faultvfs.AnyChange, Grow: true, Err: full}, true, func(rule faultvfs.Rule) *faultvfs.Fault {
				r := newRig(t, seed)
				fault := r.faults.Inject(rule)
				err := r.open()
				r.faults.Heal()
				if err == nil {
					r.cut()
					return fault
				}
				if parley.CodeOf(err) != parley.CodeUnavailable || !strings.Contains(err.Error(), "the disk is full; free some space and try again") {
					t.Errorf("got %v", err)
				}
				left, err := os.ReadDir(filepath.Dir(r.path))
				for _, f := range left {
					if strings.Contains(f.Name(), ".new") {
						t.Errorf("%s is left, %v", f.Name(), err)
					}
				}
				return fault
			})
		})
	}
}
