package keep

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"time"

	"github.com/parley-run/parley"
)

// A backup is a tar archive: first a header, then the store and the media, and
// at the end a sum over all of them. An archive without its end is not a backup.
const (
	archiveFormat = 1
	headerEntry   = "parley-backup.json"
	storeEntry    = "parley.db"
	mediaEntries  = "blobs"
	endEntry      = "parley-backup-end.json"
	maxEntryText  = 1 << 20 // of the two that are read into memory
)

// mediaEntry is how media are called in an archive: the form, and the name of
// the file.
var mediaEntry = regexp.MustCompile(`^` + mediaEntries + `/(plain|sealed)/[0-9a-f]{2}/[0-9a-f]{62}$`)

// archiveHeader says what an archive is.
type archiveHeader struct {
	Format    int       `json:"format"`
	CreatedAt time.Time `json:"created_at"`
	// Envelope has the key of an encrypted store, sealed. It stands here so that
	// a restore knows at once whether it has the key.
	Envelope json.RawMessage `json:"envelope,omitempty"`
}

// archiveEnd says what must have come before it.
type archiveEnd struct {
	Files  int64  `json:"files"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of names, sizes and contents
}

// archiveWriter writes an archive, file by file.
type archiveWriter struct {
	tar *tar.Writer
	at  time.Time
	sum archiveSum
}

func newArchive(w io.Writer, header archiveHeader) (*archiveWriter, error) {
	header.Format = archiveFormat
	a := &archiveWriter{tar: tar.NewWriter(w), at: header.CreatedAt, sum: newSum()}
	return a, a.text(headerEntry, header)
}

func (a *archiveWriter) text(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := a.begin(name, int64(len(text))); err != nil {
		return err
	}
	_, err = a.tar.Write(text)
	return err
}

func (a *archiveWriter) begin(name string, size int64) error {
	return a.tar.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: a.at})
}

// file adds a file of this size.
func (a *archiveWriter) file(ctx context.Context, name string, size int64, from io.Reader, progress func(done, total int64)) error {
	if err := a.begin(name, size); err != nil {
		return err
	}
	_, err := io.Copy(io.MultiWriter(a.tar, a.sum.begin(name, size)), &patient{ctx: ctx, from: from, total: size, progress: progress})
	return err
}

// end completes the archive.
func (a *archiveWriter) end() error {
	if err := a.text(endEntry, a.sum.end()); err != nil {
		return err
	}
	return a.tar.Close()
}

// archiveReader reads an archive. It takes nothing but what a backup has, and not
// more than the archive itself is large.
type archiveReader struct {
	tar    *tar.Reader
	header archiveHeader
	left   int64 // bytes that may still come
	sum    archiveSum
}

// openArchive reads the header of an archive of this size. It fails with
// [parley.CodeInvalid] for what is not a backup.
func openArchive(r io.Reader, size int64) (*archiveReader, error) {
	a := &archiveReader{tar: tar.NewReader(r), left: size, sum: newSum()}
	entry, err := a.tar.Next()
	if err != nil || entry.Name != headerEntry {
		return nil, notBackup("it does not begin like one")
	}
	if err := a.text(&a.header); err != nil {
		return nil, err
	}
	if a.header.Format > archiveFormat {
		return nil, parley.Errorf(parley.CodeInvalid, "this backup was written by a newer Parley; use that one")
	}
	return a, nil
}

func (a *archiveReader) text(v any) error {
	text, err := io.ReadAll(io.LimitReader(a.tar, maxEntryText))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return notBackup("it cannot be read: %v", err)
	}
	return nil
}

// extract writes the files of the archive into dir, which is empty.
func (a *archiveReader) extract(ctx context.Context, dir string, progress func(done, total int64)) error {
	total := a.left
	for {
		entry, err := a.tar.Next()
		if err != nil {
			return notBackup("it ends too early: %v", err)
		}
		if entry.Name == endEntry {
			var want archiveEnd
			if err := a.text(&want); err != nil {
				return err
			}
			if a.sum.end() != want {
				return notBackup("something in it was changed")
			}
			return nil
		}
		if err := a.check(entry); err != nil {
			return err
		}
		if err := a.extractFile(ctx, entry, filepath.Join(dir, filepath.FromSlash(entry.Name))); err != nil {
			return err
		}
		if progress != nil {
			progress(total-a.left, total)
		}
	}
}

// check refuses an entry that a backup does not have. A sparse file would take
// more room than it has bytes.
func (a *archiveReader) check(entry *tar.Header) error {
	form := path.Join(mediaEntries, formName(a.header.Envelope != nil))
	known := entry.Name == storeEntry || mediaEntry.MatchString(entry.Name) && path.Dir(path.Dir(entry.Name)) == form
	if !known || entry.Typeflag != tar.TypeReg {
		return notBackup("it has an entry %q that does not belong there", entry.Name)
	}
	if a.left -= entry.Size; a.left < 0 {
		return notBackup("%q in it is larger than all of it", entry.Name)
	}
	return nil
}

// extractFile writes one file, synced.
func (a *archiveReader) extractFile(ctx context.Context, entry *tar.Header, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
	}
	from := &patient{ctx: ctx, from: a.tar}
	_, err = io.Copy(io.MultiWriter(f, a.sum.begin(entry.Name, entry.Size)), from)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case from.err != nil:
		err = notBackup("it ends too early")
	case err == nil:
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil && parley.CodeOf(err) == parley.CodeInternal && ctx.Err() == nil {
		err = parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
	}
	return err
}

// archiveSum sums up the files of an archive.
type archiveSum struct {
	hash hash.Hash
	done *archiveEnd
}

func newSum() archiveSum { return archiveSum{hash: sha256.New(), done: &archiveEnd{}} }

// begin gives what the content of the next file is written to.
func (s archiveSum) begin(name string, size int64) io.Writer {
	s.done.Files++
	s.done.Bytes += size
	_, _ = fmt.Fprintf(s.hash, "%d %s %d\n", len(name), name, size) // a hash never fails
	return s.hash
}

func (s archiveSum) end() archiveEnd {
	end := *s.done
	end.SHA256 = hex.EncodeToString(s.hash.Sum(nil))
	return end
}

// patient reads until the context ends.
type patient struct {
	ctx         context.Context //nolint:containedctx // it lives as long as one copy
	from        io.Reader
	done, total int64
	progress    func(done, total int64)
	err         error // of the reader, not of who writes
}

func (p *patient) Read(buf []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.from.Read(buf)
	p.done += int64(n)
	if p.progress != nil {
		p.progress(p.done, p.total)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

func notBackup(format string, args ...any) error {
	return parley.Errorf(parley.CodeInvalid, "this is not a whole backup of Parley: %s", fmt.Sprintf(format, args...))
}
