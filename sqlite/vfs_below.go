package sqlite

import (
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley/internal/disk"
)

// belowFile passes on what SQLite can ask of a database file besides reading and
// writing.
type belowFile struct{ vfs.File }

// Unwrap gives the file below.
func (f belowFile) Unwrap() vfs.File { return f.File }

// SharedMemory gives the index of the write-ahead log.
func (f belowFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }

// LockState says how the file is locked.
func (f belowFile) LockState() vfs.LockLevel { return vfsutil.WrapLockState(f.File) }

// PersistWAL says whether the write-ahead log stays at the end.
func (f belowFile) PersistWAL() bool { return vfsutil.WrapPersistWAL(f.File) }

// SetPersistWAL changes that.
func (f belowFile) SetPersistWAL(keep bool) { vfsutil.WrapSetPersistWAL(f.File, keep) }

// SizeHint says how large the file will become.
func (f belowFile) SizeHint(size int64) error { return vfsutil.WrapSizeHint(f.File, size) }

// HasMoved says whether the file has another name by now.
func (f belowFile) HasMoved() (bool, error) { return vfsutil.WrapHasMoved(f.File) }

// BusyHandler is told how to wait.
func (f belowFile) BusyHandler(handler func() bool) { vfsutil.WrapBusyHandler(f.File, handler) }

// startWriting lets the system begin to write what a file has in memory of n bytes from off on, 0 for all that follow. It says
// nothing of what becomes of them, and need not: the sync does.
func startWriting(f vfs.File, off, n int64) {
	for f != nil {
		switch b := f.(type) {
		case interface{ Fd() uintptr }:
			disk.StartWriting(b.Fd(), off, n)
			return
		case interface{ Unwrap() vfs.File }:
			f = b.Unwrap()
		default:
			return
		}
	}
}
