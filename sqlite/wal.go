package sqlite

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// maxGathered bounds what a log file gathers before it writes.
const maxGathered = 1 << 20

// gatherVFS makes one write of the many small ones that a commit makes to the
// write-ahead log: two for each page. All files but the log are left alone.
//
// A log file keeps what is appended to it in memory until it is synced, read, or
// written elsewhere. That is safe with synchronous=FULL, where SQLite syncs the
// log before it tells other connections that a commit is there: nobody looks for
// bytes that are not yet in the file.
type gatherVFS struct{ vfs.VFS }

// registerGatherVFS registers a gathering VFS over the one named base and gives its name.
func registerGatherVFS(base string) string {
	name := "parley-" + base
	vfs.Register(name, gatherVFS{vfs.Find(base)})
	return name
}

// Open implements [vfs.VFS].
func (g gatherVFS) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return g.wrap(g.VFS.Open(name, flags))
}

// OpenFilename implements [vfs.VFSFilename].
func (g gatherVFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return g.wrap(vfsutil.WrapOpenFilename(g.VFS, name, flags))
}

func (gatherVFS) wrap(f vfs.File, flags vfs.OpenFlag, err error) (vfs.File, vfs.OpenFlag, error) {
	if err == nil && flags&vfs.OPEN_WAL != 0 {
		f = &walFile{File: f}
	}
	return f, flags, err
}

// walFile is a write-ahead log whose appends are gathered. Gathered bytes belong
// at offset at.
type walFile struct {
	vfs.File
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

// Sync writes and syncs.
func (f *walFile) Sync(flags vfs.SyncFlag) error {
	if err := f.write(); err != nil {
		return err
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
