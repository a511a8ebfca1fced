package sqlite

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley/internal/disk"
)

// sideFile is a file beside the database that SQLite does not know of.
type sideFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync(flags vfs.SyncFlag) error
	Size() (int64, error)
}

// sideOpener is a VFS, for tests, that opens and deletes such files itself.
type sideOpener interface {
	OpenSide(path string) (vfs.File, error)
	Delete(path string, syncDir bool) error
}

// openSide opens a file, and makes it if there is none.
func (s *Store) openSide(path string) (sideFile, error) {
	if opener, ok := vfs.Find(s.cfg.vfs).(sideOpener); ok {
		return opener.OpenSide(path)
	}
	f, direct, err := disk.OpenDirect(path)
	if err != nil {
		return nil, err
	}
	return &osFile{f, direct}, nil
}

// openSideToRead opens a file of which any bytes can be read.
func (s *Store) openSideToRead(path string) (sideFile, error) {
	if opener, ok := vfs.Find(s.cfg.vfs).(sideOpener); ok {
		return opener.OpenSide(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &osFile{File: f}, nil
}

// removeSide removes a file that is closed.
func (s *Store) removeSide(path string) error {
	if opener, ok := vfs.Find(s.cfg.vfs).(sideOpener); ok {
		return opener.Delete(path, false)
	}
	return os.Remove(path)
}

// osFile is a file of the operating system.
type osFile struct {
	*os.File
	direct bool
}

// WriteAt writes whole blocks. Some file systems take them only through the system's memory, and say so late.
func (f *osFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	if err == nil || !f.direct || !errors.Is(err, syscall.EINVAL) {
		return n, err
	}
	other, err := os.OpenFile(f.Name(), os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	if err := f.File.Close(); err != nil {
		return 0, errors.Join(err, other.Close())
	}
	f.File, f.direct = other, false
	return f.File.WriteAt(p, off)
}

// Sync makes what was written durable.
func (f *osFile) Sync(vfs.SyncFlag) error { return disk.SyncData(f.File) }

// Size gives how long the file is.
func (f *osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
