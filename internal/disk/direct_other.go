//go:build !linux

package disk

import "os"

// OpenDirect opens a file, and makes it if there is none. It is an ordinary one here.
func OpenDirect(path string) (f *os.File, direct bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path is the caller's
	return f, false, err
}
