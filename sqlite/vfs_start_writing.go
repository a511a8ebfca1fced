package sqlite

import (
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley/internal/disk"
)

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
