package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// schema gives the definitions in a store's file, and its version.
func schema(t *testing.T, path string) (definitions []string, version int) {
	t.Helper()
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	read := func(sql string, f func(*sqlite3.Stmt)) {
		s, _, err := c.Prepare(sql)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for s.Step() {
			f(s)
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
	read(`SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name`, func(s *sqlite3.Stmt) {
		definitions = append(definitions, s.ColumnText(0))
	})
	read(`PRAGMA user_version`, func(s *sqlite3.Stmt) { version = s.ColumnInt(0) })
	return definitions, version
}

// migrateTo moves a store at rest.
func migrateTo(t testing.TB, path string, versions ...int) {
	t.Helper()
	if err := sqlite.MigrateTo(t.Context(), path, sqlite.Config{}, versions...); err != nil {
		t.Fatal(err)
	}
}

// TestMigrations_Schema looks at what the suite cannot see: the schema on the way back and up again, and the copy that is kept.
func TestMigrations_Schema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.db")
	first := openStore(t, path)
	commit(t, first, said("cli:a", "hello"))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	want, newest := schema(t, path)
	if newest != sqlite.NewestVersion() || newest < 2 {
		t.Fatalf("version %d; want %d", newest, sqlite.NewestVersion())
	}
	for down := newest - 1; down >= 1; down-- {
		migrateTo(t, path, down)
		if _, version := schema(t, path); version != down {
			t.Fatalf("down to %d: version %d", down, version)
		}
		var notices []string
		s := openWith(t, path, sqlite.Config{TellFunc: func(n string) { notices = append(notices, n) }})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if definitions, version := schema(t, path); version != newest || cmp.Diff(want, definitions) != "" {
			t.Fatalf("up from %d: version %d, schema differs:\n%s", down, version, cmp.Diff(want, definitions))
		}
		checkKeptCopy(t, dir, notices, down)
	}
}

// checkKeptCopy looks at the copy an upgrade kept: it is announced with the way
// back, and it is the store as it was.
func checkKeptCopy(t *testing.T, dir string, notices []string, version int) {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(dir, "parley.db.format*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept copies: %v, %v", kept, err)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], kept[0]) || !strings.Contains(notices[0], "to go back") {
		t.Fatalf("notices: %q", notices)
	}
	if _, got := schema(t, kept[0]); got != version {
		t.Fatalf("the copy has version %d; want %d", got, version)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
}

// everything reads what a store has of events, inputs and turns.
func everything(t *testing.T, s parley.Store, refs []parley.InputRef) (all []any) {
	t.Helper()
	note := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	events, _, err := s.Log(t.Context(), parley.SeeAll(), 0, 1000)
	note(events, err)
	for _, ref := range refs {
		in, err := s.Input(t.Context(), parley.SeeAll(), ref)
		note(in, err)
	}
	inputs, err := s.OpenInputs(t.Context(), parley.SeeAll(), "", parley.InputRef{}, 100)
	note(inputs, err)
	turns, err := s.OpenTurns(t.Context(), parley.SeeAll(), "")
	note(turns, err)
	for _, id := range []parley.SessionID{"cli:a", "cli:b"} {
		log, err := s.Events(t.Context(), parley.SeeAll(), id, parley.EventQuery{})
		note(log, err)
		turn, err := s.Turn(t.Context(), parley.SeeAll(), id, "t1")
		note(turn, err)
	}
	return all
}

// TestMigrationKeepsRows: events, inputs and turns are the same after their tables were made
// anew, and can be written to.
func TestMigrationKeepsRows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	var refs []parley.InputRef
	commits := 0
	at := func() time.Time { // another each time
		commits++
		return instant.Add(time.Duration(commits) * time.Minute)
	}
	admit := func(s parley.Store, id parley.SessionID, name string) {
		ref := parley.InputRef{Origin: "cli/" + string(id), ID: name}
		refs = append(refs, ref)
		commit(t, s, parley.Batch{At: at(), Sessions: []parley.SessionChange{{Session: id, Admit: []parley.Input{{
			Ref: ref, Kind: parley.InputMessage, State: parley.InputQueued, Parts: []parley.Part{parley.TextPart(name + " for " + string(id))},
			Principal: parley.Principal{Identity: "cli:me", User: "ada", Role: parley.RoleUser, Via: "cli"},
			Busy:      parley.BusyCollect, Decision: "because of " + name, NotBefore: at(),
		}}}}})
	}
	turn := func(s parley.Store, id parley.SessionID, ref parley.InputRef, changes ...parley.TurnChange) {
		for _, c := range changes {
			change := parley.SessionChange{Session: id, Turns: []parley.TurnChange{c}}
			if c.Start {
				change.Inputs = []parley.InputChange{{Ref: ref, State: parley.InputRunning, Turn: "t1"}}
				change.Events = []parley.NewEvent{{Turn: "t1", Body: &parley.Message{
					ID: "shown", Role: parley.MessageUser, Inputs: []parley.InputRef{ref}, Parts: []parley.Part{parley.TextPart("shown")},
				}}}
			}
			commit(t, s, parley.Batch{At: at(), Sessions: []parley.SessionChange{change}})
		}
	}
	for _, id := range []parley.SessionID{"cli:a", "cli:b", "cli:gone"} {
		commit(t, s, said(id, "hello"))
	}
	for _, name := range []string{"2", "10", "1"} {
		for _, id := range []parley.SessionID{"cli:gone", "cli:b", "cli:a"} {
			admit(s, id, name)
		}
	}
	done, parked, reason, attempt, until := parley.TurnDone, parley.TurnParked, parley.StopDone, 2, at()
	prompt := parley.PromptRef{ID: "default", Version: 3}
	turn(s, "cli:b", refs[1], parley.TurnChange{ID: "t1", Start: true, Prompt: &prompt},
		parley.TurnChange{ID: "t1", State: &done, StopReason: &reason, Usage: &parley.Usage{InputTokens: 3}})
	turn(s, "cli:a", refs[2], parley.TurnChange{ID: "t1", Start: true, Opaque: []byte("state"), Attempt: &attempt},
		parley.TurnChange{ID: "t1", Cancel: true, State: &parked, ParkedUntil: &until})
	commit(t, s, parley.Batch{At: at(), Sessions: []parley.SessionChange{{Session: "cli:a", Redact: []uint64{3}}}})
	commit(t, s, parley.Batch{At: at(), Sessions: []parley.SessionChange{{Session: "cli:gone", Delete: true}}})
	want := everything(t, s, refs)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	migrateTo(t, path, 11)
	s = openStore(t, path)
	if diff := cmp.Diff(want, everything(t, s, refs)); diff != "" {
		t.Errorf("the store is another:\n%s", diff)
	}
	report := func(p parley.Problem) { t.Errorf("%+v", p) }
	if err := s.Check(t.Context(), report); err != nil {
		t.Error(err)
	}
	admit(s, "cli:b", "3")
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all := everything(t, s, refs); len(all) != len(want)+1 || head.Pos != 15 {
		t.Errorf("%d things and position %d after one more input", len(all), head.Pos)
	}
	if _, err := s.Commit(t.Context(), parley.Batch{At: instant, Sessions: []parley.SessionChange{{
		Session: "cli:b", Turns: []parley.TurnChange{{ID: "t1", Start: true}},
	}}}); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("a second turn of the same name gives %v", err)
	}
}

// TestUpgradeThatFails leaves the store as it was, and no copy of it: who tries again and again must not fill the disk.
func TestUpgradeThatFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.db")
	if err := openStore(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	migrateTo(t, path, sqlite.NewestVersion()-1)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var said []string
	_, err = sqlite.Open(ctx, path, sqlite.Config{TellFunc: func(s string) { // when the copy is there
		cancel()
		said = append(said, s)
	}})
	if err == nil || ctx.Err() == nil {
		t.Fatalf("it was upgraded, %v", err)
	}
	if len(said) != 2 || !strings.Contains(said[0], "is kept in") || !strings.Contains(said[1], "copy of it was removed") {
		t.Errorf("it says %q", said)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the store is not as it was, %v", err)
	}
	if kept, err := filepath.Glob(path + ".format*"); err != nil || len(kept) > 0 {
		t.Errorf("%v is left, %v", kept, err)
	}
}
