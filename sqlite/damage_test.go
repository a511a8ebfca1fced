package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// files are the files of a folder; nil is a folder in it.
type files map[string][]byte

func readFiles(t *testing.T, dir string) files {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := files{}
	for _, e := range entries {
		var data []byte
		if !e.IsDir() {
			if data, err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
			data = append([]byte{}, data...)
		}
		f[e.Name()] = data
	}
	return f
}

func (f files) write(t *testing.T, dir string) {
	t.Helper()
	for name, data := range f {
		path := filepath.Join(dir, name)
		var err error
		if data == nil {
			err = os.Mkdir(path, 0o700)
		} else {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// goodStore gives the files of a closed store with some content.
func goodStore(t *testing.T) files {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := runLoad(t.Context(), s, 0, 1, 8, func(ack) {}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f := readFiles(t, dir)
	delete(f, "store.db.lock")
	return f
}

// rawStore gives the files that statements leave in a database, or in the given
// one: as they are while it is open, if live is set, so that a part of it is in
// the write-ahead log; else closed.
func rawStore(t *testing.T, base files, live bool, sql ...string) files {
	t.Helper()
	dir := t.TempDir()
	base.write(t, dir)
	c, err := sqlite3.Open(filepath.Join(dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sql {
		if err := c.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	f := readFiles(t, dir)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if !live {
		f = readFiles(t, dir)
	}
	delete(f, "store.db-shm") // a crashed process leaves it, a copied store does not have it
	return f
}

func TestDamage(t *testing.T) {
	t.Parallel()
	good := goodStore(t)
	db := good["store.db"]
	const page = 4096
	if len(db) < 8*page || len(db)%page != 0 || len(good) != 1 {
		t.Fatalf("a closed store is %d bytes in %v", len(db), slices.Collect(maps.Keys(good)))
	}
	newer := fmt.Sprintf("PRAGMA user_version = %d", sqlite.NewestVersion()+1)
	foreign := []string{"CREATE TABLE recipes (id INTEGER PRIMARY KEY, name TEXT)", "INSERT INTO recipes VALUES (1, 'soup')"}
	noCheckpoint := "PRAGMA wal_autocheckpoint = 0"

	type damage struct {
		name  string
		files files
		words []string // each of them stands in the error
	}
	single := func(data []byte) files { return files{"store.db": data} }
	cases := []damage{
		{"text", single([]byte("Dear diary,\n" + strings.Repeat("today it rained. ", 1000))), []string{"not a store", "another path"}},
		{"picture", single(append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), db[:9000]...)), []string{"not a store", "another path"}},
		{"zeros", single(make([]byte, 3*page)), []string{"not a store", "another path"}},
		{"folder", files{"store.db": nil}, []string{"folder"}},
		{"another program's", rawStore(t, nil, false, foreign...), []string{"another program", "another path"}},
		{"another program's, versioned", rawStore(t, nil, false, append(foreign, "PRAGMA user_version = 3")...), []string{"another program", "another path"}},
		{"another program's, marked", rawStore(t, nil, false, append(foreign, "PRAGMA application_id = 1196437808")...), []string{"another program", "another path"}},
		{
			"another program's, in its WAL",
			rawStore(t, nil, true, append([]string{"PRAGMA journal_mode = WAL", noCheckpoint}, foreign...)...),
			[]string{"another program", "another path"},
		},
		{"newer", rawStore(t, good, false, newer), []string{"newer Parley", "use the newer"}},
		{"newer, in its WAL", rawStore(t, good, true, noCheckpoint, newer), []string{"newer Parley", "use the newer"}},
		{"far newer", rawStore(t, good, false, "PRAGMA user_version = 2147483647"), []string{"newer Parley", "use the newer"}},
	}
	for _, n := range []int{0, 1, 15, 16, 50, 99, 100, 512, page - 1, page, page + 1, len(db)/2 + 100, len(db) - 3*page, len(db) - page, len(db) - 1} {
		cases = append(cases, damage{fmt.Sprintf("truncated to %d of %d", n, len(db)), single(db[:n]), []string{"backup"}})
	}
	for _, tc := range cases {
		for _, readOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, read only %v", tc.name, readOnly), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				tc.files.write(t, dir)
				path := filepath.Join(dir, "store.db")
				s, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: readOnly})
				if err == nil {
					_ = s.Close()
					t.Fatal("it was opened")
				}
				if code := parley.CodeOf(err); code != parley.CodeInvalid {
					t.Errorf("code %s, want %s", code, parley.CodeInvalid)
				}
				for _, word := range append(tc.words, "store.db") {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("the error does not say %q: %v", word, err)
					}
				}
				compareFiles(t, tc.files, readFiles(t, dir))
				if readOnly {
					return
				}
				// Whoever puts a good file in its place can go on at once.
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				good.write(t, dir)
				if s, err = sqlite.Open(t.Context(), path, sqlite.Config{}); err != nil {
					t.Fatalf("with a good file in its place: %v", err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// compareFiles finds what an attempt to open left behind. The lock may be there,
// and so may an empty WAL, and its index, which holds nothing.
func compareFiles(t *testing.T, before, after files) {
	t.Helper()
	delete(after, "store.db.lock")
	if wal, is := after["store.db-wal"]; is {
		delete(after, "store.db-shm")
		if before["store.db-wal"] == nil && len(wal) == 0 {
			delete(after, "store.db-wal")
		}
	}
	if b, a := slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)); !slices.Equal(a, b) {
		t.Errorf("there were %q, there are %q", b, a)
	}
	for name, data := range before {
		if !bytes.Equal(data, after[name]) {
			t.Errorf("%s was changed: %d bytes, now %d", name, len(data), len(after[name]))
		}
	}
}

// TestDamageFoundAtOpen damages one page after another. Where a store cannot be opened for it, that is said, with what to do, and nothing is
// touched.
func TestDamageFoundAtOpen(t *testing.T) {
	t.Parallel()
	const page = 4096
	good := goodStore(t)
	live := rawStore(t, good, true, "PRAGMA wal_autocheckpoint = 0", "INSERT INTO meta (name, value) VALUES ('more', 1)")
	if len(live["store.db-wal"]) == 0 {
		t.Fatal("there is nothing in the WAL")
	}
	db := good["store.db"]
	found := map[string]int{}
	try := func(kind string, f files) {
		dir := t.TempDir()
		f.write(t, dir)
		path := filepath.Join(dir, "store.db")
		for _, readOnly := range []bool{true, false} {
			s, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: readOnly})
			if err == nil {
				_ = s.Close() // it may find the damage
				continue
			}
			found[kind]++
			if !errors.Is(err, parley.ErrInvalid) || !strings.Contains(err.Error(), "backup") {
				t.Errorf("%s, read only %t: %v", kind, readOnly, err)
			}
			compareFiles(t, f, readFiles(t, dir))
		}
	}
	for at := 0; at < len(db); at += page {
		harmed := slices.Clone(db)
		for i := range page {
			harmed[at+i] ^= byte(i*7 + 85)
		}
		try("a page", files{"store.db": harmed})
		try("truncated beside a WAL", files{"store.db": db[:at], "store.db-wal": live["store.db-wal"]})
	}
	t.Log(found)
	if found["a page"] == 0 || found["truncated beside a WAL"] == 0 {
		t.Errorf("found at opening: %v", found)
	}
}
