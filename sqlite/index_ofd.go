//go:build linux || darwin

package sqlite

import (
	"errors"
	"os"
)

// movesBeside says that the write-ahead log can be moved by a connection beside the
// writer's, because forgetMoved works.
const movesBeside = true

// movedOffset is where the index of a write-ahead log has the number of pages that
// have been moved, by the description of its format: https://sqlite.org/walformat.html
const movedOffset = 96

// forgetMoved makes the next checkpoint move the whole log, as one after a crash does:
// also what was moved before. Nobody may be moving it at that time.
func forgetMoved(path string) error {
	index, err := os.OpenFile(path+"-shm", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = index.WriteAt(make([]byte, 4), movedOffset)
	return errors.Join(err, index.Close())
}
