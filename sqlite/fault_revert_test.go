package sqlite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
)

// TestFaultReverts fails a sync of the log on a file system that then drops what was to be synced, so that the log is read as it was
// before. What commits had put there is nowhere but in the intents. The store goes on only if the log still has all of it; else it refuses, says what to do, and that helps.
func TestFaultReverts(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	refusals := 0
	for i := range uint64(soak.Count(12, 120)) {
		r := newRig(t, seed+i)
		r.start()
		fault := r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1, Lose: true, Revert: true})
		err := r.commitUntil(fault, i%2 == 0)
		if err == nil {
			r.cut()
			continue
		}
		refusals++
		for what, err := range map[string]error{"commit": err, "read": r.read()} {
			wantUnavailable(t, err)
			if err == nil || !strings.Contains(err.Error(), "stopped and started again") {
				t.Errorf("a %s does not say what to do: %v", what, err)
			}
		}
		if i%4 < 2 { // else the power goes
			if err := r.store.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if err := r.open(); err != nil {
				t.Fatalf("start again: %v", err)
			}
			r.mustCommit(3)
		}
		r.cut()
	}
	t.Logf("%d refusals", refusals)
	if refusals == 0 {
		t.Error("nothing was lost: this proves nothing")
	}
}

// commitUntil commits until the fault has struck, and then a little more. It gives the last error. The sync that fails is that of
// a large batch, or of the mover.
func (r *rig) commitUntil(fault *faultvfs.Fault, large bool) (err error) {
	r.t.Helper()
	for after, n := 0, 0; after < 5; n++ {
		name := r.name()
		if large && n%8 == 7 {
			name = fmt.Sprintf("%s%d", bigBatch, r.n)
		}
		if err = r.commit(name); err != nil {
			wantUnavailable(r.t, err)
		}
		if fault.Hits() > 0 {
			after++
		} else if n%64 == 0 {
			if err := r.read(); err != nil {
				r.t.Fatal(err)
			}
		}
		if n > 5000 {
			r.t.Fatal("the log was not synced")
		}
	}
	return err
}
