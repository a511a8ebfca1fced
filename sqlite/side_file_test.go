package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley/internal/disk"
)

// TestOSFile_Refused writes what a file past the system's memory does not take: less than a block. That goes through the system's memory
// from then on, and what was written before is still there.
func TestOSFile_Refused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db-intents0")
	opened, err := new(Store).openSide(path)
	if err != nil {
		t.Fatal(err)
	}
	f := opened.(*osFile)
	probe, direct, err := disk.OpenDirect(path + ".probe")
	if err != nil {
		t.Fatal(err)
	}
	_, err = probe.WriteString("less")
	refuses := errors.Is(err, syscall.EINVAL) // some file systems take it all the same
	t.Logf("past the system's memory: %t, and refuses: %t", direct, refuses)
	if err := probe.Close(); err != nil {
		t.Fatal(err)
	}
	blocks := make([]byte, intentBufferBytes)
	copy(blocks, "the first block")
	for _, w := range []struct {
		data []byte
		off  int64
	}{{blocks[:intentBlock], 0}, {[]byte("less"), intentBlock}, {[]byte("than a block"), intentBlock + 4}} {
		if n, err := f.WriteAt(w.data, w.off); err != nil || n != len(w.data) {
			t.Fatalf("%d of %d bytes at %d: %v", n, len(w.data), w.off, err)
		}
		if err := f.Sync(vfs.SYNC_NORMAL); err != nil {
			t.Fatal(err)
		}
	}
	if refuses && f.direct {
		t.Error("it still goes past the system's memory")
	}
	want := append(bytes.Clone(blocks[:intentBlock]), "lessthan a block"...)
	if size, err := f.Size(); err != nil || size != int64(len(want)) {
		t.Errorf("%d bytes, %v", size, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file is %q, %v", got, err)
	}
}
