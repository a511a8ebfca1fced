package faultvfs

import (
	"os"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// plainOpener is a VFS that opens files which SQLite does not know of.
type plainOpener interface {
	OpenPlain(path string) (vfs.File, error)
}

// OpenPlain opens a file that SQLite does not know of, and makes it if there is none.
func (d *Disk) OpenPlain(path string) (vfs.File, error) {
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
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	return &diskFile{file: file{f}, disk: d, path: path, node: node}, nil
}

// OpenPlain opens a file that SQLite does not know of, and makes it if there is none.
func (f *Faults) OpenPlain(path string) (vfs.File, error) {
	if err := f.fail(Open, Plain); err != nil {
		return nil, err
	}
	open := openPlain
	if below, ok := f.inner.(plainOpener); ok {
		open = below.OpenPlain
	}
	inner, err := open(path)
	if err != nil {
		return nil, err
	}
	return &faultFile{file: file{inner}, faults: f, kind: Plain}, nil
}

// plainFile is a file of the operating system that nobody locks.
type plainFile struct{ *os.File }

func openPlain(path string) (vfs.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path comes from the test
	if err != nil {
		return nil, err
	}
	return plainFile{f}, nil
}

func (f plainFile) Sync(vfs.SyncFlag) error { return f.File.Sync() }

func (f plainFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (plainFile) Lock(vfs.LockLevel) error                        { return sqlite3.IOERR_LOCK }
func (plainFile) Unlock(vfs.LockLevel) error                      { return sqlite3.IOERR_UNLOCK }
func (plainFile) CheckReservedLock() (bool, error)                { return false, sqlite3.IOERR_CHECKRESERVEDLOCK }
func (plainFile) SectorSize() int                                 { return sectorSize }
func (plainFile) DeviceCharacteristics() vfs.DeviceCharacteristic { return 0 }
