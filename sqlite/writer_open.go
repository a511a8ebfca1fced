package sqlite

import (
	"errors"
	"io/fs"
	"math"
	"os"

	"github.com/ncruces/go-sqlite3"
)

// begin takes over the connection of a store that is being opened, and brings it up to what was acknowledged.
func (w *writer) begin(c *conn) error {
	w.conn = c
	if err := w.adoptWAL(c); err != nil {
		return err
	}
	frames, err := indexedFrames(w.store.path)
	if err != nil {
		return err
	}
	w.wal.noteLength(frames)
	if err := w.adopt(c); err != nil {
		return err
	}
	applied, id, err := readApplied(c)
	if err != nil {
		return err
	}
	w.numbered, w.handled, w.marked = applied, applied, applied
	w.readable.Store(applied)
	w.walSyncs.written.Store(applied)
	if err := w.intents.adopt(w.store, id, applied); err != nil {
		return err
	}
	w.walSyncs.intents = &w.intents
	w.discarded = math.MaxUint64
	err = w.recover(applied)
	w.discarded = w.numbered
	return err
}

// adopt takes over a connection to a store that is up to date.
func (w *writer) adopt(c *conn) error {
	w.conn = c
	c.db.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
		w.wal.noteLength(pages)
		return nil
	})
	w.known = knownHeads{}
	var err error
	w.pos, err = lastPos(c)
	return err
}

// adoptWAL takes over the write-ahead log.
func (w *writer) adoptWAL(c *conn) error {
	// It is open when something was read.
	if _, err := c.exists(`SELECT 1 FROM meta`); err != nil {
		return err
	}
	f, err := c.db.FileControl("main", sqlite3.FCNTL_JOURNAL_POINTER)
	if err != nil {
		return err
	}
	if w.walFile, _ = f.(*walFile); w.walFile != nil {
		w.walFile.syncFunc = w.walSyncs.sync
		w.walFile.startOverFunc = func() { w.wal.noteLength(0) }
	}
	return nil
}

// lastPos gives the highest position ever given to an event. The events
// themselves do not tell, because the last ones may have been deleted.
func lastPos(c *conn) (pos uint64, err error) {
	_, err = c.one(func(r row) { pos = r.seq(0) },
		`SELECT max(ifnull((SELECT max(pos) FROM events), 0), ifnull((SELECT value FROM meta WHERE name = 'pos'), 0))`)
	return pos, err
}

// readApplied gives the number up to which intents are applied, and whose they are.
func readApplied(c *conn) (applied uint64, id string, err error) {
	_, err = c.one(func(r row) { applied, id = r.seq(0), r.text(1) }, `SELECT applied, id FROM intents`)
	return applied, id, err
}

// abandon closes what begin has opened, after it has failed. The log stays for who opens the store next.
func (w *writer) abandon() error {
	err := w.intents.close(false)
	if w.conn != nil {
		err = errors.Join(err, w.conn.keepWAL(), w.conn.close())
		w.conn, w.walFile = nil, nil
	}
	return err
}

// start lets the writer work.
func (w *writer) start() {
	w.work.Go(w.scribe)
	w.work.Go(w.drain)
}

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

// close closes the connections, after stop. All that is in the log is moved before, if nobody reads it, and the last connection takes
// the log away. If that fails, the log stays for who opens the store next.
func (w *writer) close() error {
	err := w.wal.mover.close()
	if w.store.cfg.ReadOnly {
		return err
	}
	if w.walSyncs.lostErr() == nil {
		err = errors.Join(err, w.moveAtLast())
	}
	if w.conn == nil {
		return err
	}
	w.checkWALAfterFailure()
	if w.wal.mustMoveAgain {
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

// moveAtLast moves all of the log, because SQLite would do so without a word of it if that fails.
func (w *writer) moveAtLast() error {
	if w.conn == nil {
		if err := w.reopen(); err != nil {
			return err
		}
	}
	err := w.conn.db.BusyTimeout(readerTimeout)
	if err == nil {
		_, err = w.move(sqlite3.CHECKPOINT_TRUNCATE)
	}
	if errors.Is(err, sqlite3.BUSY) {
		// Another process reads, and takes it away in the end. What was refused stays written down, and is not to be taken for something that is missing.
		err = nil
		if w.handled > w.marked {
			err = w.dealWithGivenUp()
		}
	}
	return err
}

// closeIntents closes the intents. If the store was closed in good order and nothing of its log is left, they are not needed any
// more.
func (w *writer) closeIntents(inOrder bool) error {
	if w.store.cfg.ReadOnly {
		return nil
	}
	_, err := os.Stat(w.store.path + walSuffix)
	return w.intents.close(inOrder && errors.Is(err, fs.ErrNotExist))
}
