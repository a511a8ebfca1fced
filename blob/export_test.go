package blob

import (
	"io"

	"github.com/parley-run/parley"
)

// The sizes of the encrypted form.
const (
	HeaderBytes = headerBytes
	ChunkBytes  = chunkBytes
	TagBytes    = tagBytes
)

// SweepBlobs is how many blobs one sweep removes.
const SweepBlobs = sweepBlobs

// Seal writes the encrypted form of what r gives.
func Seal(w io.Writer, r io.Reader, secret []byte, handle parley.BlobHandle) error {
	s, err := newSealer(w, secret)
	if err != nil {
		return err
	}
	if _, err := io.Copy(s, r); err != nil {
		return err
	}
	return s.finish(handle)
}

// Unseal reads an encrypted form.
func Unseal(r io.ReaderAt, length int64, secret []byte, handle parley.BlobHandle) (io.ReadSeeker, error) {
	u, err := newUnsealer(r, length, secret, handle)
	if err != nil {
		return nil, err
	}
	return u, nil
}
