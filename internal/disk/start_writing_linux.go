package disk

import "golang.org/x/sys/unix"

// StartWriting asks the system to begin to write what a file has in memory of n bytes from off on (0: of all
// that follow), and does not wait until that is done. A failure is told by the sync that has to follow.
func StartWriting(fd uintptr, off, n int64) {
	_ = unix.SyncFileRange(int(fd), off, n, unix.SYNC_FILE_RANGE_WRITE)
}
