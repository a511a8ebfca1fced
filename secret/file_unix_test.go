//go:build unix

package secret_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
)

// TestPipe gives a named pipe, which nobody writes to: reading it would hang.
func TestPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	resolve(t, "file:"+path, secret.Sources{}, parley.CodeInvalid, "is not a plain file")
	_, err := secret.KeyFile(path).Keys(t.Context())
	wantCode(t, err, parley.CodeInvalid)
	wantCode(t, secret.KeyFile(path).Save(t.Context(), [][]byte{key(1)}), parley.CodeInvalid)
}

// TestKeyFileOwner has root exchange the keys of somebody else, who must be able
// to read them afterwards.
func TestKeyFileOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "key")
	h := secret.KeyFile(path)
	if err := h.Save(t.Context(), [][]byte{key(1)}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, 12346); err != nil {
		t.Fatal(err)
	}
	if err := h.Save(t.Context(), [][]byte{key(2), key(1)}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if is, ok := info.Sys().(*syscall.Stat_t); !ok || is.Uid != 12345 || is.Gid != 12346 || info.Mode() != 0o600 {
		t.Errorf("the file has another owner: %+v", info.Sys())
	}
	wantKeys(t, h, key(2), key(1))
}
