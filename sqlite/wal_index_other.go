//go:build !(linux || darwin)

package sqlite

// movesBeside says that the writer moves the WAL itself: where the index of
// the WAL is not a file that can be written beside the driver, what was moved cannot be
// moved again after a failure, and half of it must not be moved if that can be helped.
const movesBeside = false

func indexedFrames(string) (int, error) { return 0, nil }

func forgetMoved(string) error { return nil }

func forgetWALIndex(string) error { return nil }
