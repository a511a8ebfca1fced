package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// TestAfterFailure_RedactedTextLeaves: what was redacted while somebody read, and still is in the WAL when a commit fails, leaves it when
// nobody writes any more: after a while, or when the store is closed.
func TestAfterFailure_RedactedTextLeaves(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("closed %t", closed), func(t *testing.T) {
			t.Parallel()
			seed := soak.Seed(t)
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, seed)
				r.start()
				release := sqlite.HoldReader(t.Context(), r.store)
				r.redact(func() {})
				r.faults.Inject(faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.WAL, Times: 1})
				wantUnavailable(t, r.commit(r.name()))
				dir := filepath.Dir(r.path)
				if names, _ := filesWith(t, dir, "a secret"); len(names) == 0 {
					t.Error("it has left already: this proves nothing")
				}
				release()
				if closed {
					if err := r.store.Close(); err != nil {
						t.Error(err)
					}
				} else {
					<-time.After(3 * sqlite.RetryPause)
					synctest.Wait()
				}
				if names, _ := filesWith(t, dir, "a secret"); len(names) > 0 {
					t.Errorf("the text is still in %v", names)
				}
				r.cut()
			})
		})
	}
}

// TestAfterFailure_Readers: a reader that stays does not keep the store from going on after a failure.
func TestAfterFailure_Readers(t *testing.T) {
	t.Parallel()
	r := newRig(t, soak.Seed(t))
	r.start()
	release := sqlite.HoldReader(t.Context(), r.store)
	r.loseSync()
	r.mustCommit(3)
	release()
	r.mustCommit(3)
	r.cut()
}

// TestAfterFailure_WithoutIntents: where only the intents cannot be written, commits go on without them, and are durable.
func TestAfterFailure_WithoutIntents(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]faultvfs.Rule{
		"nor emptied": {Op: faultvfs.Sync, Kind: faultvfs.Side},
		// It fails when SQLite has long been done.
		"but emptied": {Op: faultvfs.Write, Kind: faultvfs.Side, Err: faultvfs.ErrFull, Do: func() { <-time.After(time.Millisecond) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := soak.Seed(t)
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, seed)
				r.start()
				broken := r.faults.Inject(rule)
				failed := 0
				for range 200 {
					if err := r.commit(r.name()); err != nil {
						wantUnavailable(t, err)
						failed++
					}
					<-time.After(sqlite.RetryPause / 10) // they are tried again now and then
				}
				if failed > 1 || broken.Hits() < 10 {
					t.Errorf("%d of 200 commits failed, with %d failures of the disk", failed, broken.Hits())
				}
				r.faults.Heal()
				<-time.After(2 * sqlite.RetryPause)
				used := r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.Side, Do: func() {}})
				r.mustCommit(2)
				if used.Hits() == 0 {
					t.Error("the intents are not used again")
				}
				r.cut()
			})
		})
	}
}

// TestAfterFailure_Duplicates: who sends the same again is not told that it is there while it may not stay.
func TestAfterFailure_Duplicates(t *testing.T) {
	t.Parallel()
	const many = 12 // are a crowd, so that what comes next does not wait for the scribe
	seed := soak.Seed(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, seed)
		r.start()
		finish := make(chan struct{})
		r.faults.Inject(faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.Side, Times: 1, Do: func() { <-finish }})
		r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.Side, Times: 1})
		admit := func(i int) error {
			b := newcomer(i)
			b.MayWait = true // all are taken at once
			b.Sessions[0].Admit = []parley.Input{{
				Ref:  parley.InputRef{Origin: "web:me", ID: fmt.Sprint(i)},
				Kind: parley.InputMessage, Principal: loadPrincipal, State: parley.InputQueued,
				Parts: []parley.Part{parley.TextPart("hello")},
			}}
			_, err := r.store.Commit(t.Context(), b)
			return err
		}
		var work sync.WaitGroup
		errs := make([]error, many+1)
		for i := range many {
			work.Go(func() { errs[i] = admit(i) })
		}
		<-time.After(2 * sqlite.MaxWait)
		synctest.Wait()
		work.Go(func() { errs[many] = admit(0) })
		<-time.After(2 * sqlite.MaxWait)
		synctest.Wait()
		close(finish)
		work.Wait()
		for i, err := range errs {
			if !errors.Is(err, parley.ErrOutcomeUnknown) {
				t.Errorf("%d: %v", i, err)
			}
		}
		if err := r.store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAfterFailure_GivenUp: a batch that failed, and is written down all the same or stands in the WAL, is not there after others were
// committed later without intents, nor after somebody was refused because it was not there.
func TestAfterFailure_GivenUp(t *testing.T) {
	t.Parallel()
	say := func(id, text string) parley.Batch {
		return parley.Batch{At: instant, Sessions: []parley.SessionChange{{
			Session: "cli:a",
			Events:  []parley.NewEvent{{Body: &parley.Message{ID: id, Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(text)}}}},
		}}}
	}
	// abandon has a batch committed that fails.
	abandon := func(r *rig, text string) {
		if _, err := r.store.Commit(r.t.Context(), say("abandoned", text)); !errors.Is(err, parley.ErrOutcomeUnknown) {
			r.t.Errorf("it gives %v", err)
		}
	}
	writtenDown := func(r *rig) {
		release := sqlite.HoldWriter(r.store)
		var work sync.WaitGroup
		work.Go(func() { wantUnavailable(r.t, sqlite.FailTransaction(r.t.Context(), r.store)) })
		synctest.Wait()
		work.Go(func() { abandon(r, "abandoned") })
		synctest.Wait() // it is written down
		r.faults.Inject(faultvfs.Rule{Op: faultvfs.Truncate, Kind: faultvfs.Side})
		release()
		work.Wait()
	}
	inWAL := func(r *rig) {
		// Who has the WAL open keeps SQLite from looking anew for what is in it.
		if _, err := r.store.Session(r.t.Context(), parley.SeeAll(), "cli:a"); err != nil {
			r.t.Error(err)
		}
		r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1})
		abandon(r, strings.Repeat("abandoned ", 10_000)) // too large to be written down
	}
	later, refused := say("later", "later"), redact("cli:a", 2)
	for _, tc := range []struct {
		name  string
		fail  func(*rig)
		later parley.Batch
		code  parley.Code
		want  []string
	}{
		{"written down, committed", writtenDown, later, "", []string{"first", "later"}},
		{"written down, refused", writtenDown, refused, parley.CodeNotFound, []string{"first"}},
		{"in the WAL, committed", inWAL, later, "", []string{"first", "later"}},
		{"in the WAL, refused", inWAL, refused, parley.CodeNotFound, []string{"first"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			seed := soak.Seed(t)
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, seed)
				r.start()
				commit(t, r.store, said("cli:a", "first"))
				tc.fail(r)
				if _, err := r.store.Commit(t.Context(), tc.later); parley.CodeOf(err) != tc.code {
					t.Fatalf("what comes later gives %v, not %q", err, tc.code)
				}
				r.disk.Cut()
				_ = r.store.Close() // fails: the power is off
				dir := t.TempDir()
				if err := r.disk.Survive(dir); err != nil {
					t.Fatal(err)
				}
				left := openStore(t, filepath.Join(dir, filepath.Base(r.path)))
				if got := words(t.Context(), t, left, "cli:a"); len(got) != len(tc.want) || !strings.Contains(string(got[len(got)-1].Data), tc.want[len(got)-1]) {
					t.Errorf("there are %d events, not %q", len(got), tc.want)
				}
			})
		})
	}
}

// TestAfterFailure_OpenedAgain: a WAL whose last sync failed, which nobody knows who opens the store next, is not built upon before it was
// written anew, also if that fails at first.
func TestAfterFailure_OpenedAgain(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	sweep(t, faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.WAL, Times: 1}, true, func(rule faultvfs.Rule) *faultvfs.Fault {
		seed++
		r := newRig(t, seed)
		large := func() error {
			r.n++
			return r.commit(fmt.Sprintf("%s%d", bigBatch, r.n)) // without an intent
		}
		open := func() {
			if err := r.open(); err != nil {
				t.Fatal(err)
			}
		}
		r.start()
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		open()
		if err := large(); err != nil {
			t.Fatal(err)
		}
		r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1, Lose: true})
		wantUnavailable(t, large())
		r.faults.Inject(faultvfs.Rule{Op: faultvfs.Open}) // it cannot put things right
		_ = r.store.Close()                               // fails, as if the process were killed
		r.faults.Heal()
		fault := r.faults.Inject(rule)
		open()
		r.faults.Heal()
		if err := large(); err != nil {
			t.Errorf("the disk is well, but: %v", err)
		}
		r.cut()
		return fault
	})
}
