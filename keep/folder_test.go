package keep_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/keep"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/sqlite"
)

// plainText is in every message and every blob of a furnished folder.
const plainText = "what only they may read"

// folderIn gives the data folder dir, whose keys are in the file.
func folderIn(dir, keyFile string) keep.Folder {
	return keep.Folder{
		Dir: dir, Name: "parley.db",
		OpenFunc: func(ctx context.Context, path string, key []byte, readOnly bool) (keep.Database, error) {
			return sqlite.Open(ctx, path, sqlite.Config{Key: key, ReadOnly: readOnly})
		},
		EncryptedFunc: sqlite.Encrypted,
		KeysFunc:      func(string) (keep.Keys, error) { return secret.KeyFile(keyFile), nil },
	}
}

// furnish makes a data folder with sessions and media.
func furnish(t *testing.T) keep.Folder {
	t.Helper()
	f := folderIn(filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "parley.key"))
	if err := os.Mkdir(f.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := f.Open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := say(t.Context(), o, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// say stores a session with a message and a picture.
func say(ctx context.Context, o *keep.Opened, i int) error {
	text := fmt.Sprintf("%s, the %dth time. ", plainText, i)
	b, err := o.Media.Put(ctx, strings.NewReader(strings.Repeat(text, 1+i%50*40)))
	if err != nil {
		return err
	}
	_, err = o.Store.Commit(ctx, parley.Batch{At: noon, Sessions: []parley.SessionChange{{
		Session: numbered(i), Create: fresh(""), Events: []parley.NewEvent{{Body: &parley.Message{
			ID: "m", Role: parley.MessageUser, Parts: []parley.Part{
				parley.TextPart(strings.Repeat(text, 1+i%50)),
				{Kind: parley.PartMedia, Media: &parley.Media{Handle: string(b.Handle), Type: b.Type, Size: b.Size}},
			},
		}}},
	}}})
	return err
}

// content gives everything a folder holds, and checks it on the way.
func content(t testing.TB, f keep.Folder) map[string]string {
	t.Helper()
	o, err := f.Open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}()
	report, err := keep.Doctor(t.Context(), o.Store, keep.Config{Media: o.Media, DeepMedia: true})
	if err != nil || !report.OK() {
		t.Fatalf("the folder is not well: %+v, %v", report.Findings, err)
	}
	all := map[string]string{}
	events, _, err := o.Store.Log(t.Context(), parley.SeeAll(), 0, parley.MaxPageSize)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		all[fmt.Sprintf("%s %d", e.Session, e.Seq)] = string(e.Data)
	}
	blobs, err := o.Store.Blobs(t.Context(), "", parley.MaxPageSize)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blobs {
		r, _, err := o.Media.Open(t.Context(), parley.SeeAll(), b.Handle)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		all[string(b.Handle)] = string(data)
	}
	return all
}

// files gives the hash of every file under dir, but for what only says who
// looked.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, "-shm") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || len(data) == 0 && strings.HasSuffix(path, "-wal") {
			return err
		}
		sum := sha256.Sum256(data)
		name, err := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = hex.EncodeToString(sum[:8])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// filesWith gives the files under dir that have the text in them.
func filesWith(t testing.TB, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestEncryptedFolderTellsNothing(t *testing.T) {
	t.Parallel()
	f := furnish(t)
	if names := filesWith(t, f.Dir, plainText); len(names) < 10 {
		t.Fatalf("before, the text is only in %v: this search proves nothing", names)
	}
	before := content(t, f)
	if err := f.Encrypt(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, content(t, f)); diff != "" {
		t.Errorf("encrypted, it has other content: %s", diff)
	}
	look := func(when string) {
		t.Helper()
		for _, text := range []string{plainText, plainText[:12], string(numbered(3)), "session:message", "SQLite"} {
			if names := filesWith(t, f.Dir, text); len(names) > 0 {
				t.Errorf("%s, %q is in %v", when, text, names)
			}
		}
	}
	look("closed")
	o, err := f.Open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := say(t.Context(), o, 100); err != nil {
		t.Fatal(err)
	}
	look("in use")
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	before = content(t, f)
	if err := f.Decrypt(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, content(t, f)); diff != "" {
		t.Errorf("decrypted, it has other content: %s", diff)
	}
	for name := range files(t, f.Dir) {
		if strings.Contains(name, "sealed") || strings.HasSuffix(name, ".key") || strings.Contains(name, ".next") {
			t.Errorf("left over: %s", name)
		}
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	f := furnish(t)
	if err := f.Encrypt(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	before := content(t, f)
	keys, err := f.KeysFunc("")
	if err != nil {
		t.Fatal(err)
	}
	old, err := keys.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "b")
	if _, err := f.Backup(t.Context(), backup, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Rotate(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, content(t, f)); diff != "" {
		t.Errorf("after the rotation it has other content: %s", diff)
	}
	if _, err := elsewhere(f, t.TempDir()).Restore(t.Context(), backup, nil); err != nil {
		t.Errorf("a backup from before the rotation cannot be restored: %v", err)
	}
	if err := f.Rotate(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if list, err := keys.Keys(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("there are %d keys, %v; the old ones were to be forgotten", len(list), err)
	}
	if _, err := elsewhere(f, t.TempDir()).Restore(t.Context(), backup, nil); parley.CodeOf(err) != parley.CodeInvalid {
		t.Errorf("a backup whose key was forgotten: %v", err)
	}
	if err := keys.Save(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(t.Context(), true); parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), "no key") {
		t.Errorf("with the old key: %v", err)
	}
}

func TestSwitchesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	f := furnish(t)
	if err := f.Decrypt(t.Context(), nil); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("decrypting what is plain: %v", err)
	}
	if err := f.Rotate(t.Context(), false); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("another key for what is plain: %v", err)
	}
	if err := f.Encrypt(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Encrypt(t.Context(), nil); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("encrypting twice: %v", err)
	}
	empty := folderIn(t.TempDir(), filepath.Join(t.TempDir(), "key"))
	if err := empty.Encrypt(t.Context(), nil); !errors.Is(err, parley.ErrNotFound) {
		t.Errorf("encrypting nothing: %v", err)
	}
	if names := files(t, empty.Dir); len(names) > 0 {
		t.Errorf("encrypting nothing left %v", names)
	}
	o, err := f.Open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, f.Dir)
	for name, do := range map[string]func() error{
		"decrypt": func() error { return f.Decrypt(t.Context(), nil) }, "rotate": func() error { return f.Rotate(t.Context(), false) },
	} {
		if err := do(); parley.CodeOf(err) != parley.CodeUnavailable {
			t.Errorf("%s while it is in use: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, files(t, f.Dir)); diff != "" {
		t.Errorf("the refusals changed files: %s", diff)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNoKeyChangesNothing opens and switches an encrypted folder with what is not
// its key.
func TestNoKeyChangesNothing(t *testing.T) {
	t.Parallel()
	f := furnish(t)
	if err := f.Encrypt(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.key")
	if err := secret.KeyFile(other).Save(t.Context(), [][]byte{bytes.Repeat([]byte{5}, 32), bytes.Repeat([]byte{6}, 32)}); err != nil {
		t.Fatal(err)
	}
	before := files(t, f.Dir)
	for _, test := range []struct {
		name, keyFile string
		code          parley.Code
	}{
		{"wrong key", other, parley.CodeInvalid},
		{"no key", filepath.Join(t.TempDir(), "missing.key"), parley.CodeUnavailable},
	} {
		g := folderIn(f.Dir, test.keyFile)
		for name, do := range map[string]func() error{
			"open":    func() error { _, err := g.Open(t.Context(), false); return err },
			"read":    func() error { _, err := g.Open(t.Context(), true); return err },
			"encrypt": func() error { return g.Encrypt(t.Context(), nil) },
			"decrypt": func() error { return g.Decrypt(t.Context(), nil) },
			"rotate":  func() error { return g.Rotate(t.Context(), false) },
			"backup":  func() error { _, err := g.Backup(t.Context(), filepath.Join(t.TempDir(), "b"), nil); return err },
		} {
			err := do()
			if parley.CodeOf(err) != test.code {
				t.Errorf("%s with %s: %v, want %s", name, test.name, err, test.code)
			}
			if strings.Contains(fmt.Sprint(err), hex.EncodeToString(bytes.Repeat([]byte{5}, 4))) {
				t.Errorf("%s with %s tells a key: %v", name, test.name, err)
			}
		}
	}
	if diff := cmp.Diff(before, files(t, f.Dir)); diff != "" {
		t.Errorf("files were changed: %s", diff)
	}
}

func TestFolderWithoutItsPieces(t *testing.T) {
	t.Parallel()
	f := furnish(t)
	if err := f.Encrypt(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	envelope := f.Path() + ".key"
	text, err := os.ReadFile(envelope)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{
		"damaged": []byte("{}x"), "of another seal": bytes.Replace(text, []byte("aes-256"), []byte("rot-13x"), 1),
		"with another nonce": bytes.Replace(text, []byte(`"nonce": "`), []byte(`"nonce": "AAAA`), 1),
	} {
		if err := os.WriteFile(envelope, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Open(t.Context(), false); parley.CodeOf(err) != parley.CodeInvalid {
			t.Errorf("with an envelope that is %s: %v", name, err)
		}
	}
	if err := os.Remove(envelope); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(t.Context(), false); parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), envelope) {
		t.Errorf("without the envelope: %v", err)
	}
	if err := os.WriteFile(envelope, text, 0o600); err != nil {
		t.Fatal(err)
	}
	// A plain store, an empty file and none: none of them is what belongs there.
	encrypted, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	other := furnish(t)
	plain, err := os.ReadFile(other.Path())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"plain": plain, "empty": nil} {
		if err := os.WriteFile(f.Path(), data, 0o600); err != nil {
			t.Fatal(err)
		}
		before := files(t, f.Dir)
		for _, readOnly := range []bool{false, true} {
			if _, err := f.Open(t.Context(), readOnly); parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), "envelope") {
				t.Errorf("with a store that is %s: %v", name, err)
			}
		}
		if diff := cmp.Diff(before, files(t, f.Dir)); diff != "" {
			t.Errorf("with a store that is %s something was changed: %s", name, diff)
		}
	}
	if err := os.WriteFile(f.Path(), encrypted, 0o600); err != nil {
		t.Fatal(err)
	}
	content(t, f)
	if err := os.Rename(f.Path(), f.Path()+".gone"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(t.Context(), false); parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), "missing") {
		t.Errorf("without the store: %v", err)
	}
	if _, err := os.Stat(f.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a store was made in place of the one that is missing: %v", err)
	}
}

// lateFailure is a database that is replaced, and says that it was not.
type lateFailure struct{ keep.Database }

func (d lateFailure) ReplaceBy(path string) error {
	if err := d.Database.ReplaceBy(path); err != nil {
		return err
	}
	return errors.New("the folder could not be synced")
}

// TestErrorAfterTheSwitch has the replacement fail after it took place.
func TestErrorAfterTheSwitch(t *testing.T) {
	t.Parallel()
	f := furnish(t)
	before := content(t, f)
	open := f.OpenFunc
	f.OpenFunc = func(ctx context.Context, path string, key []byte, readOnly bool) (keep.Database, error) {
		db, err := open(ctx, path, key, readOnly)
		if err != nil {
			return nil, err
		}
		return lateFailure{db}, nil
	}
	for _, step := range []struct {
		name      string
		do        func() error
		encrypted bool
	}{
		{"on", func() error { return f.Encrypt(t.Context(), nil) }, true},
		{"off", func() error { return f.Decrypt(t.Context(), nil) }, false},
		{"on again", func() error { return f.Encrypt(t.Context(), nil) }, true},
	} {
		if err := step.do(); err == nil || !strings.Contains(err.Error(), "synced") {
			t.Errorf("%s: %v", step.name, err)
		}
		if encrypted, err := sqlite.Encrypted(f.Path()); err != nil || encrypted != step.encrypted {
			t.Errorf("%s: encrypted %v, %v", step.name, encrypted, err)
		}
		if diff := cmp.Diff(before, content(t, f)); diff != "" {
			t.Errorf("after %s it has other content: %s", step.name, diff)
		}
	}
}

func TestEncryptRefusesToLeavePlainCopies(t *testing.T) {
	t.Parallel()
	f := furnish(t)
	kept := f.Path() + ".format4-20260101T000000Z"
	if err := os.WriteFile(kept, []byte(plainText), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Encrypt(t.Context(), nil); !errors.Is(err, parley.ErrConflict) || !strings.Contains(err.Error(), kept) {
		t.Errorf("with a copy that an upgrade kept: %v", err)
	}
	if encrypted, err := sqlite.Encrypted(f.Path()); err != nil || encrypted {
		t.Errorf("encrypted %v, %v", encrypted, err)
	}
}

func TestEncryptNoticesAReaderAndRot(t *testing.T) {
	t.Parallel()
	f := furnish(t)
	r, err := f.Open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Store.Session(t.Context(), parley.SeeAll(), numbered(1)); err != nil {
		t.Fatal(err)
	}
	if err := f.Encrypt(t.Context(), nil); parley.CodeOf(err) != parley.CodeUnavailable || !strings.Contains(err.Error(), "reading") {
		t.Errorf("while somebody reads: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	rot(t, filepath.Join(f.Dir, "blobs"))
	before := files(t, f.Dir)
	if err := f.Encrypt(t.Context(), nil); parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), "not whole") {
		t.Errorf("with media that rotted: %v", err)
	}
	if diff := cmp.Diff(before, files(t, f.Dir)); diff != "" {
		t.Errorf("the refusal changed files: %s", diff)
	}
}

// rot changes a bit in a file under dir.
func rot(t *testing.T, dir string) {
	t.Helper()
	done := errors.New("done")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data[len(data)/2] ^= 1
		return errors.Join(os.WriteFile(path, data, 0o600), done)
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
}
