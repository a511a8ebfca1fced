package sqlite_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// TestOpen_NotWritable: what stands where a file of the store would be cannot be written by anybody, root included.
func TestOpen_NotWritable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.db")
	s := openStore(t, path)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+"-wal", 0o700); err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	_, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if parley.CodeOf(err) != parley.CodeUnavailable || !strings.Contains(err.Error(), path+"-wal cannot be written") || !strings.Contains(err.Error(), "chmod") {
		t.Errorf("got %v", err)
	}
	if after := names(t, dir); after != before {
		t.Errorf("there is %s, and there was %s", after, before)
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	openStore(t, path)
}

// TestOpen_ReadOnlyFile: a store that may only be read is refused, and opened again when that has been put right.
func TestOpen_ReadOnlyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.db")
	s := openStore(t, path)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	switch {
	case err == nil: // root may write it all the same
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	case parley.CodeOf(err) != parley.CodeUnavailable || !strings.Contains(err.Error(), path+" cannot be written"):
		t.Errorf("got %v", err)
	}
	if after := names(t, dir); after != before {
		t.Errorf("there is %s, and there was %s", after, before)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	openStore(t, path)
}

// names gives the names in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// TestPermissionMessages: who may not use a file is told which it is and what to do.
func TestPermissionMessages(t *testing.T) {
	t.Parallel()
	denied := &fs.PathError{Op: "open", Path: "/data/parley.db-shm", Err: syscall.EACCES}
	for _, tc := range []struct {
		name string
		err  error
		says []string
	}{
		{"a file", denied, []string{"/data/parley.db-shm: permission denied", "the user it belongs to"}},
		{"a folder that may only be read", sqlite3.READONLY, []string{"folder", "writable, also for who only reads", "index of its write-ahead log"}},
		{"a file that may not be made", sqlite3.CANTOPEN, []string{"folder", "writable, also for who only reads"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := sqlite.Translate("open store", tc.err)
			if parley.CodeOf(err) != parley.CodeUnavailable {
				t.Errorf("got %v", err)
			}
			for _, text := range tc.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
		})
	}
}
