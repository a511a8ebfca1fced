package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

func TestSymbolicLinkIsTheSameStore(t *testing.T) {
	t.Parallel()
	for _, made := range []bool{false, true} { // by the link, or by its own name
		dir, linkDir := t.TempDir(), t.TempDir()
		path, link := filepath.Join(dir, "parley.db"), filepath.Join(linkDir, "link.db")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		first, second := path, link
		if made {
			first, second = link, path
		}
		openStore(t, first)
		if _, err := sqlite.Open(t.Context(), second, sqlite.Config{}); parley.CodeOf(err) != parley.CodeUnavailable {
			t.Fatalf("made as %s: got %v; want unavailable", first, err)
		}
		if beside, err := filepath.Glob(filepath.Join(linkDir, "*")); err != nil || len(beside) != 1 {
			t.Errorf("beside the link there is %v, %v", beside, err)
		}
	}
}

// TestRelativeLinkOfALinkedFolder: what a link says of its place is meant from where it lies, not from where its folder was found.
func TestRelativeLinkOfALinkedFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, made := range []string{"opt/v1/data", "opt/v1/shared", "srv/shared"} {
		if err := os.MkdirAll(filepath.Join(dir, made), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"srv/data": dir + "/opt/v1/data", "opt/v1/data/parley.db": "../shared/parley.db"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	openStore(t, dir+"/srv/data/parley.db")
	if _, err := os.Stat(dir + "/opt/v1/shared/parley.db"); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(dir + "/srv/shared/*"); err != nil || len(left) > 0 {
		t.Errorf("made where the link does not lead: %v, %v", left, err)
	}
}

func TestLinksWithoutEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for link, to := range map[string]string{"a": "b", "b": "a"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sqlite.Open(t.Context(), filepath.Join(dir, "a"), sqlite.Config{}); !errors.Is(err, parley.ErrInvalid) || !strings.Contains(err.Error(), "too many links") {
		t.Errorf("got %v", err)
	}
}

// TestHardLinkIsRefused: what lies beside one name of a store is not seen by who opens it by another.
func TestHardLinkIsRefused(t *testing.T) {
	t.Parallel()
	path, other := filepath.Join(t.TempDir(), "parley.db"), filepath.Join(t.TempDir(), "parley.db")
	s := openStore(t, path)
	commit(t, s, said("cli:a", "hello"))
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{false, true} {
		_, err := sqlite.Open(t.Context(), other, sqlite.Config{ReadOnly: readOnly})
		if !errors.Is(err, parley.ErrInvalid) || !strings.Contains(err.Error(), "remove one of the names") {
			t.Errorf("read only %t: got %v", readOnly, err)
		}
	}
	if beside, err := filepath.Glob(other + "?*"); err != nil || len(beside) > 0 {
		t.Errorf("beside the other name there is %v, %v", beside, err)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openStore(t, path)
}
