package faultvfs

import (
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// faultFile is an open file of a [Faults].
type faultFile struct {
	file
	faults *Faults
	kind   Kind
}

var _ vfs.FileSizeHint = (*faultFile)(nil)

func (f *faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.faults.fail(Read, f.kind); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	r := f.faults.strike(Write, f.kind, len(p), f.grows(off+int64(len(p))))
	if r == nil {
		return f.File.WriteAt(p, off)
	}
	n := 0
	if r.Short && len(p) > 1 {
		var err error
		if n, err = f.File.WriteAt(p[:len(p)/2], off); err != nil {
			return n, err
		}
	}
	return n, r.err(Write)
}

func (f *faultFile) Truncate(size int64) error {
	if r := f.faults.strike(Truncate, f.kind, 0, f.grows(size)); r != nil {
		return r.err(Truncate)
	}
	return f.File.Truncate(size)
}

// SizeHint counts as a truncation to a longer file.
func (f *faultFile) SizeHint(size int64) error {
	if f.grows(size) {
		if r := f.faults.strike(Truncate, f.kind, 0, true); r != nil {
			return r.err(Truncate)
		}
	}
	return vfsutil.WrapSizeHint(f.File, size)
}

func (f *faultFile) Sync(flags vfs.SyncFlag) error {
	r := f.faults.strike(Sync, f.kind, 0, false)
	if r == nil {
		return f.File.Sync(flags)
	}
	if d, ok := vfsutil.UnwrapFile[*diskFile](f.File); ok && r.Lose {
		if err := d.lose(r.Revert); err != nil {
			return err
		}
	}
	return r.err(Sync)
}

func (f *faultFile) Size() (int64, error) {
	if err := f.faults.fail(Size, f.kind); err != nil {
		return 0, err
	}
	return f.File.Size()
}

// grows reports whether a file of this size would be longer than it is.
func (f *faultFile) grows(size int64) bool {
	now, err := f.File.Size()
	return err == nil && size > now
}
