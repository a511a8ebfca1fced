package faultvfs

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// diskFile is an open file of a [Disk].
type diskFile struct {
	file
	disk *Disk
	path string
	node *inode
}

var _ vfs.FileSizeHint = (*diskFile)(nil)

// ReadAt reads without the disk's lock: it must not wait for a writer.
func (f *diskFile) ReadAt(p []byte, off int64) (int, error) {
	select {
	case <-f.disk.cut:
		return 0, sqlite3.IOERR_READ
	default:
		return f.File.ReadAt(p, off)
	}
}

func (f *diskFile) Size() (int64, error) {
	select {
	case <-f.disk.cut:
		return 0, sqlite3.IOERR_FSTAT
	default:
		return f.File.Size()
	}
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	happens, inFlight := f.disk.step()
	n, err := len(p), error(sqlite3.IOERR_WRITE)
	if happens {
		n, err = f.File.WriteAt(p, off)
	}
	if inFlight {
		f.node.pending = append(f.node.pending, change{off: off, data: append([]byte{}, p[:n]...)})
	}
	if !happens {
		n = 0
	}
	return n, err
}

func (f *diskFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.resize(size, f.File.Truncate)
}

// SizeHint reserves room, which makes the file longer.
func (f *diskFile) SizeHint(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if now, err := f.File.Size(); err != nil || now >= size {
		return err
	}
	return f.resize(size, func(size int64) error { return vfsutil.WrapSizeHint(f.File, size) })
}

func (f *diskFile) resize(size int64, do func(int64) error) error {
	happens, inFlight := f.disk.step()
	if happens {
		if err := do(size); err != nil {
			return err
		}
	}
	if inFlight {
		f.node.pending = append(f.node.pending, change{size: size})
	}
	if !happens {
		return sqlite3.IOERR_TRUNCATE
	}
	return nil
}

// Sync makes the file's changes safe, and that it exists.
func (f *diskFile) Sync(vfs.SyncFlag) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if happens, _ := f.disk.step(); !happens {
		return sqlite3.IOERR_FSYNC
	}
	if !f.disk.lies {
		f.node.sync()
		f.disk.settle(f.path, f.node)
	}
	return nil
}

// lose is a sync that failed and lost. If it reverts, that is what is read from then on.
func (f *diskFile) lose(revert bool) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.isCut {
		return nil
	}
	f.node.lose(f.disk.rand)
	if !revert {
		return nil
	}
	if err := f.File.Truncate(int64(len(f.node.safe))); err != nil {
		return err
	}
	_, err := f.File.WriteAt(f.node.safe, 0)
	return err
}
