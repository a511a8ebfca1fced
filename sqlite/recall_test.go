package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// more says something more in a session.
func more(id parley.SessionID, n int, text string) parley.Batch {
	b := said(id, text)
	b.Sessions[0].Create = nil
	b.Sessions[0].Events[0].Body.(*parley.Message).ID = fmt.Sprint("m", n) //nolint:forcetypeassert // said makes it
	return b
}

func taken(e parley.Event) bool { return bytes.Equal(e.Data, parley.TombstoneData) }

// TestRecall: what is read again is kept, what is new is read, and who gets events may
// change the list.
func TestRecall(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	commit(t, s, said("cli:a", "one"))
	for n := 2; n < 6; n++ {
		commit(t, s, more("cli:a", n, "more"))
		got := words(t.Context(), t, s, "cli:a")
		if len(got) != n || got[n-1].Seq <= got[n-2].Seq {
			t.Fatalf("%d: %+v", n, got)
		}
		if runs, _ := s.Recalled(); runs != 1 {
			t.Errorf("%d runs are kept", runs)
		}
		clear(got)
	}
	fork := said("cli:b", "in the fork")
	fork.Sessions[0].Create.Fork = &parley.ForkPoint{Session: "cli:a", Seq: 3}
	commit(t, s, fork)
	for range 2 {
		if a, b := words(t.Context(), t, s, "cli:a"), words(t.Context(), t, s, "cli:b"); len(a) != 5 || len(b) != 4 || !strings.Contains(string(b[3].Data), "in the fork") {
			t.Errorf("%d and %d: %s", len(a), len(b), b[len(b)-1].Data)
		}
	}
}

// TestRecall_Redacted: what was taken away is read by nobody, also if somebody who began
// before that reads it meanwhile, in the session or in a fork of it.
func TestRecall_Redacted(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	commit(t, s, said("cli:a", "secret"))
	fork := said("cli:b", "in the fork")
	fork.Sessions[0].Create.Fork = &parley.ForkPoint{Session: "cli:a", Seq: 1}
	commit(t, s, fork)
	both := []parley.SessionID{"cli:a", "cli:b"}
	err := s.View(t.Context(), func(ctx context.Context) error {
		before := words(ctx, t, s, "cli:a")
		commit(t, s, redact("cli:a", 1))
		for range 2 {
			for _, id := range both {
				if got := words(ctx, t, s, id); !bytes.Equal(got[0].Data, before[0].Data) {
					t.Errorf("in the view, %s has changed: %s", id, got[0].Data)
				}
				if got := words(t.Context(), t, s, id); !taken(got[0]) {
					t.Errorf("beside the view, %s has it still: %s", id, got[0].Data)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range both {
		if got := words(t.Context(), t, s, id); !taken(got[0]) {
			t.Errorf("after the view, %s has it still: %s", id, got[0].Data)
		}
	}
	if runs, _ := s.Recalled(); runs == 0 {
		t.Error("nothing is kept any more")
	}
	commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{{Session: "cli:b", Delete: true}}})
	if runs, size := s.Recalled(); runs != 0 || size != 0 {
		t.Errorf("after a deletion %d runs of %d bytes are kept", runs, size)
	}
}

// TestRecall_Refused: a redaction that is refused leaves things as they are.
func TestRecall_Refused(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	commit(t, s, said("cli:a", "one"))
	if _, err := s.Commit(t.Context(), redact("cli:a", 1, 99)); err == nil {
		t.Fatal("an event that is not there was redacted")
	}
	for range 2 {
		if got := words(t.Context(), t, s, "cli:a"); taken(got[0]) {
			t.Error("it was taken away all the same")
		}
	}
	if runs, _ := s.Recalled(); runs != 1 {
		t.Errorf("%d runs are kept", runs)
	}
}

// TestRecall_Races: whoever reads meanwhile, what a redaction that has been answered took
// away is not read any more.
func TestRecall_Races(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	commit(t, s, said("cli:a", "one"))
	const rounds = 100
	ctx, cancel := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	var gone atomic.Uint64 // up to this seq all was redacted
	for range 3 {
		reading.Go(func() {
			for ctx.Err() == nil {
				upto := gone.Load()
				for _, e := range words(t.Context(), t, s, "cli:a") {
					if e.Seq <= upto && !taken(e) {
						t.Errorf("after %d was redacted, %d is still there", upto, e.Seq)
					}
				}
			}
		})
	}
	for n := 2; n <= rounds; n++ {
		commit(t, s, more("cli:a", n, "more"))
	}
	for seq := uint64(1); seq <= rounds; seq++ {
		commit(t, s, redact("cli:a", seq))
		gone.Store(seq)
	}
	for _, e := range words(t.Context(), t, s, "cli:a") {
		if !taken(e) {
			t.Errorf("%d is still there", e.Seq)
		}
	}
	cancel()
	reading.Wait()
}

// TestRecall_Bounds: what is kept stays small. A run that becomes too long is not kept in part.
func TestRecall_Bounds(t *testing.T) {
	t.Parallel()
	var r sqlite.Recall
	defer r.End()
	const size = 500_000
	many := int64(2 * sqlite.MaxRecalled / size)
	for log := range many {
		r.Keep(log, size, 1, 1, 1)
		if runs, bytes := r.Size(); runs == 0 || bytes > sqlite.MaxRecalled {
			t.Fatalf("%d runs of %d bytes are kept", runs, bytes)
		}
	}
	runs, _ := r.Size()
	if runs < int(many/4) || runs >= int(many) || len(r.Known(many-1)) != 1 || len(r.Known(0)) != 0 {
		t.Errorf("%d runs are kept of %d", runs, many)
	}
	var one sqlite.Recall
	defer one.End()
	last := uint64(sqlite.MaxRun/size) + 1
	for seq := uint64(1); seq <= last; seq++ {
		if got := one.Known(1); len(got) != int(seq)-1 {
			t.Errorf("%v is kept before %d", got, seq)
		}
		one.Keep(1, size, seq, seq, seq)
	}
	if runs, bytes := one.Size(); runs != 0 || bytes != 0 {
		t.Errorf("%d runs of %d bytes are kept", runs, bytes)
	}
}

// TestRecall_Unused: what nobody asks for is given up, and takes no timer any more.
func TestRecall_Unused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r sqlite.Recall
		r.Keep(1, 10, 1, 3, 1, 3)
		r.Keep(2, 10, 1, 1, 1)
		step := sqlite.KeptUnused * 2 / 3
		for range 3 {
			synctest.Wait()
			<-time.After(step)
			if got := r.Known(1); len(got) != 2 {
				t.Fatalf("of what is used %v is left", got)
			}
		}
		synctest.Wait()
		if runs, _ := r.Size(); runs != 1 {
			t.Errorf("%d runs are kept", runs)
		}
		<-time.After(sqlite.KeptUnused)
		synctest.Wait()
		if runs, bytes := r.Size(); runs != 0 || bytes != 0 {
			t.Errorf("%d runs of %d bytes are kept", runs, bytes)
		}
		r.Keep(3, 10, 1, 1, 1) // it goes on
		<-time.After(sqlite.KeptUnused)
		synctest.Wait()
		if runs, _ := r.Size(); runs != 0 {
			t.Errorf("%d runs are kept", runs)
		}
	})
}

// TestRecall_ReadOnly: beside another process nothing is kept, because nobody says when it
// takes something away.
func TestRecall_ReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	commit(t, s, said("cli:a", "one"))
	beside := openWith(t, path, sqlite.Config{ReadOnly: true})
	if got := words(t.Context(), t, beside, "cli:a"); len(got) != 1 || taken(got[0]) {
		t.Fatalf("%+v", got)
	}
	commit(t, s, redact("cli:a", 1))
	if got := words(t.Context(), t, beside, "cli:a"); !taken(got[0]) {
		t.Errorf("%s", got[0].Data)
	}
	if runs, _ := beside.Recalled(); runs != 0 {
		t.Errorf("%d runs are kept", runs)
	}
}

// TestRecall_Overlap: two who read at the same time keep what both have read.
func TestRecall_Overlap(t *testing.T) {
	t.Parallel()
	var r sqlite.Recall
	defer r.End()
	r.Keep(1, 1, 1, 3, 1, 3)
	r.Keep(1, 1, 2, 5, 3, 5)
	r.Keep(1, 1, 3, 3, 3)
	if got := r.Known(1); !slices.Equal(got, []uint64{1, 3, 5}) {
		t.Errorf("%v", got)
	}
}

// openRig gives a rig with its store open, until the test ends.
func openRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, soak.Seed(t))
	if err := r.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestRecall_Unknown: a redaction whose sync failed may come about later. Whatever becomes
// of it, nobody is given something else than what the file has.
func TestRecall_Unknown(t *testing.T) {
	t.Parallel()
	r := openRig(t)
	commit(t, r.store, said("cli:a", "secret"))
	asInFile := func(when string) {
		t.Helper()
		stored, err := r.store.Events(t.Context(), parley.SeeAll(), "cli:a", parley.EventQuery{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := words(t.Context(), t, r.store, "cli:a"); !bytes.Equal(got[0].Data, stored[0].Data) {
			t.Errorf("%s: %s, and in the file %s", when, got[0].Data, stored[0].Data)
		}
	}
	asInFile("before")
	r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1})
	if _, err := r.store.Commit(t.Context(), redact("cli:a", 1)); !errors.Is(err, parley.ErrOutcomeUnknown) {
		t.Fatalf("%v", err)
	}
	asInFile("after the failure")
	func() { // a reader that panics has its connection closed: who comes next reads the WAL anew
		defer func() { _ = recover() }()
		_ = r.store.View(t.Context(), func(ctx context.Context) error {
			words(ctx, t, r.store, "cli:a")
			panic("no")
		})
	}()
	asInFile("with another connection")
	if runs, _ := r.store.Recalled(); runs != 0 {
		t.Errorf("%d runs are kept while nobody knows", runs)
	}
	commit(t, r.store, more("cli:a", 2, "more"))
	asInFile("after the next commit")
	if runs, _ := r.store.Recalled(); runs != 1 {
		t.Errorf("%d runs are kept", runs)
	}
}

// TestRecall_Lost: a commit whose sync failed was seen by somebody, and is not there later. Nobody is
// given what it said, though another session has its number.
func TestRecall_Lost(t *testing.T) {
	t.Parallel()
	r := openRig(t)
	commit(t, r.store, said("cli:a", "one"))
	commit(t, r.store, said("cli:gone", "gone"))
	words(t.Context(), t, r.store, "cli:a")
	wal := r.path + "-wal"
	before, err := os.Stat(wal)
	if err != nil {
		t.Fatal(err)
	}
	r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1})
	lost := said("cli:lost", "lost")
	lost.Sessions = append(lost.Sessions, parley.SessionChange{Session: "cli:gone", Delete: true}) // so that the WAL is synced for it
	if _, err := r.store.Commit(t.Context(), lost); !errors.Is(err, parley.ErrOutcomeUnknown) {
		t.Fatalf("%v", err)
	}
	lookAnew := func() { // connections that are opened later read the WAL from its beginning
		t.Helper()
		if err := sqlite.CloseIdleReaders(r.store); err != nil {
			t.Fatal(err)
		}
	}
	lookAnew()
	if got := words(t.Context(), t, r.store, "cli:lost"); len(got) != 1 {
		t.Fatalf("what was not synced is not seen: %+v", got)
	}
	lookAnew()
	if err := os.Truncate(wal, before.Size()); err != nil { // as a system may that gives up pages
		t.Fatal(err)
	}
	commit(t, r.store, said("cli:other", "other"))
	if got := words(t.Context(), t, r.store, "cli:other"); len(got) != 1 || !strings.Contains(string(got[0].Data), "other") {
		t.Errorf("%+v", got)
	}
	if _, err := r.store.Session(t.Context(), parley.SeeAll(), "cli:lost"); !errors.Is(err, parley.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestRecall_Rebuilt: a session that is found to be shorter than it said has its next events read.
func TestRecall_Rebuilt(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	commit(t, s, said("cli:a", "one"))
	if err := sqlite.Damage(t.Context(), s, `UPDATE heads SET last_seq = 10`); err != nil {
		t.Fatal(err)
	}
	words(t.Context(), t, s, "cli:a")
	if err := s.Rebuild(t.Context(), "cli:a"); err != nil {
		t.Fatal(err)
	}
	commit(t, s, more("cli:a", 2, "two"))
	if got := words(t.Context(), t, s, "cli:a"); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}
