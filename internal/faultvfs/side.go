package faultvfs

import (
	"os"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// sideOpener is a VFS that opens files which SQLite does not know of.
type sideOpener interface {
	OpenSide(path string) (vfs.File, error)
}

// OpenSide opens a file that SQLite does not know of, and makes it if there is none.
func (d *Disk) OpenSide(path string) (vfs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isCut {
		return nil, sqlite3.CANTOPEN
	}
	node, err := d.find(path)
	if err != nil {
		return nil, err
	}
	if node == nil {
		if err := d.create(path); err != nil {
			return nil, err
		}
		node = d.files[path]
	}
	f, err := openSide(path)
	if err != nil {
		return nil, err
	}
	return &diskFile{file: file{f}, disk: d, path: path, node: node}, nil
}

// OpenSide opens a file that SQLite does not know of, and makes it if there is none.
func (f *Faults) OpenSide(path string) (vfs.File, error) {
	if err := f.fail(Open, Side); err != nil {
		return nil, err
	}
	open := openSide
	if below, ok := f.inner.(sideOpener); ok {
		open = below.OpenSide
	}
	inner, err := open(path)
	if err != nil {
		return nil, err
	}
	return &faultFile{file: file{inner}, faults: f, kind: Side}, nil
}

// sideFile is a file of the operating system that nobody locks.
type sideFile struct{ *os.File }

func openSide(path string) (vfs.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path comes from the test
	if err != nil {
		return nil, err
	}
	return sideFile{f}, nil
}

func (f sideFile) Sync(vfs.SyncFlag) error { return f.File.Sync() }

func (f sideFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (sideFile) Lock(vfs.LockLevel) error                        { return sqlite3.IOERR_LOCK }
func (sideFile) Unlock(vfs.LockLevel) error                      { return sqlite3.IOERR_UNLOCK }
func (sideFile) CheckReservedLock() (bool, error)                { return false, sqlite3.IOERR_CHECKRESERVEDLOCK }
func (sideFile) SectorSize() int                                 { return sectorSize }
func (sideFile) DeviceCharacteristics() vfs.DeviceCharacteristic { return 0 }
