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
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-run/parley"
)

// A backup is a tar archive: first a header, then the files of the folder, and at
// the end what they must be. An archive without its end is not a backup.
const (
	archiveFormat = 1
	headerEntry   = "parley-backup.json"
	sumsEntry     = "parley-backup.sums.json"
	maxEntryText  = 256 << 20 // of the two that are read into memory
)

// archiveHeader says what an archive is.
type archiveHeader struct {
	Format    int       `json:"format"`
	CreatedAt time.Time `json:"created_at"`
	Store     string    `json:"store"` // the name of the store's file
	// Envelope has the key of an encrypted store, sealed. It stands here so that
	// a restore knows at once whether it has the key.
	Envelope json.RawMessage `json:"envelope,omitempty"`
	Bytes    int64           `json:"bytes"` // of all files
}

// archiveSum is what a file must be.
type archiveSum struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// writeArchive writes all files under dir.
func writeArchive(ctx context.Context, w io.Writer, dir string, header archiveHeader, progress func(done, total int64)) error {
	paths, total, err := filesUnder(dir)
	if err != nil {
		return err
	}
	header.Format, header.Bytes = archiveFormat, total
	out := tar.NewWriter(w)
	if err := addText(out, headerEntry, header, header.CreatedAt); err != nil {
		return err
	}
	sums := map[string]archiveSum{}
	done := int64(0)
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		sum, err := addFile(ctx, out, dir, path, header.CreatedAt)
		if err != nil {
			return err
		}
		sums[path] = sum
		done += sum.Size
		if progress != nil {
			progress(done, total)
		}
	}
	if err := addText(out, sumsEntry, sums, header.CreatedAt); err != nil {
		return err
	}
	return out.Close()
}

// filesUnder lists the files under dir by their slash-separated names.
func filesUnder(dir string) (paths []string, total int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		paths = append(paths, filepath.ToSlash(name))
		total += info.Size()
		return nil
	})
	return paths, total, err
}

func addText(out *tar.Writer, name string, v any, at time.Time) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600, ModTime: at}); err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

func addFile(ctx context.Context, out *tar.Writer, dir, path string, at time.Time) (sum archiveSum, err error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(path)))
	if err != nil {
		return sum, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return sum, err
	}
	if err := out.WriteHeader(&tar.Header{Name: path, Size: info.Size(), Mode: 0o600, ModTime: at}); err != nil {
		return sum, err
	}
	s := newSummer(ctx, f)
	if _, err := io.Copy(out, s); err != nil {
		return sum, err
	}
	return s.sum(), nil
}

// readHeader reads the header of an archive. It fails with [parley.CodeInvalid]
// for what is not a backup.
func readHeader(in *tar.Reader) (header archiveHeader, err error) {
	entry, err := in.Next()
	if err != nil || entry.Name != headerEntry {
		return header, notBackup("it does not begin like one")
	}
	if err := readText(in, &header); err != nil {
		return header, err
	}
	if header.Format > archiveFormat {
		return header, parley.Errorf(parley.CodeInvalid, "this backup was written by a newer Parley; use that one")
	}
	if !filepath.IsLocal(header.Store) || filepath.Base(header.Store) != header.Store {
		return header, notBackup("it names the store %q", header.Store)
	}
	return header, nil
}

// readFiles writes the files of an archive into dir, which is empty, and compares
// them with what they must be. It fails with [parley.CodeInvalid] for what is not
// a whole backup. Progress is told the bytes that are done.
func readFiles(ctx context.Context, in *tar.Reader, dir string, progress func(done int64)) error {
	sums := map[string]archiveSum{}
	done := int64(0)
	for {
		entry, err := in.Next()
		if err != nil {
			return notBackup("it ends too early: %v", err)
		}
		if entry.Name == sumsEntry {
			return compareSums(in, sums)
		}
		if _, twice := sums[entry.Name]; twice || entry.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(entry.Name)) {
			return notBackup("it has an entry %q that does not belong there", entry.Name)
		}
		sum, err := extract(ctx, in, filepath.Join(dir, filepath.FromSlash(entry.Name)))
		if err != nil {
			return err
		}
		sums[entry.Name] = sum
		done += sum.Size
		progress(done)
	}
}

func readText(in io.Reader, v any) error {
	text, err := io.ReadAll(io.LimitReader(in, maxEntryText))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return notBackup("it cannot be read: %v", err)
	}
	return nil
}

func compareSums(in io.Reader, got map[string]archiveSum) error {
	want := map[string]archiveSum{}
	if err := readText(in, &want); err != nil {
		return err
	}
	for name, sum := range want {
		if got[name] != sum {
			return notBackup("%s in it is damaged or missing", name)
		}
	}
	if len(got) != len(want) {
		return notBackup("it has more files than it says")
	}
	return nil
}

// extract writes one file, synced.
func extract(ctx context.Context, in io.Reader, path string) (sum archiveSum, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return sum, parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return sum, parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
	}
	s := newSummer(ctx, in)
	_, err = io.Copy(f, s)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(s.err, io.ErrUnexpectedEOF):
		err = notBackup("it ends too early")
	case err != nil:
		err = parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
	default:
		err = f.Sync()
	}
	return s.sum(), errors.Join(err, f.Close())
}

// summer sums up what is read through it, and stops when the context ends.
type summer struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one copy
	from io.Reader
	hash hash.Hash
	size int64
	err  error
}

func newSummer(ctx context.Context, from io.Reader) *summer {
	return &summer{ctx: ctx, from: from, hash: sha256.New()}
}

func (s *summer) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.from.Read(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

func (s *summer) sum() archiveSum {
	return archiveSum{Size: s.size, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}

func notBackup(format string, args ...any) error {
	return parley.Errorf(parley.CodeInvalid, "this is not a whole backup of Parley: %s", fmt.Sprintf(format, args...))
}
