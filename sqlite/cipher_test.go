package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// testKey is the key of encrypted stores in tests.
var testKey = bytes.Repeat([]byte{7}, sqlite.KeyBytes)

// someKey gives every third store a key.
func someKey(i int) []byte {
	if i%3 == 0 {
		return testKey
	}
	return nil
}

// filesWith gives the names of the files in dir that have text in them, and how
// many bytes there are in all.
func filesWith(t testing.TB, dir, text string) (names []string, size int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		size += len(data)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, e.Name())
		}
	}
	return names, size
}

func TestEncryptedFilesTellNothing(t *testing.T) {
	t.Parallel()
	for _, key := range [][]byte{testKey, nil} {
		dir := t.TempDir()
		s := openWith(t, filepath.Join(dir, "parley.db"), sqlite.Config{Key: key})
		const text = "a text that nobody else may read"
		commit(t, s, said("cli:a", strings.Repeat(text, 300)))
		look := func(when string) {
			t.Helper()
			for _, part := range []string{text, "SQLite format 3", "cli:a", "session:message", "CREATE TABLE"} {
				names, size := filesWith(t, dir, part)
				if len(names) > 0 && key != nil {
					t.Errorf("%s: %q is in %v", when, part, names)
				}
				// The same search must find it in a store that is not encrypted.
				if len(names) == 0 && key == nil {
					t.Errorf("%s: %q is nowhere, so this search proves nothing", when, part)
				}
				if size < len(text)*300 {
					t.Errorf("%s: only %d bytes were searched", when, size)
				}
			}
		}
		look("while it is open")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		look("after it was closed")
	}
}

func TestWrongKeyChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sealed, plain := filepath.Join(dir, "sealed.db"), filepath.Join(dir, "plain.db")
	for path, key := range map[string][]byte{sealed: testKey, plain: nil} {
		s := openWith(t, path, sqlite.Config{Key: key})
		commit(t, s, said("cli:a", "hello"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	other := bytes.Repeat([]byte{8}, sqlite.KeyBytes)
	for _, test := range []struct {
		name, path string
		key        []byte
		want       string
	}{
		{"wrong key", sealed, other, "does not fit"},
		{"no key", sealed, nil, "without its key"},
		{"short key", sealed, testKey[:16], "32 bytes"},
		{"key for nothing", plain, testKey, "not encrypted"},
	} {
		for _, readOnly := range []bool{false, true} {
			before, err := os.ReadFile(test.path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = sqlite.Open(t.Context(), test.path, sqlite.Config{Key: test.key, ReadOnly: readOnly})
			if parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q in it", test.name, err, test.want)
			}
			if after, err := os.ReadFile(test.path); err != nil || !bytes.Equal(after, before) {
				t.Errorf("%s: the file was changed, %v", test.name, err)
			}
		}
	}
	for path, want := range map[string]bool{sealed: true, plain: false, filepath.Join(dir, "missing"): false} {
		if got, err := sqlite.Encrypted(path); err != nil || got != want {
			t.Errorf("Encrypted(%s) = %v, %v", filepath.Base(path), got, err)
		}
	}
}

func TestDamageToAnEncryptedFileIsNoticed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s := openWith(t, path, sqlite.Config{Key: testKey})
	fill(t, s, 20, 400)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := 1; page < len(data)/4096; page += 7 {
		data[page*4096+100] ^= 1
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = openWith(t, path, sqlite.Config{Key: testKey, ReadOnly: true})
	found := 0
	if err := s.Check(t.Context(), func(parley.Problem) { found++ }); err == nil && found == 0 {
		t.Error("a bit was changed in many pages, and nothing noticed")
	}
}

// TestTornFirstPage opens an encrypted store whose first page was half written
// when the power went, in a move: the WAL still has it.
func TestTornFirstPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.db")
	s := openWith(t, path, sqlite.Config{Key: testKey})
	// New tables of the schema change the first page; so does a larger file.
	fill(t, s, 20, 400)
	torn := filepath.Join(t.TempDir(), "parley.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if suffix == "" {
			copy(data[:2048], bytes.Repeat([]byte{1}, 2048))
		}
		if err := os.WriteFile(torn+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sqlite.Open(t.Context(), torn, sqlite.Config{Key: bytes.Repeat([]byte{8}, sqlite.KeyBytes)}); parley.CodeOf(err) != parley.CodeInvalid {
		t.Errorf("with another key: %v", err)
	}
	again := openWith(t, torn, sqlite.Config{Key: testKey})
	problems := 0
	if err := again.Check(t.Context(), func(p parley.Problem) { problems++; t.Log(p) }); err != nil || problems > 0 {
		t.Errorf("%d problems, %v", problems, err)
	}
	want, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Head(t.Context()); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
