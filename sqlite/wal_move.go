package sqlite

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// How the WAL is moved, in pages.
const (
	movePages       = 4000   // a WAL of this size is moved into the database
	growthPages     = 1000   // so much has to be added before a move is tried again that readers, or the disk, held up
	finishPages     = 12_000 // where a move ends with a WAL of this size, commits wait until all of it is moved
	restartPages    = 16_000 // at this size readers are waited for, so that it can start over
	maxAddedPages   = 64     // a move goes on at once if commits have added no more than this
	maxPasses       = 5      // but has no more passes than this
	pauseAddedPages = 2000   // a move makes no pauses when commits have added so much since it began
	pauseWALPages   = 8000   // or the WAL has this size

	movePause     = time.Millisecond      // each time the system was asked to write
	readerTimeout = 20 * time.Millisecond // readers are waited for that long
	retryPause    = time.Second           // before that is tried again
	moveAllPause  = 20 * time.Millisecond // before all of the WAL is moved once more, when a store is opened
)

// wal is what the writer knows of the WAL. It belongs to the writer's
// goroutine.
type wal struct {
	pages     int               // how long the WAL is
	moveAt    int               // from this length on a move is tried again
	scrub     bool              // bodies were taken away: their old pages must leave the WAL
	mustRenew bool              // what was moved may not be in the database: before the next move the WAL is written anew, and all of it counts as not moved
	mover     mover             // moves it beside the commits
	moving    <-chan moveResult // while the mover works: gets how it ended

	retryAt  time.Time // nothing is tried before
	reopenAt time.Time // after a failure: if no commit has come by then, the writer puts things right by itself
	timer    *time.Timer
}

// noteLength notes how many pages the WAL has after a commit.
func (l *wal) noteLength(pages int) {
	if pages < l.pages {
		l.moveAt = 0 // it was started over
	}
	l.pages = pages
	l.mover.walPages.Store(int64(pages))
}

// worthMoving reports whether the WAL is long enough for another attempt.
func (l *wal) worthMoving() bool { return l.pages >= l.nextMoveAt() }

func (l *wal) nextMoveAt() int { return max(movePages, l.moveAt) }

// tried notes an attempt to move all of it. If that succeeds and nobody reads it, the
// next commit starts it over; otherwise it has to grow before it is tried again.
func (l *wal) tried() { l.moveAt = l.pages + growthPages }

// movedTo notes how far the mover has come. What was added since is moved when it is as
// much again, or when the WAL is so long that it has to be finished; where readers were in
// the way, the WAL has to grow before.
func (l *wal) movedTo(pages int) {
	if pages <= l.pages { // else it was started over
		l.moveAt = max(min(pages+movePages, finishPages), l.pages+growthPages)
	}
}

// tendWAL moves the WAL into the database, when that is long enough
// or must be emptied. A failure loses nothing, because the WAL stays; if the disk
// is broken, the next commit says so. Readers that are in the way are waited for only
// where the WAL must be emptied, or must start over ([restartPages]), for a moment; then it is tried again a little later.
//
// A WAL of [movePages] is moved by another connection, beside the commits, and
// again when those have added as much. If that finds a moment in which the database has
// all that the WAL has, the WAL starts over. Only a WAL that does not, up to
// [finishPages], is finished by the writer itself, and commits wait for that.
func (w *writer) tendWAL() {
	l := &w.wal
	switch {
	case w.conn == nil || time.Now().Before(l.retryAt):
	case l.scrub:
		w.awaitMover()
		w.emptyWAL(sqlite3.CHECKPOINT_TRUNCATE)
	case l.pages >= restartPages:
		// Readers that overlap without end would let the WAL grow without end.
		w.awaitMover()
		w.emptyWAL(sqlite3.CHECKPOINT_RESTART)
	case l.moving != nil:
		select {
		case m := <-l.moving:
			w.moverEnded(m)
			if m.err != nil || l.pages >= finishPages {
				w.finishMove()
			} else {
				l.movedTo(m.pages)
			}
		default:
		}
	case !l.worthMoving():
	case movesBeside && !l.mustRenew:
		w.startMover()
	default:
		w.finishMove()
	}
}

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

// finishMove moves what the mover has left, or all of the WAL.
func (w *writer) finishMove() {
	w.wal.tried()
	_, _ = w.move(sqlite3.CHECKPOINT_PASSIVE) // it is tried again when the WAL has grown
}

// emptyWAL moves the whole WAL, and makes the next commit start it over, or cuts it off.
// Readers and the disk may be in the way; then it is tried again.
//
// A reader that begins before all of the WAL was moved reads from it, and so keeps it from starting over. Once all of it is moved, further
// readers read the database alone: so the second attempt has to wait only for those who are there already. Without it, short reads
// that overlap without end would be in the way for ever.
func (w *writer) emptyWAL(mode sqlite3.CheckpointMode) {
	l := &w.wal
	err := w.conn.db.BusyTimeout(readerTimeout)
	if err == nil {
		var all bool
		if all, err = w.move(mode); all && errors.Is(err, sqlite3.BUSY) {
			_, err = w.move(mode)
		}
	}
	err = errors.Join(err, w.conn.db.BusyTimeout(busyTimeout))
	if err == nil && l.scrub {
		err = w.emptyIntents() // what was taken away is in them, too
	}
	if err != nil {
		l.retryAt = w.wakeLater()
		return
	}
	if mode == sqlite3.CHECKPOINT_TRUNCATE {
		l.scrub = false
	}
}

// renewWAL makes the WAL durable after a failure, and has all of it moved again. After a failed sync the operating system may take pages for
// written that are not, and SQLite does not move again what it has moved; only writing the pages again makes sure.
func (w *writer) renewWAL() error {
	if !w.wal.mustRenew {
		return nil
	}
	if w.walFile != nil {
		if err := w.walSyncs.renew(w.walFile.File, w.wal.pages); err != nil {
			return err
		}
	}
	if err := forgetMoved(w.store.path); err != nil {
		return err
	}
	w.wal.mustRenew = false
	return nil
}

// move moves the WAL over the writer's connection, and reports whether the database has all of it now. Nobody else does at that time.
func (w *writer) move(mode sqlite3.CheckpointMode) (all bool, err error) {
	if err := w.renewWAL(); err != nil {
		return false, err
	}
	pages, moved, err := w.conn.db.WALCheckpoint("main", mode)
	switch {
	case err == nil && (mode == sqlite3.CHECKPOINT_RESTART || mode == sqlite3.CHECKPOINT_TRUNCATE):
		w.wal.noteLength(0)
	case err != nil && !errors.Is(err, sqlite3.BUSY):
		w.wal.mustRenew = true
		w.checkWALAfterFailure()
	}
	return moved == pages && pages > 0, err
}

// moveAll moves the whole WAL. SQLite does not wait for another who moves it at this moment, so that is done here.
func (w *writer) moveAll() error {
	for until := time.Now().Add(busyTimeout); ; <-time.After(moveAllPause) {
		_, err := w.move(sqlite3.CHECKPOINT_FULL)
		if !errors.Is(err, sqlite3.BUSY) || time.Now().After(until) {
			return err
		}
		w.wal.mustRenew = true
	}
}

// wakeLater wakes the writer for another attempt, in case nobody else does, and gives when that is.
func (w *writer) wakeLater() time.Time {
	l := &w.wal
	if l.timer != nil {
		l.timer.Stop()
	}
	at := time.Now().Add(retryPause) // it must not wake before
	l.timer = time.AfterFunc(retryPause, w.wakeToTend)
	return at
}

// moveResult is how the mover ended: with so many pages of the WAL in the database.
type moveResult struct {
	pages int
	err   error
}

// mover moves the WAL into the database over a connection of its own, so
// that commits wait neither for the pages to be written nor for the sync.
type mover struct {
	walPages atomic.Int64  // that the WAL has by now
	hurry    chan struct{} // is closed when somebody waits for it

	// What follows belongs to its goroutine, while there is one.
	conn         *conn    // nil until it is needed, and after a failure
	file         vfs.File // the database, as it has it open
	pagesAtStart int64
	mayPause     bool
}

// move moves what is in the WAL by now, and then the little that commits have added
// meanwhile, a few times, unless readers are in the way.
func (m *mover) move(s *Store) (pages int, err error) {
	if m.conn == nil {
		err = m.open(s)
	}
	m.pagesAtStart, m.mayPause = m.walPages.Load(), true
	for more, n := err == nil, 0; more && n < maxPasses; n++ {
		before := pages
		pages, err = m.pass()
		added := m.walPages.Load() - int64(pages)
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
	pages := m.walPages.Load()
	if !m.mayPause || pages-m.pagesAtStart >= pauseAddedPages || pages >= pauseWALPages {
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
		wal.syncFunc = s.writer.walSyncs.sync
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
