package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// fileLock keeps a second writer away. It is a lock of the operating system on
// a file beside the store, so it is gone with the process, however that ends.
type fileLock struct{ f *os.File }

// takeLock takes the lock at once or says who has it.
func takeLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, openError("cannot lock the store", err)
	}
	if err := lockSoon(f); err != nil {
		holder := "another process"
		if text, readErr := io.ReadAll(io.LimitReader(f, 32)); readErr == nil && len(text) > 0 {
			holder = "process " + strings.TrimSpace(string(text))
		}
		return nil, errors.Join(parley.Errorf(parley.CodeUnavailable,
			"the store is in use by %s; end that first", holder), f.Close())
	}
	// The number is for people only; the lock itself is what counts, also where the disk is full.
	if f.Truncate(0) == nil {
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &fileLock{f: f}, nil
}

// lockSoon locks a file, or finds that another has it. Who only reads looks at the lock for a moment (disk.Locked), which is waited for.
func lockSoon(f *os.File) error {
	for try := 1; ; try++ {
		err := disk.Lock(f)
		if err == nil || try == lockTries {
			return err
		}
		<-time.After(lockPause)
	}
}

const (
	lockTries = 5
	lockPause = 10 * time.Millisecond
)

// release gives the lock back. The file stays: removing it would let two
// processes lock two files of the same name.
func (l *fileLock) release() error {
	if l == nil || l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	return errors.Join(disk.Unlock(f), f.Close())
}
