package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// syncNames does nothing: Windows has no sync of folders, and its file systems
// write names through.
func syncNames(*os.File) error { return nil }

// Lock locks an open file until it is closed or its process ends. It fails at
// once if another has it. The locked byte lies far behind the text, which others
// must be able to read.
func Lock(f *os.File) error {
	at := windows.Overlapped{Offset: 1 << 20}
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
}

// Locked reports whether another has locked the file at path, without locking it for long. A file that is not there is not locked.
func Locked(path string) (bool, error) {
	f, err := os.Open(path) //nolint:gosec // G304: whoever opens a store says where it is
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	at := windows.Overlapped{Offset: 1 << 20}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return true, f.Close()
	}
	return false, errors.Join(err, f.Close())
}

// Unlock does nothing: closing the file gives the lock back.
func Unlock(*os.File) error { return nil }

// KeepOwner does nothing: files inherit their access rights from the folder.
func KeepOwner(string, fs.FileInfo) error { return nil }

// TakeOwner does nothing, for the same reason.
func TakeOwner(string, fs.FileInfo) error { return nil }

// Links gives one: how many names a file has is not among what is known of it.
func Links(fs.FileInfo) uint64 { return 1 }

// Room gives how many bytes the file system of a folder still takes.
func Room(dir string) (room uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	return room, windows.GetDiskFreeSpaceEx(name, &room, nil, nil)
}

// IsFull reports whether an error says that the disk takes no more, or that its owner may have no more of it.
func IsFull(err error) bool {
	for _, full := range []error{
		windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED, syscall.ENOSPC, syscall.EDQUOT,
	} {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}
