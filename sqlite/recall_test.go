package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

// words reads the messages of a session as a turn does.
func words(ctx context.Context, t testing.TB, s parley.Store, id parley.SessionID) []parley.Event {
	t.Helper()
	events, err := s.Events(ctx, parley.SeeAll(), id, parley.EventQuery{Types: []parley.EventType{parley.EventMessage}, Limit: parley.MaxPageSize})
	if err != nil {
		t.Error(err)
	}
	for i, e := range events {
		if e.Session != id || i > 0 && e.Seq <= events[i-1].Seq {
			t.Errorf("event %d of %s comes as %d of %q", e.Seq, id, i, e.Session)
		}
	}
	return events
}

// more says something more in a session.
func more(id parley.SessionID, n int, text string) parley.Batch {
	b := said(id, text)
	b.Sessions[0].Create = nil
	b.Sessions[0].Events[0].Body.(*parley.Message).ID = fmt.Sprint("m", n) //nolint:forcetypeassert // said makes it
	return b
}

func redact(id parley.SessionID, seqs ...uint64) parley.Batch {
	return parley.Batch{At: instant, Sessions: []parley.SessionChange{{Session: id, Redact: seqs}}}
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

// TestRecall_Bounds: what is kept stays small.
func TestRecall_Bounds(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "parley.db"))
	long := strings.Repeat("word ", 100_000)
	sessions := 2*sqlite.MaxRecalled/len(long) + 1
	for i := range sessions {
		id := parley.SessionID(fmt.Sprint("cli:", i))
		commit(t, s, said(id, long))
		words(t.Context(), t, s, id)
		if runs, size := s.Recalled(); runs == 0 || size > sqlite.MaxRecalled {
			t.Fatalf("%d runs of %d bytes are kept", runs, size)
		}
	}
	runs, _ := s.Recalled()
	if runs < sessions/4 || runs >= sessions {
		t.Errorf("%d runs are kept of %d", runs, sessions)
	}
	for n := 2; n < 6; n++ { // longer than one may be
		commit(t, s, more("cli:0", n, long))
	}
	if got := words(t.Context(), t, s, "cli:0"); len(got) != 5 {
		t.Errorf("%d", len(got))
	}
	if after, _ := s.Recalled(); after != runs {
		t.Errorf("%d runs are kept, not %d", after, runs)
	}
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

func TestRecall_Overlap(t *testing.T) {
	t.Parallel()
	if got := sqlite.RecallOverlap(); !slices.Equal(got, []uint64{1, 3, 5}) {
		t.Errorf("%v", got)
	}
}

// TestRecall_Unknown: a redaction whose sync failed may come about later. Whatever becomes
// of it, nobody is given something else than what the file has.
func TestRecall_Unknown(t *testing.T) {
	t.Parallel()
	r := newRig(t, soak.Seed(t))
	if err := r.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.store.Close(); err != nil {
			t.Error(err)
		}
	})
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
	func() { // a reader that panics has its connection closed: who comes next reads the log anew
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
