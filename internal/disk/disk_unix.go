//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// syncNames syncs a folder.
func syncNames(d *os.File) error { return d.Sync() }

// Lock locks an open file until it is closed or its process ends. It fails at
// once if another has it.
func Lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// Locked reports whether another has locked the file at path, without locking it for long. A file that is not there is not locked.
func Locked(path string) (bool, error) {
	f, err := os.Open(path) //nolint:gosec // G304: whoever opens a store says where it is
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, f.Close()
	}
	return false, errors.Join(err, unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
}

// Unlock gives a lock back. Closing the file would do, but for a process that is
// being started at that moment: it has the file, and so the lock, until it runs.
func Unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// KeepOwner gives the file at path the mode and the owner of the one it
// replaces. Otherwise root, who replaces it once, would lock out the daemon that
// uses it.
func KeepOwner(path string, old fs.FileInfo) error {
	if err := TakeOwner(path, old); err != nil {
		return err
	}
	return os.Chmod(path, old.Mode().Perm())
}

// TakeOwner gives the file or folder at path the owner and the group of another, if
// it has different ones. Where only the group differs and cannot be given, because its
// owner is not in it or the file system has none, it is left as it is.
func TakeOwner(path string, other fs.FileInfo) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	want, wantOK := other.Sys().(*syscall.Stat_t)
	if !ok || !wantOK || is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	if err := os.Lchown(path, int(want.Uid), int(want.Gid)); err != nil && is.Uid != want.Uid {
		return err
	}
	return nil
}

// Links gives how many names a file has.
func Links(info fs.FileInfo) uint64 {
	if is, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(is.Nlink) //nolint:unconvert // not every system has 64 bits there
	}
	return 1
}

// Room gives how many bytes the file system of a folder still takes.
func Room(dir string) (uint64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return uint64(fs.Bavail) * uint64(fs.Bsize), nil //nolint:unconvert // FreeBSD has a signed number of blocks there
}

// IsFull reports whether an error says that the disk takes no more, or that its owner may have no more of it.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
