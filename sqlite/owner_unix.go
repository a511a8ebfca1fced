//go:build unix

package sqlite

import (
	"os"
	"syscall"
)

// matchOwnerOfWALIndex gives the index of the WAL the mode and the owner of
// the database.
func matchOwnerOfWALIndex(path string) { matchOwner(path, path+walIndexSuffix) }

// matchOwner gives a file beside the database its mode and its owner. It is made as whoever comes first: if that is root, who
// only looks, nobody else could write any more. Who may not change it leaves it.
func matchOwner(path, beside string) {
	db, err := os.Stat(path)
	if err != nil {
		return
	}
	file, err := os.Stat(beside)
	if err != nil {
		return
	}
	if file.Mode().Perm() != db.Mode().Perm() {
		_ = os.Chmod(beside, db.Mode().Perm())
	}
	want, ok := db.Sys().(*syscall.Stat_t)
	is, ok2 := file.Sys().(*syscall.Stat_t)
	if ok && ok2 && (want.Uid != is.Uid || want.Gid != is.Gid) {
		_ = os.Chown(beside, int(want.Uid), int(want.Gid))
	}
}
