package sqlite

import (
	"errors"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley/internal/disk"
)

// maxGathered bounds what a walFile gathers before it writes.
const maxGathered = 1 << 20

// walFile is a write-ahead log that makes one write of the many small ones of a
// commit: two for each page. Gathered bytes belong at offset at.
//
// What is appended is kept in memory until the file is synced, read, or written
// elsewhere. That is safe with synchronous=FULL, where SQLite syncs the log
// before it tells other connections that a commit is there: nobody looks for
// bytes that are not yet in the file.
type walFile struct {
	vfs.File
	path     string
	named    bool // its name is durable
	gathered []byte
	at       int64
}

// WriteAt gathers p, if it continues what is gathered.
func (f *walFile) WriteAt(p []byte, off int64) (int, error) {
	if off != f.at+int64(len(f.gathered)) || len(f.gathered)+len(p) > maxGathered {
		if err := f.write(); err != nil {
			return 0, err
		}
		f.at = off
	}
	f.gathered = append(f.gathered, p...)
	return len(p), nil
}

// write writes what is gathered.
func (f *walFile) write() error {
	if len(f.gathered) == 0 {
		return nil
	}
	n, err := f.File.WriteAt(f.gathered, f.at)
	if err == nil && n < len(f.gathered) {
		err = sqlite3.IOERR_WRITE
	}
	f.at += int64(len(f.gathered))
	f.gathered = f.gathered[:0]
	return err
}

// ReadAt writes first, so that the file has what was written to it.
func (f *walFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.write(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

// Sync writes and syncs, the first time with the folder: without its name a log
// is lost.
func (f *walFile) Sync(flags vfs.SyncFlag) error {
	if err := f.write(); err != nil {
		return err
	}
	if !f.named {
		if err := disk.SyncFolder(filepath.Dir(f.path)); err != nil {
			return err
		}
		f.named = true
	}
	return f.File.Sync(flags)
}

// Truncate writes first.
func (f *walFile) Truncate(size int64) error {
	if err := f.write(); err != nil {
		return err
	}
	f.at = 0
	return f.File.Truncate(size)
}

// Size counts what is gathered.
func (f *walFile) Size() (int64, error) {
	size, err := f.File.Size()
	if len(f.gathered) > 0 {
		size = max(size, f.at+int64(len(f.gathered)))
	}
	return size, err
}

// Close writes first.
func (f *walFile) Close() error {
	return errors.Join(f.write(), f.File.Close())
}
