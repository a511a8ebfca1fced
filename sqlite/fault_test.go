package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// A fault of the disk is always unavailable to the caller, never internal: it is
// not a mistake of the program, it may pass, and the right answer is to try
// again with the same input id.

type variant struct {
	name string
	// at are the moments at which such operations happen: in a commit, in a
	// move of the WAL, in the reopening after a failure, when a store is made, when
	// one is opened after a crash, in a read.
	at   string
	rule faultvfs.Rule
}

// variants are the ways in which operations fail.
var variants = []variant{
	{"any once", "commit reopen make open read move", faultvfs.Rule{Op: faultvfs.AnyOp, Times: 1}},
	{"any for ever", "commit reopen make open read move", faultvfs.Rule{Op: faultvfs.AnyOp}},
	{"change for ever", "commit reopen make move", faultvfs.Rule{Op: faultvfs.AnyChange}},
	{"read once", "reopen make open read move", faultvfs.Rule{Op: faultvfs.Read, Times: 1}},
	{"write once", "commit make move", faultvfs.Rule{Op: faultvfs.Write, Times: 1}},
	{"short write", "commit make move", faultvfs.Rule{Op: faultvfs.Write, Times: 1, Short: true}},
	{"short write, full", "commit make move", faultvfs.Rule{Op: faultvfs.Write, Short: true, Err: faultvfs.ErrFull}},
	{"disk full", "commit make move", faultvfs.Rule{Op: faultvfs.AnyChange, Grow: true, Err: faultvfs.ErrFull}},
	{"no space", "commit make move", faultvfs.Rule{Op: faultvfs.AnyChange, Grow: true, Err: faultvfs.ErrNoSpace}},
	{"sync once", "commit make move", faultvfs.Rule{Op: faultvfs.Sync, Times: 1}},
	{"sync for ever", "commit make move", faultvfs.Rule{Op: faultvfs.Sync}},
	{"sync once, loses", "commit make open move", faultvfs.Rule{Op: faultvfs.Sync, Times: 1, Lose: true}},
	{"sync thrice, loses", "commit make move", faultvfs.Rule{Op: faultvfs.Sync, Times: 3, Lose: true}},
	{"sync once, reverts", "make open", faultvfs.Rule{Op: faultvfs.Sync, Times: 1, Lose: true, Revert: true}},
	{"truncate", "make move", faultvfs.Rule{Op: faultvfs.Truncate}},
	{"delete", "make", faultvfs.Rule{Op: faultvfs.Delete}},
	{"open", "reopen make open read", faultvfs.Rule{Op: faultvfs.Open}},
}

// eachVariant runs a test for each variant that happens at the moment.
func eachVariant(t *testing.T, moment string, test func(t *testing.T, rule faultvfs.Rule)) {
	t.Helper()
	for _, v := range variants {
		for at := range strings.FieldsSeq(v.at) {
			if at == moment {
				t.Run(v.name, func(t *testing.T) {
					t.Parallel()
					test(t, v.rule)
				})
			}
		}
	}
}

// TestFaultInCommit fails each operation of a commit in turn. The caller gets an
// error, or the batch is there; meanwhile reads go on; repeated on a disk that is
// well, it is there; and all that survives a power cut.
func TestFaultInCommit(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	eachVariant(t, "commit", func(t *testing.T, rule faultvfs.Rule) {
		r := newRig(t, seed)
		r.start()
		sweep(t, rule, false, func(rule faultvfs.Rule) *faultvfs.Fault {
			fault := r.faults.Inject(rule)
			name := r.name()
			err := r.commit(name)
			if err != nil {
				wantUnavailable(t, err)
			}
			switch {
			case rule.Op != faultvfs.AnyOp:
				if err := r.read(); err != nil {
					t.Errorf("read while writing fails: %v", err)
				}
			case rule.Times == 0 && err != nil:
				// As long as it lasts nothing is written, and the store says so.
				wantUnavailable(t, r.commit(r.name()))
			}
			r.faults.Heal()
			if err := r.commit(name); err != nil {
				t.Errorf("repeat %s on a disk that is well: %v", name, err)
			}
			r.mustCommit(1)
			return fault
		})
		r.cut()
	})
}

// TestFaultThenPowerCut cuts the power at once after a commit has failed, when
// its frames may still be in the WAL: the batch is there whole or not at all, and
// not there if the store did not call its outcome unknown.
func TestFaultThenPowerCut(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	eachVariant(t, "commit", func(t *testing.T, rule faultvfs.Rule) {
		for i := range uint64(3) {
			sweep(t, rule, false, func(rule faultvfs.Rule) *faultvfs.Fault {
				r := newRig(t, seed+i)
				r.start()
				fault := r.faults.Inject(rule)
				if err := r.commit(r.name()); err != nil {
					wantUnavailable(t, err)
				}
				r.cut()
				return fault
			})
		}
	})
}

// TestFaultInReopen fails each operation by which the store gets on its feet
// after a sync that failed and lost.
func TestFaultInReopen(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	eachVariant(t, "reopen", func(t *testing.T, rule faultvfs.Rule) {
		r := newRig(t, seed)
		r.start()
		sweep(t, rule, true, func(rule faultvfs.Rule) *faultvfs.Fault {
			r.loseSync()
			fault := r.faults.Inject(rule)
			name := r.name()
			if err := r.commit(name); err != nil {
				wantUnavailable(t, err)
			}
			r.faults.Heal()
			if err := r.commit(name); err != nil {
				t.Errorf("repeat %s on a disk that is well: %v", name, err)
			}
			r.mustCommit(1)
			return fault
		})
		r.cut()
	})
}

// TestFaultInMove fails each operation of a move of the WAL in turn: of one that
// takes redacted bodies out of the WAL, which comes at once. A move is
// nobody's commit, so callers need not see its failure, but nothing may be lost
// by it, and the next one has to work.
func TestFaultInMove(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	eachVariant(t, "move", func(t *testing.T, rule faultvfs.Rule) {
		r := newRig(t, seed)
		r.start()
		sweep(t, rule, true, func(rule faultvfs.Rule) *faultvfs.Fault {
			var fault *faultvfs.Fault
			// The commit itself ends with the WAL's sync; the next operation
			// is the move's.
			r.redact(func() { fault = r.faults.Inject(rule) })
			if err := r.commit(r.name()); err != nil { // waits until the writer is done with it
				wantUnavailable(t, err)
			}
			r.faults.Heal()
			r.redact(func() {})
			r.mustCommit(1)
			return fault
		})
		r.cut()
	})
}

// TestFaultInLongWAL does the same to moves that come because the WAL is
// long.
func TestFaultInLongWAL(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for _, tc := range []variant{
		{name: "write", rule: faultvfs.Rule{Op: faultvfs.Write, Short: true, Times: 1, Nth: 3}},
		{name: "full", rule: faultvfs.Rule{Op: faultvfs.AnyChange, Grow: true, Err: faultvfs.ErrFull}},
		{name: "sync", rule: faultvfs.Rule{Op: faultvfs.Sync, Times: 1, Lose: true}},
		{name: "second sync", rule: faultvfs.Rule{Op: faultvfs.Sync, Times: 1, Lose: true, Nth: 2}},
		{name: "third sync", rule: faultvfs.Rule{Op: faultvfs.Sync, Times: 1, Lose: true, Nth: 3}},
		{name: "fifth sync", rule: faultvfs.Rule{Op: faultvfs.Sync, Times: 1, Lose: true, Nth: 5}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, seed)
			r.start()
			tc.rule.Kind = faultvfs.DB // which nothing but a move writes
			r.fillWAL(r.faults.Inject(tc.rule))
			r.faults.Heal()
			r.fillWAL(r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.DB, Times: 1, Do: func() {}}))
			r.mustCommit(3)
			r.cut()
		})
	}
}

// TestFaultAfterLostMove: what a failed sync has lost while the WAL was moved is moved
// again, also if the writer's connection fails next and nobody else has the WAL open:
// whoever closes it last must not take it away.
func TestFaultAfterLostMove(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for range soak.Count(2, 20) {
		r := newRig(t, seed)
		r.start()
		if err := sqlite.CloseIdleReaders(r.store); err != nil {
			t.Fatal(err)
		}
		lost := r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.DB, Times: 1, Lose: true})
		for lost.Hits() == 0 {
			r.n++
			if err := r.commit(fmt.Sprintf("%s%d", bigBatch, r.n)); err != nil {
				t.Fatalf("a commit failed: %v", err)
			}
		}
		// It may strike a move, which syncs the WAL as well.
		broken := r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.Side, Times: 1, Lose: true})
		for broken.Hits() == 0 {
			if err := r.commit(r.name()); err != nil {
				wantUnavailable(t, err)
			}
		}
		r.faults.Heal()
		r.mustCommit(1)
		r.cut()
	}
}

// TestFaultInWALSync fails a sync of the WAL, and loses, that no commit waits for. What commits have not synced themselves is in the WAL by
// then, and nothing may rely on a later sync of it.
func TestFaultInWALSync(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for i := range uint64(soak.Count(12, 120)) {
		r := newRig(t, seed+i)
		r.start()
		fault := r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1, Lose: true})
		if i%4 > 0 {
			// While what is in the WAL is moved.
			r.faults.Inject(faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.DB, Nth: rand.IntN(300), Times: 1, Do: r.disk.Cut})
		}
		r.fillWAL(fault)
		r.cut()
	}
}

// TestFaultInOpen fails each operation of opening in turn, when the store is
// made and when it is recovered after a crash. Opened again on a disk that is
// well, it works and has lost nothing.
func TestFaultInOpen(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	t.Run("made", func(t *testing.T) {
		t.Parallel()
		eachVariant(t, "make", func(t *testing.T, rule faultvfs.Rule) {
			sweep(t, rule, true, func(rule faultvfs.Rule) *faultvfs.Fault {
				return newRig(t, seed).failToOpen(rule)
			})
		})
	})
	t.Run("recovered", func(t *testing.T) {
		t.Parallel()
		book := newLedger()
		crashed := crashedStore(t, seed, book)
		eachVariant(t, "open", func(t *testing.T, rule faultvfs.Rule) {
			sweep(t, rule, true, func(rule faultvfs.Rule) *faultvfs.Fault {
				r := newRig(t, seed)
				r.book = book.clone()
				copyStore(t, crashed, filepath.Dir(r.path))
				return r.failToOpen(rule)
			})
		})
	})
}

func (r *rig) failToOpen(rule faultvfs.Rule) *faultvfs.Fault {
	r.t.Helper()
	fault := r.faults.Inject(rule)
	err := r.open()
	r.faults.Heal()
	if err != nil {
		wantUnavailable(r.t, err)
		if err := r.open(); err != nil {
			r.t.Errorf("open again on a disk that is well: %v", err)
			return fault
		}
	}
	if err := preparePool(r.t.Context(), r.store, r.book.add); err != nil {
		r.t.Errorf("commit after open: %v", err)
	}
	r.cut()
	return fault
}

// TestFaultInRead fails each operation of reads in turn.
func TestFaultInRead(t *testing.T) {
	t.Parallel()
	eachReadFault(t, (*rig).read)
}

// TestFaultInView lets a read of a view fail: the view is over then, also for who does not
// look at the error, and the next one is well.
func TestFaultInView(t *testing.T) {
	t.Parallel()
	eachReadFault(t, func(r *rig) error {
		return r.store.View(r.t.Context(), func(ctx context.Context) error {
			_, first := r.store.Session(ctx, parley.SeeAll(), poolSession(0))
			_, second := r.store.Participants(ctx, parley.SeeAll(), poolSession(1))
			if first != nil && second == nil {
				r.t.Errorf("the view goes on after %v", first)
			}
			return second
		})
	})
}

// eachReadFault lets read fail at each of its operations, and then succeed.
func eachReadFault(t *testing.T, read func(r *rig) error) {
	seed := soak.Seed(t)
	eachVariant(t, "read", func(t *testing.T, rule faultvfs.Rule) {
		r := newRig(t, seed)
		r.start()
		sweep(t, rule, true, func(rule faultvfs.Rule) *faultvfs.Fault {
			// So that there is something to read from the files.
			if err := r.store.Close(); err != nil {
				t.Error(err)
			}
			if err := r.open(); err != nil {
				t.Error(err)
			}
			fault := r.faults.Inject(rule)
			if err := read(r); err != nil {
				wantUnavailable(t, err)
			} else if fault.Hits() > 0 && rule.Op == faultvfs.Read {
				t.Error("a read failed, and nobody was told")
			}
			r.faults.Heal()
			if err := read(r); err != nil {
				t.Errorf("read on a disk that is well: %v", err)
			}
			return fault
		})
		r.cut()
	})
}

// TestFaultUnderLoad injects faults at random while several writers commit, each
// repeating what failed under the same name, as callers are told to.
func TestFaultUnderLoad(t *testing.T) {
	t.Parallel()
	runs := soak.Count(6, 60)
	crowds := wantCrowds(t, runs)
	for i := range runs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			seed := soak.Seed(t)
			r := newRig(t, seed)
			r.start()
			var mu sync.Mutex
			rnd := rand.New(rand.NewPCG(seed, 1))
			inject := func() {
				mu.Lock()
				defer mu.Unlock()
				if rnd.IntN(4) == 0 {
					rule := variants[rnd.IntN(len(variants))].rule
					rule.Nth, rule.Times = 1+rnd.IntN(30), 1+rnd.IntN(3)
					rule.Revert = false // after that callers are told something else
					r.faults.Inject(rule)
				}
			}
			writers := []int{4, 2 * leastCrowd}[i%2]
			var work sync.WaitGroup
			for w := range writers {
				work.Go(func() {
					for n := 1; n <= 160/writers; n++ {
						r.insist(fmt.Sprintf("2.%d.%d", w, n))
						inject()
					}
				})
			}
			work.Wait()
			r.faults.Heal()
			r.mustCommit(1)
			r.cut()
			crowds.add(r.book.inCrowd)
		})
	}
}

// insist commits a batch until the store acknowledges it.
func (r *rig) insist(name string) {
	for tries := 0; ; tries++ {
		res, err := r.store.Commit(r.t.Context(), batchOf(name))
		if err == nil {
			r.book.add(ack{Name: name, Sessions: res.Sessions, InCrowd: sqlite.InCrowd(r.store)})
			return
		}
		wantUnavailable(r.t, err)
		if tries == 200 {
			r.t.Errorf("%s, for the %dth time: %v", name, tries, err)
			return
		}
	}
}

// TestFaultMessage: who reads it has to know what to do.
func TestFaultMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, soak.Seed(t))
	r.start()
	r.faults.Inject(faultvfs.Rule{Op: faultvfs.Write, Err: faultvfs.ErrFull})
	err := r.commit(r.name())
	if err == nil || !strings.Contains(err.Error(), "full") || parley.CodeOf(err) != parley.CodeUnavailable {
		t.Errorf("a full disk gives: %v", err)
	}
	r.faults.Heal()
	r.cut()
}
