package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ncruces/go-sqlite3"
)

// stop refuses further requests and waits for those that are queued.
func (w *writer) stop() {
	w.mu.Lock()
	w.closed, w.due = true, true
	w.mu.Unlock()
	w.wakesScribe.Signal()
	w.work.Wait()
	w.wait.Stop()
	if w.wal.timer != nil {
		w.wal.timer.Stop()
	}
}

// close closes the connections, after stop. All that is in the WAL is moved before, if nobody reads it, and the last connection takes
// the WAL away. If that fails, or the WAL has lost something, it stays for who opens the store next.
func (w *writer) close() error {
	err := w.wal.mover.close()
	if w.store.cfg.ReadOnly {
		return err
	}
	if w.walHealth.lostErr() == nil {
		err = errors.Join(err, w.moveAtLast())
	}
	w.checkWALAfterFailure()
	lost := w.walHealth.lostErr()
	if lost != nil {
		err = lost // which is why the rest failed, and says what to do
	}
	if w.conn == nil {
		return err
	}
	switch {
	case lost != nil:
		// SQLite would take it for a WAL of which all was moved, and take it away.
		err = errors.Join(err, w.conn.keepWAL())
	case w.wal.mustRenew:
		forgetErr := forgetMoved(w.store.path)
		if errors.Is(forgetErr, fs.ErrNotExist) {
			forgetErr = nil // without an index nothing counts as moved
		}
		if forgetErr != nil {
			err = errors.Join(err, forgetErr, w.conn.keepWAL())
		}
	}
	c := w.conn
	w.conn, w.walFile = nil, nil
	return errors.Join(err, c.close())
}

// moveAtLast moves all of the WAL, because SQLite would do so without a word of it if that fails.
func (w *writer) moveAtLast() error {
	if w.conn == nil {
		if err := w.ensureOpen(); err != nil {
			return err
		}
	}
	if w.handledTo > w.appliedInDBTo {
		// What was refused stays written down where another process has the store open, and is not to be taken for something that is missing.
		if err := w.excludeGivenUp(); err != nil {
			return err
		}
	}
	err := w.moveDespiteReaders(sqlite3.CHECKPOINT_TRUNCATE)
	switch {
	case errors.Is(err, sqlite3.BUSY):
		return nil // another process reads: who opens the store next does it
	case err == nil && w.wal.mustEmpty:
		// Where another process has the store open, the WAL stays, and so do the intents.
		return w.emptyIntents()
	}
	return err
}

// closeIntents closes the intents. If the store was closed in good order and nothing of its WAL is left, they are not needed any
// more.
func (w *writer) closeIntents(inOrder bool) error {
	if w.store.cfg.ReadOnly {
		return nil
	}
	_, err := os.Stat(w.store.path + walSuffix)
	return w.intents.close(inOrder && errors.Is(err, fs.ErrNotExist))
}
