package faultvfs

import (
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// file passes on to a wrapped file what neither loses data nor fails: closing,
// locks, shared memory, and the settings SQLite asks for. Memory mapping is not
// passed on, because reads through it could not be made to fail.
type file struct {
	vfs.File
}

var (
	_ vfs.FileUnwrap             = file{}
	_ vfs.FileSharedMemory       = file{}
	_ vfs.FileLockState          = file{}
	_ vfs.FilePersistWAL         = file{}
	_ vfs.FilePowersafeOverwrite = file{}
	_ vfs.FileHasMoved           = file{}
)

func (f file) Unwrap() vfs.File                { return f.File }
func (f file) SharedMemory() vfs.SharedMemory  { return vfsutil.WrapSharedMemory(f.File) }
func (f file) LockState() vfs.LockLevel        { return vfsutil.WrapLockState(f.File) }
func (f file) PersistWAL() bool                { return vfsutil.WrapPersistWAL(f.File) }
func (f file) SetPersistWAL(keep bool)         { vfsutil.WrapSetPersistWAL(f.File, keep) }
func (f file) PowersafeOverwrite() bool        { return vfsutil.WrapPowersafeOverwrite(f.File) }
func (f file) SetPowersafeOverwrite(psow bool) { vfsutil.WrapSetPowersafeOverwrite(f.File, psow) }
func (f file) HasMoved() (bool, error)         { return vfsutil.WrapHasMoved(f.File) }

// DeviceCharacteristics takes away batch-atomic writes, which some file systems
// offer: they are a file system's promise that a wrapper cannot keep.
func (f file) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return f.File.DeviceCharacteristics() &^ vfs.IOCAP_BATCH_ATOMIC
}
