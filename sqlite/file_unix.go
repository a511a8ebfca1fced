//go:build unix

package sqlite

import (
	"os"
	"syscall"
)

// shareIndex gives the index of the write-ahead log the mode and the owner of
// the database. The driver makes it as whoever comes first: if that is root, who
// only looks, nobody else could write any more. Who may not change it leaves it.
func shareIndex(path string) {
	db, err := os.Stat(path)
	if err != nil {
		return
	}
	index, err := os.Stat(path + "-shm")
	if err != nil {
		return
	}
	if index.Mode().Perm() != db.Mode().Perm() {
		_ = os.Chmod(path+"-shm", db.Mode().Perm())
	}
	want, ok := db.Sys().(*syscall.Stat_t)
	is, ok2 := index.Sys().(*syscall.Stat_t)
	if ok && ok2 && (want.Uid != is.Uid || want.Gid != is.Gid) {
		_ = os.Chown(path+"-shm", int(want.Uid), int(want.Gid))
	}
}
