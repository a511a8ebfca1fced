//go:build unix

package secret

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// private reports whether only the owner has rights to a file.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

// keepOwner gives f the mode and the owner of the file it replaces. Otherwise
// root, who replaces it once, would lock out the daemon that reads it.
func keepOwner(f *os.File, old fs.FileInfo) error {
	if err := f.Chmod(old.Mode().Perm()); err != nil {
		return err
	}
	if was, ok := old.Sys().(*syscall.Stat_t); ok && int(was.Uid) != os.Geteuid() {
		return f.Chown(int(was.Uid), int(was.Gid))
	}
	return nil
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
