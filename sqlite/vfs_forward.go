package sqlite

import (
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// forwardingFile passes on what SQLite can ask of a database file besides reading and
// writing.
type forwardingFile struct{ vfs.File }

// Unwrap gives the file below.
func (f forwardingFile) Unwrap() vfs.File { return f.File }

// DeviceCharacteristics are those of the file below, without the writes of several pages at once that F2FS has: they would go past this file.
func (f forwardingFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() &^ vfs.IOCAP_BATCH_ATOMIC
}

// SharedMemory gives the index of the WAL.
func (f forwardingFile) SharedMemory() vfs.SharedMemory { return vfsutil.WrapSharedMemory(f.File) }

// LockState says how the file is locked.
func (f forwardingFile) LockState() vfs.LockLevel { return vfsutil.WrapLockState(f.File) }

// PersistWAL says whether the WAL stays at the end.
func (f forwardingFile) PersistWAL() bool { return vfsutil.WrapPersistWAL(f.File) }

// SetPersistWAL changes that.
func (f forwardingFile) SetPersistWAL(keep bool) { vfsutil.WrapSetPersistWAL(f.File, keep) }

// SizeHint says how large the file will become.
func (f forwardingFile) SizeHint(size int64) error { return vfsutil.WrapSizeHint(f.File, size) }

// HasMoved says whether the file has another name by now.
func (f forwardingFile) HasMoved() (bool, error) { return vfsutil.WrapHasMoved(f.File) }

// BusyHandler is told how to wait.
func (f forwardingFile) BusyHandler(handler func() bool) { vfsutil.WrapBusyHandler(f.File, handler) }
