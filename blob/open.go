package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/parley-run/parley"
)

// Open gives the content of a blob that v sees, and what is known of it. What v
// does not see is [parley.CodeNotFound]; a file that is missing, damaged or in the
// wrong form has [ErrMissing], [ErrDamaged] or [ErrSecret] in its chain. Of an
// encrypted file every byte that is read was checked; of one that is as it is,
// only the size was.
func (s *Store) Open(ctx context.Context, v parley.Visibility, handle parley.BlobHandle) (io.ReadSeekCloser, parley.Blob, error) {
	b, err := s.index.Blob(ctx, v, handle)
	if err != nil {
		return nil, parley.Blob{}, err
	}
	content, err := s.open(b)
	if errors.Is(err, ErrMissing) {
		// It may have been swept since.
		if _, gone := s.index.Blob(ctx, v, handle); gone != nil {
			err = gone
		}
	}
	if err != nil {
		return nil, parley.Blob{}, err
	}
	return content, b, nil
}

// Stat gives what is known of a blob, whoever sees it: who has a handle was given it.
func (s *Store) Stat(ctx context.Context, handle parley.BlobHandle) (parley.Blob, error) {
	return s.index.Blob(ctx, parley.SeeAll(), handle)
}

// open opens the file of a registered blob. The two forms differ in size, so
// neither is taken for the other, whatever the content begins with.
func (s *Store) open(b parley.Blob) (content io.ReadSeekCloser, err error) {
	path, ok := s.path(b.Handle)
	if !ok {
		return nil, missing(b.Handle)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(b.Handle)
	}
	if err != nil {
		return nil, unwritable("open media", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it was only read
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, unwritable("open media", err)
	}
	switch size := info.Size(); {
	case size == b.Size && !s.encrypted():
		return f, nil
	case size == b.Size:
		return nil, wrongForm(b.Handle, "is not encrypted, but the store is; encrypt its folder of media as well")
	case size != sealedSize(b.Size):
		return nil, damaged(b.Handle, fmt.Sprintf("because its file of %d bytes cannot hold %d", size, b.Size))
	case !s.encrypted():
		return nil, s.notSealed(f, b.Handle)
	}
	u, err := newUnsealer(f, info.Size(), s.cfg.Secret, b.Handle)
	if err != nil {
		return nil, err
	}
	return &sealedFile{unsealer: u, Closer: f}, nil
}

// OpenFile opens the file of a registered blob as it lies on the disk, for copies
// of the folder. Name is its place there, with slashes.
func (s *Store) OpenFile(b parley.Blob) (f *os.File, name string, err error) {
	content, err := s.open(b)
	if err != nil {
		return nil, "", err
	}
	if err := content.Close(); err != nil {
		return nil, "", unwritable("open media", err)
	}
	path, _ := s.path(b.Handle)
	if f, err = os.Open(path); err != nil {
		return nil, "", unwritable("open media", err)
	}
	folder, file, _ := place(b.Handle)
	return f, folder + "/" + file, nil
}

// notSealed says what is wrong with a file that has the size of an encrypted one
// in a store that has no secret.
func (s *Store) notSealed(f *os.File, handle parley.BlobHandle) error {
	start := make([]byte, len(magic))
	if _, err := f.ReadAt(start, 0); err != nil {
		return readError(handle, err)
	}
	if !bytes.Equal(start, []byte(magic)) {
		return damaged(handle, "because its file is too long")
	}
	return wrongForm(handle, "is encrypted, and the store was opened without its secret")
}

// sealedFile is an encrypted file that is open.
type sealedFile struct {
	*unsealer
	io.Closer
}

// intact reports whether the blob's file is there and can be read, as far as
// opening it tells.
func (s *Store) intact(b parley.Blob) bool {
	content, err := s.open(b)
	if err != nil {
		return false
	}
	return content.Close() == nil
}
