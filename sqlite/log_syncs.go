package sqlite

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// logSyncs are the syncs of SQLite's log, by whichever connection.
//
// After one that failed, the operating system may take pages for written that are not, and the next would succeed without them. Commits have
// not synced those pages themselves, so nothing may rely on a sync until the whole log was written anew.
type logSyncs struct {
	intents *intents
	logged  atomic.Uint64 // the log has what was applied up to this number

	mu         sync.Mutex
	distrusted bool // one has failed, and the log was not written anew
}

// sync makes the log durable, and lets go of the intents that it has.
func (l *logSyncs) sync(sync func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.distrusted {
		return sqlite3.IOERR_FSYNC
	}
	number := l.logged.Load()
	if err := sync(); err != nil {
		l.distrusted = true
		return err
	}
	l.intents.logSyncedUpTo(number)
	return nil
}

// writeAnew writes the whole log again, and syncs it. Nobody else writes it at that time.
func (l *logSyncs) writeAnew(f vfs.File) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Whole units, for a log that is encrypted.
	buf := make([]byte, writeTogether*frameBytes)
	for at, size := int64(0), logHeaderBytes; ; at, size = at+int64(size), len(buf) {
		n, err := f.ReadAt(buf[:size], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if size == len(buf) {
			n -= n % frameBytes // half a page at the end is nobody's
		}
		if n > 0 {
			if _, err := f.WriteAt(buf[:n], at); err != nil {
				return err
			}
		}
		if n < size {
			break
		}
	}
	if err := f.Sync(vfs.SYNC_NORMAL); err != nil {
		return err
	}
	l.distrusted = false
	return nil
}
