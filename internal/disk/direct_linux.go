package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// OpenDirect opens a file, and makes it if there is none, whose blocks go to the disk without a copy in the system's
// memory, which a sync would have to find and write. Offsets, lengths and memory then have to be aligned to
// blocks. Where the file system does not have that, the file is an ordinary one.
func OpenDirect(path string) (f *os.File, direct bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_DIRECT, 0o600) //nolint:gosec // the path is the caller's
	if errors.Is(err, unix.EINVAL) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path is the caller's
		return f, false, err
	}
	return f, err == nil, err
}
