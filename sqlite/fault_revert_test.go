package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// reverted is a sync of the WAL that fails on a file system which then drops what was to be synced, so that the WAL is read as it was
// before.
var reverted = faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1, Lose: true, Revert: true}

// revertCases are the moments at which that happens.
var revertCases = []struct {
	name string
	fail func(r *rig) error // gives what a commit after it got
}{
	{"a large batch", func(r *rig) error { return r.commitUntil(r.faults.Inject(reverted), true) }},
	{"the mover", func(r *rig) error { return r.commitUntil(r.faults.Inject(reverted), false) }},
	{"the WAL is written anew", func(r *rig) error {
		r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.Side, Times: 1})
		return r.commitUntil(r.faults.Inject(reverted), false)
	}},
}

// TestFaultReverts has syncs that revert. What commits had put into the WAL is nowhere but in the intents. The store goes on only if
// the WAL still has all of it; else it refuses, says what to do, and that helps.
func TestFaultReverts(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for _, tc := range revertCases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			refusals := 0
			for i := range uint64(soak.Count(8, 80)) {
				r := newRig(t, seed+i)
				if i%2 == 1 {
					r.book.key = someKey(int(i))
					r.cfg.Key = r.book.key
				}
				r.start()
				reader := r.openReader()
				if tc.fail(r) != nil {
					refusals++
					r.wantRefusals()
					if i%4 < 2 { // else the power goes
						r.startAgain(reader)
					}
				}
				if err := reader.Close(); err != nil {
					t.Error(err)
				}
				r.cut()
			}
			t.Logf("%d refusals", refusals)
			if refusals == 0 {
				t.Error("nothing was lost: this proves nothing")
			}
		})
	}
}

// TestFaultReverts_Killed: the process dies before it can look at what such a sync has taken from the WAL. Another who reads keeps the index that
// knows the WAL as it was, and who opens the store next does not go by that.
func TestFaultReverts_Killed(t *testing.T) {
	t.Parallel()
	seed, lost := soak.Seed(t), 0
	for i := range uint64(soak.Count(15, 150)) {
		r := newRig(t, seed+i)
		r.start()
		r.startAlone()
		reader := r.openReader()
		r.mustCommit(10) // durable by their intents alone
		rule := reverted
		rule.Err = sqlite3.IOERR_FSYNC
		rule.Do = r.die
		r.faults.Inject(rule)
		r.n++
		wantUnavailable(t, r.commit(fmt.Sprintf("%s%d", bigBatch, r.n)))
		_ = r.store.Close()
		r.faults.Heal()
		if indexed, whole, err := sqlite.WALFrames(r.path); err != nil {
			t.Fatal(err)
		} else if whole < indexed {
			lost++
		}
		if err := r.open(); err != nil {
			t.Fatalf("nothing acknowledged is gone, but: %v", err)
		}
		r.mustCommit(3)
		if err := r.read(); err != nil {
			t.Error(err)
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
		r.cut()
	}
	t.Logf("%d WALs had lost something", lost)
	if lost == 0 {
		t.Error("nothing was lost: this proves nothing")
	}
}

// die has the store find and change nothing any more, as if the process were killed.
func (r *rig) die() {
	r.faults.Inject(faultvfs.Rule{Op: faultvfs.Read, Kind: faultvfs.WAL})
	r.faults.Inject(faultvfs.Rule{Op: faultvfs.AnyChange})
	r.faults.Inject(faultvfs.Rule{Op: faultvfs.Open})
}

// TestFaultReverts_ReadMeanwhile: what a commit has left in the WAL whose sync failed counts for who reads it next. Then another sync fails, and
// drops it.
func TestFaultReverts_ReadMeanwhile(t *testing.T) {
	t.Parallel()
	seed, refusals := soak.Seed(t), 0
	for i := range uint64(soak.Count(15, 150)) {
		r := newRig(t, seed+i)
		r.start()
		r.startAlone()
		large := func() error {
			r.n++
			return r.commit(fmt.Sprintf("%s%d", bigBatch, r.n)) // without an intent
		}
		if err := large(); err != nil {
			t.Fatal(err)
		}
		rule := reverted
		rule.Revert = false
		r.faults.Inject(rule)
		wantUnavailable(t, large())
		reader := r.openReader()
		r.faults.Inject(reverted)
		wantUnavailable(t, large())
		r.faults.Heal()
		if large() != nil {
			refusals++
			r.wantRefusals()
			wantUnavailable(t, r.store.Close())
			if err := r.open(); err != nil {
				t.Fatal(err)
			}
			r.mustCommit(3)
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
		r.cut()
	}
	t.Logf("%d refusals", refusals)
}

// TestFaultReverts_ReadAtOnce: somebody reads all the time. From the moment such a sync fails nobody is given what the WAL has in its place, which
// may be frames of an earlier use of it.
func TestFaultReverts_ReadAtOnce(t *testing.T) { //nolint:tparallel // one after the other: each has a disk of a hundred megabytes
	t.Parallel()
	seed, refusals := soak.Seed(t), 0
	for i := range uint64(soak.Count(6, 60)) {
		t.Run(fmt.Sprint(i), func(t *testing.T) { // which lets go of its disk when it ends
			r := newRig(t, seed+i)
			r.start()
			moved := r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.DB, Do: func() {}})
			r.fillWAL(moved) // so that it starts over
			fault := r.faults.Inject(reverted)
			over := make(chan struct{})
			var work sync.WaitGroup
			for range 2 {
				work.Go(func() {
					for {
						if _, _, err := readLog(t.Context(), r.store); err != nil && !errors.Is(err, parley.ErrUnavailable) {
							t.Errorf("seed %d: %v", seed+i, err)
							return
						}
						select {
						case <-over:
							return
						default:
						}
					}
				})
			}
			func() {
				defer work.Wait()
				defer close(over)
				if r.commitUntil(fault, false) != nil {
					refusals++
				}
			}()
			r.cut()
		})
	}
	t.Logf("%d refusals", refusals)
	if refusals == 0 {
		t.Error("nothing was lost: this proves nothing")
	}
}

// TestFaultReverts_Closed: such a sync fails while the store is being closed, so that nobody commits any more. Closing says so, and leaves what
// the next start needs.
func TestFaultReverts_Closed(t *testing.T) { //nolint:tparallel // one after the other: each has a disk of a hundred megabytes
	t.Parallel()
	seed, allLost := soak.Seed(t), 0
	for i := range uint64(soak.Count(12, 120)) {
		t.Run(fmt.Sprint(i), func(t *testing.T) { // which lets go of its disk when it ends
			r := newRig(t, seed+i)
			r.start()
			r.startAlone()
			n := 0
			commitSmall := func() {
				n++
				commit(t, r.store, smallBatch(n))
			}
			commitSmall()
			started, goOn := make(chan struct{}), make(chan struct{})
			rule := reverted
			rule.Err = sqlite3.IOERR_FSYNC
			rule.Do = func() { close(started); <-goOn }
			r.faults.Inject(rule)
			for isAtIt := false; !isAtIt; {
				commitSmall()
				select {
				case <-started:
					isAtIt = true
				default:
				}
			}
			closed := make(chan error, 1)
			go func() { closed <- r.store.Close() }()
			for !sqlite.IsClosing(r.store) {
				runtime.Gosched()
			}
			close(goOn)
			closeErr := <-closed
			r.faults.Heal()
			_, whole, err := sqlite.WALFrames(r.path)
			switch {
			case err == nil && whole == 0:
				allLost++
				fallthrough
			case closeErr != nil:
				wantUnavailable(t, closeErr)
			case !errors.Is(err, fs.ErrNotExist):
				t.Errorf("seed %d: it is closed in good order, and %d frames are left, %v", seed+i, whole, err)
			}
			if err := r.open(); err != nil {
				t.Fatalf("seed %d: nothing acknowledged is gone, but: %v", seed+i, err)
			}
			for id := 1; id <= n; id++ {
				if _, err := r.store.Session(t.Context(), parley.SeeAll(), smallSession(id)); err != nil {
					t.Fatalf("seed %d: of %d acknowledged sessions: %v", seed+i, n, err)
				}
			}
			r.mustCommit(3)
			r.cut()
		})
	}
	t.Logf("%d WALs had lost everything", allLost)
	if allLost == 0 {
		t.Error("no WAL has lost everything: this proves nothing")
	}
}

// TestFaultReverts_InGroup: such a sync fails while the writer is in the middle of a group whose commit syncs nothing. What that has met may have
// been nonsense, so nobody is told that it succeeded.
func TestFaultReverts_InGroup(t *testing.T) { //nolint:tparallel // one after the other: each has a disk of a hundred megabytes
	t.Parallel()
	seed, losses := soak.Seed(t), 0
	for i := range uint64(soak.Count(8, 80)) {
		t.Run(fmt.Sprint(i), func(t *testing.T) { // which lets go of its disk when it ends
			r := newRig(t, seed+i)
			r.start()
			r.startAlone()
			small := func(n int) error {
				_, err := r.store.Commit(t.Context(), smallBatch(n))
				return err
			}
			if err := small(0); err != nil {
				t.Fatal(err)
			}
			var held atomic.Bool
			lost, answer := make(chan bool, 1), make(chan error, 1)
			rule, last := reverted, 1_000_000
			rule.Err = sqlite3.IOERR_FSYNC
			rule.Do = func() {
				release := sqlite.HoldRecorded(r.store)
				held.Store(true)
				go func() {
					lost <- sqlite.AwaitFailedSync(r.store)
					go func() { answer <- small(last) }()
					for !sqlite.IsTaken(r.store, smallSession(last)) {
						runtime.Gosched()
					}
					release()
				}()
			}
			r.faults.Inject(rule)
			for n := 1; !held.Load(); n++ {
				if err := small(n); err != nil && !held.Load() {
					t.Fatal(err)
				}
			}
			if err := <-answer; <-lost {
				losses++
				wantUnavailable(t, err)
			}
			r.cut()
		})
	}
	t.Logf("%d losses", losses)
	if losses == 0 {
		t.Error("nothing was lost: this proves nothing")
	}
}

// smallBatch makes a session of a number that is no part of the load. It has an intent, so the mover alone syncs the WAL for it, but for the header.
func smallBatch(n int) parley.Batch {
	b := newcomer(n)
	b.Sessions[0].Session = smallSession(n)
	b.Sessions[0].Create.Metadata = map[string]string{"padding": strings.Repeat("x", 10_000)}
	return b
}

func smallSession(n int) parley.SessionID {
	return parley.SessionID(fmt.Sprintf("%s:small-%d", redacted, n))
}

// startAlone opens the store anew, so that nobody has read from it, and what follows is no crowd.
func (r *rig) startAlone() {
	r.t.Helper()
	if err := r.store.Close(); err != nil {
		r.t.Fatal(err)
	}
	if err := r.open(); err != nil {
		r.t.Fatal(err)
	}
}

// wantRefusals wants a store that has lost something of its WAL to say so, whatever is asked.
func (r *rig) wantRefusals() {
	r.t.Helper()
	ctx := r.t.Context()
	errOfCaller := errors.New("what was read is nonsense")
	for what, err := range map[string]error{
		"commit": r.commit(r.name()),
		"read":   r.read(),
		"view": r.store.View(ctx, func(ctx context.Context) error {
			if _, err := r.store.Session(ctx, parley.SeeAll(), poolSession(0)); err != nil {
				return err
			}
			return errOfCaller
		}),
		"copy": r.store.CopyTo(ctx, r.path+".copy", nil, nil),
	} {
		wantUnavailable(r.t, err)
		if err == nil || !strings.Contains(err.Error(), "stopped and started again") {
			r.t.Errorf("a %s does not say what to do: %v", what, err)
		}
	}
}

// openReader opens the store as another who reads it, and has read something.
func (r *rig) openReader() *sqlite.Store {
	r.t.Helper()
	cfg := r.cfg
	cfg.ReadOnly = true
	reader, err := sqlite.Open(r.t.Context(), r.path, cfg)
	if err == nil {
		_, err = reader.Session(r.t.Context(), parley.SeeAll(), poolSession(0))
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return reader
}

// startAgain does what the store has asked for, while somebody still reads who knows the WAL as it was.
func (r *rig) startAgain(reader *sqlite.Store) {
	r.t.Helper()
	wantUnavailable(r.t, r.store.Close())
	if err := r.open(); err != nil {
		r.t.Fatalf("start again: %v", err)
	}
	r.mustCommit(3)
	if _, err := reader.Session(r.t.Context(), parley.SeeAll(), poolSession(0)); err != nil {
		r.t.Errorf("who has read all the time: %v", err)
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
			r.t.Fatal("the WAL was not synced")
		}
	}
	return err
}
