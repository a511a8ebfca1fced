package blob

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parley-run/parley"
)

// The encrypted form of a file: a header of magic and salt, then the content in
// chunks, each sealed with AES-256-GCM under a key that is derived from the
// secret and the salt, so that no two files share one. A chunk's nonce is its
// number and whether it is the last; with the header as associated data, and for
// the last chunk the handle too, a chunk fits only its place in its file, and the
// file only its name.
const (
	magic       = "parleyb\x01" // the last byte is the version
	saltBytes   = 32
	headerBytes = len(magic) + saltBytes
	chunkBytes  = 64 << 10
	tagBytes    = 16
	nonceBytes  = 12
	keyInfo     = "parley blob file key"
)

// sealedSize gives the size of the encrypted form of so many bytes.
func sealedSize(plain int64) int64 {
	return int64(headerBytes) + plain + (plain+chunkBytes-1)/chunkBytes*tagBytes
}

// plainSize gives the number of bytes in an encrypted form of that size. Not
// every size is that of one.
func plainSize(sealed int64) (plain int64, ok bool) {
	body := sealed - int64(headerBytes)
	if body <= 0 {
		return 0, false
	}
	const whole = chunkBytes + tagBytes
	chunks := (body + whole - 1) / whole
	plain = body - chunks*tagBytes
	return plain, plain > (chunks-1)*chunkBytes
}

// cipherOf gives the cipher of one file.
func cipherOf(secret, salt []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secret, salt, keyInfo, secretBytes)
	if err != nil {
		return nil, fmt.Errorf("derive file key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("derive file key: %w", err)
	}
	return cipher.NewGCM(block)
}

// chunkNonce gives the nonce of a chunk.
func chunkNonce(chunk int64, last bool) []byte {
	nonce := make([]byte, nonceBytes)
	binary.BigEndian.PutUint64(nonce[3:], uint64(chunk))
	if last {
		nonce[nonceBytes-1] = 1
	}
	return nonce
}

// sealer encrypts what is written to it.
type sealer struct {
	w      io.Writer
	aead   cipher.AEAD
	header []byte
	chunk  int64
	plain  []byte // of the chunk that is being filled
	sealed []byte
}

func newSealer(w io.Writer, secret []byte) (*sealer, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	aead, err := cipherOf(secret, salt)
	if err != nil {
		return nil, err
	}
	header := append([]byte(magic), salt...)
	if _, err := w.Write(header); err != nil {
		return nil, err
	}
	return &sealer{w: w, aead: aead, header: header, plain: make([]byte, 0, chunkBytes)}, nil
}

// Write encrypts p. A chunk is written when the next one begins, because only
// then it is known not to be the last.
func (s *sealer) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if len(s.plain) == chunkBytes {
			if err := s.flush(false, nil); err != nil {
				return n, err
			}
		}
		take := min(len(p), chunkBytes-len(s.plain))
		s.plain = append(s.plain, p[:take]...)
		p = p[take:]
		n += take
	}
	return n, nil
}

// finish writes the last chunk, which binds the file to its name.
func (s *sealer) finish(handle parley.BlobHandle) error { return s.flush(true, []byte(handle)) }

func (s *sealer) flush(last bool, name []byte) error {
	s.sealed = s.aead.Seal(s.sealed[:0], chunkNonce(s.chunk, last), s.plain, bytes.Join([][]byte{s.header, name}, nil))
	s.plain = s.plain[:0]
	s.chunk++
	_, err := s.w.Write(s.sealed)
	return err
}

// unsealer reads an encrypted form from any place.
type unsealer struct {
	r      io.ReaderAt
	aead   cipher.AEAD
	header []byte
	handle parley.BlobHandle
	size   int64 // of the content
	at     int64 // where the next read begins
	chunk  int64 // the one that plain holds
	plain  []byte
	sealed []byte
}

// newUnsealer reads the header and the last chunk, which tells whether secret,
// name and length are right.
func newUnsealer(r io.ReaderAt, length int64, secret []byte, handle parley.BlobHandle) (*unsealer, error) {
	size, ok := plainSize(length)
	if !ok {
		return nil, damaged(handle, "its length is none an encrypted file has")
	}
	header := make([]byte, headerBytes)
	if _, err := r.ReadAt(header, 0); err != nil {
		return nil, readError(handle, err)
	}
	if !bytes.HasPrefix(header, []byte(magic)) {
		return nil, damaged(handle, "it does not begin as an encrypted file")
	}
	aead, err := cipherOf(secret, header[len(magic):])
	if err != nil {
		return nil, err
	}
	u := &unsealer{r: r, aead: aead, header: header, handle: handle, size: size, chunk: -1}
	return u, u.load((size - 1) / chunkBytes)
}

// load decrypts a chunk.
func (u *unsealer) load(chunk int64) error {
	if chunk == u.chunk {
		return nil
	}
	u.chunk = -1
	plain := min(chunkBytes, u.size-chunk*chunkBytes)
	last := (chunk+1)*chunkBytes >= u.size
	if u.sealed == nil {
		u.sealed = make([]byte, 0, chunkBytes+tagBytes)
		u.plain = make([]byte, 0, chunkBytes)
	}
	u.sealed = u.sealed[:plain+tagBytes]
	if _, err := u.r.ReadAt(u.sealed, int64(headerBytes)+chunk*(chunkBytes+tagBytes)); err != nil && !errors.Is(err, io.EOF) {
		return readError(u.handle, err)
	}
	data := u.header
	if last {
		data = append(bytes.Clone(u.header), u.handle...)
	}
	var err error
	if u.plain, err = u.aead.Open(u.plain[:0], chunkNonce(chunk, last), u.sealed, data); err != nil {
		return damaged(u.handle, "it was changed, has another name, or was encrypted with another secret")
	}
	u.chunk = chunk
	return nil
}

// Read implements [io.Reader].
func (u *unsealer) Read(p []byte) (int, error) {
	if u.at >= u.size {
		return 0, io.EOF
	}
	chunk := u.at / chunkBytes
	if err := u.load(chunk); err != nil {
		return 0, err
	}
	n := copy(p, u.plain[u.at-chunk*chunkBytes:])
	u.at += int64(n)
	return n, nil
}

// Seek implements [io.Seeker]. It costs nothing; the next read decrypts the chunk
// it lands in.
func (u *unsealer) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += u.at
	case io.SeekEnd:
		offset += u.size
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, parley.Errorf(parley.CodeInvalid, "cannot read media before its beginning")
	}
	u.at = offset
	return offset, nil
}

// readError is for a file that is shorter than it was, or a disk that fails.
func readError(handle parley.BlobHandle, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged(handle, "it ends too early")
	}
	return unwritable("open media", err)
}
