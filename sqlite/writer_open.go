package sqlite

import (
	"errors"
	"math"

	"github.com/ncruces/go-sqlite3"
)

// open takes over the connection of a store that is being opened, and brings it up to what was acknowledged.
func (w *writer) open(c *conn) error {
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
	w.numberedTo, w.handledTo, w.appliedInDBTo = applied, applied, applied
	w.readableTo.Store(applied)
	w.walHealth.writtenTo.Store(applied)
	if err := w.intents.adopt(w.store, id, applied); err != nil {
		return err
	}
	w.walHealth.intents = &w.intents
	w.withoutIntentTo = math.MaxUint64
	err = w.recover(applied)
	w.withoutIntentTo = w.numberedTo
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

// adoptWAL takes over the WAL.
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
		w.walFile.syncFunc = w.walHealth.sync
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

// abandonOpen closes what open has opened, after it has failed. The WAL stays for who opens the store next.
func (w *writer) abandonOpen() error {
	err := w.intents.close(false)
	if w.conn != nil {
		err = errors.Join(err, w.conn.keepWAL(), w.conn.close())
		w.conn, w.walFile = nil, nil
	}
	return err
}

// start lets the writer work.
func (w *writer) start() {
	w.work.Go(w.runScribe)
	w.work.Go(w.runWriter)
}
