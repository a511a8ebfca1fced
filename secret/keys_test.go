package secret_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/secret"
)

// key makes a key of one byte.
func key(b byte) []byte { return bytes.Repeat([]byte{b}, secret.KeySize) }

// wantKeys fails unless the holder has these keys, none being not found.
func wantKeys(t *testing.T, h secret.Holder, want ...[]byte) {
	t.Helper()
	got, err := h.Keys(t.Context())
	if len(want) == 0 {
		wantCode(t, err, parley.CodeNotFound)
	} else if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", h.Name(), diff)
	}
}

// holderPromises is what every holder that is empty at first keeps.
func holderPromises(t *testing.T, h secret.Holder) {
	t.Helper()
	ctx := t.Context()
	wantKeys(t, h)
	if err := h.Save(ctx, nil); err != nil {
		t.Errorf("removing none: %v", err)
	}
	for _, keys := range [][][]byte{{key(1)}, {key(2), key(1)}, {key(2)}, {key(2)}} {
		if err := h.Save(ctx, keys); err != nil {
			t.Fatal(err)
		}
		wantKeys(t, h, keys...)
	}
	many := make([][]byte, secret.MaxKeys+1)
	for i := range many {
		many[i] = key(byte(i))
	}
	for _, bad := range [][][]byte{{nil}, {key(1)[1:]}, {key(1), append(key(1), 1)}, many} {
		wantCode(t, h.Save(ctx, bad), parley.CodeInvalid)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	wantCode(t, h.Save(ended, [][]byte{key(9)}), parley.CodeUnavailable)
	if _, err := h.Keys(ended); parley.CodeOf(err) != parley.CodeUnavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("after the context ended: %v", err)
	}
	wantKeys(t, h, key(2))
	if err := h.Save(ctx, many[1:]); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, h, many[1:]...)
	for range 2 {
		if err := h.Save(ctx, [][]byte{}); err != nil {
			t.Fatal(err)
		}
		wantKeys(t, h)
	}
}

func TestKeyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "store.key")
	h := secret.KeyFile(path)
	if want := "the key file " + path; h.Name() != want {
		t.Errorf("its name is %q, want %q", h.Name(), want)
	}
	holderPromises(t, h)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestKeyFileText(t *testing.T) {
	t.Parallel()
	one, two := hex.EncodeToString(key(0xab)), strings.ToUpper(hex.EncodeToString(key(0xcd)))
	tests := []struct {
		name, text string
		want       [][]byte
		says       string // of a refusal
	}{
		{name: "empty"},
		{name: "comments", text: "# nothing\n\n  # here\n"},
		{name: "one", text: one, want: [][]byte{key(0xab)}},
		{name: "newest first", text: two + "\n" + one + "\n", want: [][]byte{key(0xcd), key(0xab)}},
		{name: "comments and blanks", text: "# made by hand\r\n\t" + one + " # since May\r\n\r\n", want: [][]byte{key(0xab)}},
		{name: "short", text: "# x\n" + one[2:], says: "line 2"},
		{name: "odd", text: one[1:], says: "line 1"},
		{name: "long", text: one + "ab", says: "line 1"},
		{name: "two in a line", text: one + " " + one, says: "line 1"},
		{name: "no hex", text: one + "\n" + sample, says: "line 2 is not a key of 64 hexadecimal digits"},
		{name: "too many", text: strings.Repeat(one+"\n", secret.MaxKeys+1), says: "more than 16 keys"},
		{name: "too big", text: strings.Repeat("# a long story\n", 2000), says: "is that a list of keys?"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			h := secret.KeyFile(path)
			if test.says == "" {
				wantKeys(t, h, test.want...)
				if err := h.Save(t.Context(), [][]byte{key(1)}); err != nil {
					t.Fatal(err)
				}
				wantKeys(t, h, key(1))
				return
			}
			_, err := h.Keys(t.Context())
			wantCode(t, err, parley.CodeInvalid, one, one[2:20])
			wantText(t, err, test.says, path)
			for _, keys := range [][][]byte{{key(1)}, nil} {
				wantCode(t, h.Save(t.Context(), keys), parley.CodeInvalid, one, one[2:20])
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != test.text {
				t.Errorf("what is not a key file was changed: %v", err)
			}
		})
	}
}

func TestKeyFilePlace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes and links")
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	save := func(name string, keys ...[]byte) error { return secret.KeyFile(path(name)).Save(t.Context(), keys) }

	if err := save("key", key(1)); err != nil {
		t.Fatal(err)
	}
	wantMode := func(want os.FileMode) {
		t.Helper()
		if info, err := os.Stat(path("key")); err != nil || info.Mode() != want {
			t.Errorf("mode %v, %v, want %v", info.Mode(), err, want)
		}
	}
	wantMode(0o600)
	if err := os.Chmod(path("key"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := save("key", key(2)); err != nil {
		t.Fatal(err)
	}
	wantMode(0o400)

	// A link stays one, and its file is replaced.
	if err := os.Symlink("key", path("link")); err != nil {
		t.Fatal(err)
	}
	if err := save("link", key(3)); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, secret.KeyFile(path("key")), key(3))
	if info, err := os.Lstat(path("link")); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if err := os.Symlink("gone", path("dangling")); err != nil {
		t.Fatal(err)
	}
	wantCode(t, save("dangling", key(1)), parley.CodeInvalid)

	if err := os.Chmod(path("key"), 0o640); err != nil {
		t.Fatal(err)
	}
	_, err := secret.KeyFile(path("key")).Keys(t.Context())
	wantCode(t, err, parley.CodeInvalid)
	wantText(t, err, "chmod 600 "+path("key"))
	wantCode(t, save("key", key(4)), parley.CodeInvalid)
	wantCode(t, save("key"), parley.CodeInvalid)
	if err := os.Chmod(path("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, secret.KeyFile(path("key")), key(3))

	wantCode(t, save("", key(1)), parley.CodeInvalid)
	err = save("no/folder/key", key(1))
	wantCode(t, err, parley.CodeNotFound)
	wantText(t, err, "make it first")
	wantCode(t, save("key/below", key(1)), parley.CodeUnavailable)
}

func TestOpenKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := []struct{ where, item, want string }{
		{"store.key", "main", "the key file " + filepath.Join(dir, "store.key")},
		{filepath.Join(dir, "x", "store.key"), "main", "the key file " + filepath.Join(dir, "x", "store.key")},
		{"./keyring", "main", "the key file " + filepath.Join(dir, "keyring")},
		{"store.key", "", "the key file " + filepath.Join(dir, "store.key")},
		{"keyring", "main", "the system keyring"},
	}
	for _, test := range tests {
		h, err := secret.OpenKeys(test.where, dir, test.item)
		if err != nil || h.Name() != test.want {
			t.Errorf("%s, %s: got %v, %v, want %s", test.where, test.item, h, err, test.want)
		}
	}
	for _, test := range [][2]string{{"", "main"}, {"keyring", ""}, {"keyring", "a b"}} {
		_, err := secret.OpenKeys(test[0], dir, test[1])
		wantCode(t, err, parley.CodeInvalid)
	}
}

// TestKeyFileWhole reads while another saves: what is read is always whole.
func TestKeyFileWhole(t *testing.T) {
	t.Parallel()
	h := secret.KeyFile(filepath.Join(t.TempDir(), "key"))
	lists := [][][]byte{{key(1)}, {key(2), key(3), key(4)}}
	if err := h.Save(t.Context(), lists[0]); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for i := range soak.Count(50, 500) {
			if err = h.Save(t.Context(), lists[i%2]); err != nil {
				break
			}
		}
		done <- err
	}()
	for {
		keys, err := h.Keys(t.Context())
		if err != nil {
			t.Error(err)
		} else if !cmp.Equal(keys, lists[0]) && !cmp.Equal(keys, lists[1]) {
			t.Errorf("a mixture: %x", keys)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

// TestKeyFileKilled kills a process that saves without end. The keys must be one
// of its lists each time.
func TestKeyFileKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	for range soak.Count(5, 50) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), saveEnv+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 10 {
			if !lines.Scan() {
				t.Error("the helper ended by itself")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("the helper was not killed")
		}
		keys, err := secret.KeyFile(path).Keys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range keys {
			if !bytes.Equal(k, key(keys[0][0]-byte(i))) {
				t.Errorf("a mixture: %x", keys)
			}
		}
	}
}

// saveWithoutEnd saves lists of three keys, each of a byte that counts down.
func saveWithoutEnd(path string) error {
	h := secret.KeyFile(path)
	for i := byte(0); ; i++ {
		if err := h.Save(context.Background(), [][]byte{key(i), key(i - 1), key(i - 2)}); err != nil {
			return err
		}
		fmt.Println(i)
	}
}
