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

// maxKeptBuffer bounds a buffer that is kept for the next use.
const maxKeptBuffer = 1 << 20

// walFile is a WAL that makes one write of the many small ones of a
// commit: two for each page. Gathered bytes belong at offset.
//
// What is appended is kept in memory until the file is synced, read, or written
// elsewhere. That is safe with synchronous=FULL, where SQLite syncs the WAL
// before it tells other connections that a commit is there: nobody looks for
// bytes that are not yet in the file, also where the sync itself is deferred.
type walFile struct {
	vfs.File
	path     string
	named    bool // its name is durable
	gathered []byte
	offset   int64

	// deferred says that what is written need not be durable yet. Who has the connection sets it, for a commit
	// that is durable by other means.
	deferred bool
	pending  int64 // bytes that end at offset and that the system was not asked to write
	unsynced bool  // something was written since the last sync
	// startOverFunc, if set, is called before the header is written: what was in the WAL is in the database.
	startOverFunc func()
	// syncFunc, if set, syncs the file.
	syncFunc func(f vfs.File, flags vfs.SyncFlag) error
}

// WriteAt gathers p, if it continues what is gathered.
func (f *walFile) WriteAt(p []byte, off int64) (int, error) {
	if off != f.offset+int64(len(f.gathered)) || len(f.gathered)+len(p) > maxGathered {
		if err := f.write(); err != nil {
			return 0, err
		}
		f.offset = off
	}
	f.gathered = append(f.gathered, p...)
	return len(p), nil
}

// write writes what is gathered.
func (f *walFile) write() error {
	if len(f.gathered) == 0 {
		return nil
	}
	if f.offset == 0 {
		f.pending = 0
		if f.startOverFunc != nil {
			f.startOverFunc()
		}
	}
	f.unsynced = true
	n, err := f.File.WriteAt(f.gathered, f.offset)
	if err == nil && n < len(f.gathered) {
		err = sqlite3.IOERR_WRITE
	}
	f.offset += int64(len(f.gathered))
	f.pending += int64(len(f.gathered))
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

// Sync writes and syncs, the first time with the folder: without its name a WAL
// is lost. A sync that is deferred only writes. That of a header alone never is: SQLite relies on it to be
// there before pages that belong to it.
func (f *walFile) Sync(flags vfs.SyncFlag) error {
	isHeader := f.offset == 0 && len(f.gathered) == walHeaderBytes
	if err := f.write(); err != nil {
		return err
	}
	if f.deferred && !isHeader {
		return nil
	}
	if !f.named {
		if err := disk.SyncFolder(filepath.Dir(f.path)); err != nil {
			return err
		}
		f.named = true
	}
	sync := vfs.File.Sync
	if f.syncFunc != nil {
		sync = f.syncFunc
	}
	if err := sync(f.File, flags); err != nil {
		return err
	}
	f.pending, f.unsynced = 0, false
	return nil
}

// startWriting lets the system begin to write what was deferred, once it is a few pages. Else all of it would be written when the
// WAL is moved, at once, and what commits do sync would wait behind it.
func (f *walFile) startWriting() {
	if f.pending >= writeTogether*frameBytes {
		startWriting(f.File, f.offset-f.pending, f.pending)
		f.pending = 0
	}
}

// Truncate writes first.
func (f *walFile) Truncate(size int64) error {
	if err := f.write(); err != nil {
		return err
	}
	f.offset, f.pending = 0, 0
	return f.File.Truncate(size)
}

// Size counts what is gathered.
func (f *walFile) Size() (int64, error) {
	size, err := f.File.Size()
	if len(f.gathered) > 0 {
		size = max(size, f.offset+int64(len(f.gathered)))
	}
	return size, err
}

// Close writes first.
func (f *walFile) Close() error {
	return errors.Join(f.write(), f.File.Close())
}
