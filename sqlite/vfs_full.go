package sqlite

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley/internal/disk"
)

// fullFile is a file that says so when the disk is full. The driver gives SQLite an I/O error for that, and forgets its cause as soon
// as SQLite does something else with a file, as it does to roll back.
type fullFile struct{ forwardingFile }

// WriteAt writes to the file below.
func (f fullFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, orFull(err)
}

// Truncate makes the file shorter or longer.
func (f fullFile) Truncate(size int64) error { return orFull(f.File.Truncate(size)) }

// Sync makes what was written durable; some file systems find room for it only then.
func (f fullFile) Sync(flags vfs.SyncFlag) error { return orFull(f.File.Sync(flags)) }

// SizeHint says how large the file will become.
func (f fullFile) SizeHint(size int64) error { return orFull(f.forwardingFile.SizeHint(size)) }

// orFull gives SQLite's own error for a full disk in place of the system's.
func orFull(err error) error {
	if disk.IsFull(err) {
		return sqlite3.FULL
	}
	return err
}
