package sqlite

import (
	"os"

	"golang.org/x/sys/windows"
)

func lockFile(f *os.File) error {
	// The locked byte lies far behind the text, which others must be able to
	// read.
	at := windows.Overlapped{Offset: 1 << 20}
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
}
