package sqlite

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// startMover lets the WAL be moved beside the commits.
func (w *writer) startMover() {
	w.wal.mover.hurry = make(chan struct{})
	over := make(chan moveResult, 1)
	w.wal.moving = over
	w.work.Go(func() {
		pages, err := w.wal.mover.move(w.store)
		over <- moveResult{pages, err}
		w.wakeToTend()
	})
}

// awaitMover waits until nobody else moves the WAL.
func (w *writer) awaitMover() {
	if w.wal.moving != nil {
		close(w.wal.mover.hurry)
		w.moverEnded(<-w.wal.moving)
	}
}

// moverEnded notes that the mover is done.
func (w *writer) moverEnded(m moveResult) {
	w.wal.moving = nil
	w.wal.mustRenew = w.wal.mustRenew || m.err != nil
}

// moveResult is how the mover ended: with so many pages of the WAL in the database.
type moveResult struct {
	pages int
	err   error
}

// mover moves the WAL into the database over a connection of its own, so
// that commits wait neither for the pages to be written nor for the sync.
type mover struct {
	walFrames atomic.Int64  // that the WAL has by now
	hurry     chan struct{} // is closed when somebody waits for it

	// What follows belongs to its goroutine, while there is one.
	conn          *conn    // nil until it is needed, and after a failure
	file          vfs.File // the database, as it has it open
	framesAtStart int64
	mayPause      bool
}

// move moves what is in the WAL by now, and then the little that commits have added
// meanwhile, a few times, unless readers are in the way.
func (m *mover) move(s *Store) (pages int, err error) {
	if m.conn == nil {
		err = m.open(s)
	}
	m.framesAtStart, m.mayPause = m.walFrames.Load(), true
	for more, n := err == nil, 0; more && n < maxPasses; n++ {
		before := pages
		pages, err = m.pass()
		added := m.walFrames.Load() - int64(pages)
		more = err == nil && pages > before && added > 0 && added <= maxAddedPages
		m.mayPause = false
	}
	if err != nil {
		err = errors.Join(err, m.close()) // another connection may do better
	}
	return pages, err
}

// pass moves what is in the WAL by now. SQLite syncs the database only when the whole
// WAL was moved, which the commits beside it may prevent; so the sync is made here.
func (m *mover) pass() (pages int, err error) {
	_, pages, err = m.conn.db.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
	if err == nil {
		err = m.file.Sync(vfs.SYNC_NORMAL)
	}
	return pages, err
}

// pause lets others have the processor and the disk, in the first pass and for as long as
// commits do not add much meanwhile.
func (m *mover) pause() {
	pages := m.walFrames.Load()
	if !m.mayPause || pages-m.framesAtStart >= pauseAddedPages || pages >= pauseWALPages {
		runtime.Gosched()
		return
	}
	select {
	case <-time.After(movePause):
	case <-m.hurry:
	}
}

func (m *mover) open(s *Store) (err error) {
	if m.conn, err = s.connectWriter(); err != nil {
		return err
	}
	if err := m.conn.keepWAL(); err != nil {
		return err
	}
	f, err := m.conn.db.FileControl("main", sqlite3.FCNTL_FILE_POINTER)
	if err != nil {
		return err
	}
	m.file = f.(vfs.File)
	if db, ok := m.file.(*dbFile); ok {
		db.pauseFunc = m.pause
	}
	// The WAL is open when something was read.
	if _, err := m.conn.exists(`SELECT 1 FROM meta`); err != nil {
		return err
	}
	if f, err = m.conn.db.FileControl("main", sqlite3.FCNTL_JOURNAL_POINTER); err != nil {
		return err
	}
	if wal, ok := f.(*walFile); ok {
		wal.syncFunc = s.writer.walHealth.sync
	}
	return nil
}

func (m *mover) close() error {
	c := m.conn
	if c == nil {
		return nil
	}
	m.conn, m.file = nil, nil
	return c.close()
}
