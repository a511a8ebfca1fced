package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncData makes durable what was written to a file, and of its other properties only those without
// which it could not be read again.
func SyncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
