package disk

import "golang.org/x/sys/unix"

// StartWriting asks the system to begin to write what a file has in memory, and does
// not wait until that is done. A failure is told by the sync that has to follow.
func StartWriting(fd uintptr) {
	_ = unix.SyncFileRange(int(fd), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}
