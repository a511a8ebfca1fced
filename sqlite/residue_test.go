package sqlite_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// residue are the texts said in each session.
type residue map[parley.SessionID][]string

// fill stores messages of many sessions in random order and of random length: their previews grow
// and shrink between those of others, so that pages are divided and leave parts of themselves behind.
func fill(t *testing.T, s *sqlite.Store, sessions, messages int) residue {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	said, create := residue{}, said("cli:x", "").Sessions[0].Create
	for m := range messages {
		id := parley.SessionID(fmt.Sprintf("cli:s%d", r.IntN(sessions)))
		text := fmt.Sprintf("<<secret %d>>", m)
		c := parley.SessionChange{Session: id, Events: []parley.Draft{{Body: &parley.Message{
			ID: "m", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(text + strings.Repeat("x", r.IntN(600)))},
		}}}}
		if len(said[id]) == 0 {
			c.Create = create
		}
		said[id] = append(said[id], text)
		commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{c}})
	}
	return said
}

func TestRedactedTextIsInNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "parley.db"))
	said := fill(t, s, 60, 3000)
	var gone, kept []string
	for n, id := range slices.Sorted(maps.Keys(said)) {
		c := parley.SessionChange{Session: id}
		switch n % 3 {
		case 0:
			kept = append(kept, said[id]...)
			continue
		case 1:
			c.Delete = true
		default:
			for seq := range said[id] {
				c.Redact = append(c.Redact, uint64(seq)+1)
			}
		}
		gone = append(gone, said[id]...)
		commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{c}})
	}
	// The write-ahead log is emptied after the answer, and before the next group.
	commit(t, s, parley.Batch{At: instant})
	if left := inFiles(t, dir, gone); len(left) > 0 {
		t.Errorf("%d of %d texts are left, such as %s", len(left), len(gone), left[0])
	}
	if left := inFiles(t, dir, kept); len(left) != len(kept) {
		t.Errorf("%d of %d texts that nobody redacted are there", len(left), len(kept))
	}
}

// inFiles gives those of the texts that a file of the folder holds.
func inFiles(t *testing.T, dir string, texts []string) (found []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	for _, text := range texts {
		if bytes.Contains(all, []byte(text)) {
			found = append(found, text)
		}
	}
	return found
}

func TestLongReaderDoesNotHoldCommitsUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "parley.db"))
	commit(t, s, said("cli:a", "<<secret>>"))
	release := sqlite.HoldReader(t.Context(), s)
	commit(t, s, parley.Batch{At: instant, Sessions: []parley.SessionChange{{Session: "cli:a", Redact: []uint64{1}}}})
	// Each would wait for the reader, and there are more of them than the
	// test's time would allow.
	for n := range 200 {
		commit(t, s, said(parley.SessionID(fmt.Sprintf("cli:b%d", n)), "hello"))
	}
	release()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := inFiles(t, dir, []string{"<<secret>>"}); len(left) > 0 {
		t.Fatal("the text is still there")
	}
}

func TestSymbolicLinkIsTheSameStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openStore(t, filepath.Join(dir, "parley.db"))
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(filepath.Join(dir, "parley.db"), link); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), link, sqlite.Config{}); parley.CodeOf(err) != parley.CodeUnavailable {
		t.Fatalf("got %v; want unavailable", err)
	}
}
