package sqlite

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// growingWAL is a WAL whose sync fails, and to which commits go on to add, as soon as its end was read.
type growingWAL struct {
	vfs.File
	data   *bytes.Reader
	frames *atomic.Int64
}

func (*growingWAL) Sync(vfs.SyncFlag) error { return sqlite3.IOERR_FSYNC }

func (f *growingWAL) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.data.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		f.frames.Add(1)
	}
	return n, err
}

// TestWALHealth_CommitsGoOn: where the mover's sync has failed and nothing was lost by it, what commits add meanwhile is not missed.
func TestWALHealth_CommitsGoOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	s, err := Open(context.Background(), path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.writer.submit(t.Context(), &request{apply: func(t *tx) error {
		t.wrote = true
		return t.c.exec(`INSERT INTO meta (name, value) VALUES ('more', 1)`)
	}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path + walSuffix)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := wholeFrames(bytes.NewReader(data))
	if err != nil || whole == 0 {
		t.Fatalf("%d frames, %v", whole, err)
	}
	for missing, want := range map[int64]bool{0: false, 1: true} {
		frames := new(atomic.Int64)
		frames.Store(int64(whole) + missing)
		h := walHealth{path: path, intents: new(intents), readableTo: new(atomic.Uint64), frames: frames}
		if err := h.sync(&growingWAL{data: bytes.NewReader(data), frames: frames}, vfs.SYNC_NORMAL); err == nil {
			t.Error("the sync did not fail")
		}
		if h.lost.Load() != want {
			t.Errorf("%d frames are missing, and lost is %t", missing, h.lost.Load())
		}
	}
}
