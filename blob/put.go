package blob

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// Put stores what r gives and registers it. The blob is durable, and whole, when
// Put returns; it has to be referred to by an event within [Config.KeepFor].
//
// It fails with [parley.CodeTooLarge] for more than [Config.Limit] bytes, with
// [parley.CodeInvalid] for none, and with the error of r if that fails. In all
// these cases, and if the context ends before r does, nothing is left behind. A
// context that ends while the blob is registered may leave one that nothing
// refers to.
func (s *Store) Put(ctx context.Context, r io.Reader) (b parley.Blob, err error) {
	if len(s.cfg.Key) == 0 {
		return b, parley.Errorf(parley.CodeInvalid, "media cannot be stored without the key that names them")
	}
	d, err := s.newDraft()
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, d.discard()) }()
	mac := hmac.New(sha256.New, s.cfg.Key)
	head := &beginning{}
	size, err := copyLimited(ctx, io.MultiWriter(d, mac, head), r, s.cfg.Limit)
	if err != nil {
		return b, err
	}
	if size == 0 {
		return b, parley.Errorf(parley.CodeInvalid, "the media is empty")
	}
	b = parley.Blob{Handle: handleOf(mac.Sum(nil)), Type: typeOf(head.Bytes()), Size: size}
	unlock, err := s.locks.lock(ctx, b.Handle)
	if err != nil {
		return parley.Blob{}, err
	}
	defer unlock()
	if err := s.settle(d, b); err != nil {
		return parley.Blob{}, err
	}
	_, err = s.index.Commit(ctx, parley.Batch{
		At: s.now(), Blobs: []parley.BlobChange{{Handle: b.Handle, Type: b.Type, Size: b.Size}},
	})
	if err != nil {
		return parley.Blob{}, err
	}
	return s.index.Blob(ctx, parley.SeeAll(), b.Handle)
}

// settle sees to it that the blob's file is there and stays there. The handle is
// locked.
func (s *Store) settle(d *draft, b parley.Blob) error {
	path, _ := s.path(b.Handle)
	if s.intact(b) {
		// It is as fresh as one that was put in its place: should the
		// registration be cut short, a sweep leaves it alone for as long.
		now := s.now()
		if err := os.Chtimes(path, now, now); err != nil {
			return unwritable("put media", err)
		}
		if err := s.ensureFolder(filepath.Dir(path)); err != nil {
			return unwritable("put media", err)
		}
	} else if err := d.place(b.Handle); err != nil {
		return err
	}
	// Also for a file that was there: who put it may have died before this.
	if err := disk.SyncFolder(filepath.Dir(path)); err != nil {
		return unwritable("put media", err)
	}
	return nil
}

// copyLimited copies until r ends, looking at the context on the way.
func copyLimited(ctx context.Context, w io.Writer, r io.Reader, limit int64) (size int64, err error) {
	buf := make([]byte, chunkBytes)
	for {
		if err := ctx.Err(); err != nil {
			return size, canceled(err)
		}
		n, readErr := r.Read(buf)
		if size += int64(n); size > limit {
			return size, parley.Errorf(parley.CodeTooLarge, "the media has more than the %d bytes that are allowed", limit)
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return size, err
		}
		if errors.Is(readErr, io.EOF) {
			return size, nil
		}
		if readErr != nil {
			return size, readErr
		}
	}
}

// beginning keeps the first bytes that are written to it.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	if room := sniffBytes - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
