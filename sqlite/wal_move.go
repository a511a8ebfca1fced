package sqlite

import (
	"errors"
	"time"

	"github.com/ncruces/go-sqlite3"
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
	frames    int               // how long the WAL is
	moveAt    int               // from this length on a move is tried again
	mustEmpty bool              // bodies were taken away: their old pages must leave the WAL
	mustRenew bool              // what was moved may not be in the database: before the next move the WAL is written anew, and all of it counts as not moved
	mover     mover             // moves it beside the commits
	moving    <-chan moveResult // while the mover works: gets how it ended

	retryAt  time.Time // nothing is tried before
	reopenAt time.Time // after a failure: if no commit has come by then, the writer puts things right by itself
	timer    *time.Timer
}

// noteLength notes how many pages the WAL has after a commit.
func (wl *wal) noteLength(frames int) {
	if frames < wl.frames {
		wl.moveAt = 0 // it was started over
	}
	wl.frames = frames
	wl.mover.walFrames.Store(int64(frames))
}

// worthMoving reports whether the WAL is long enough for another attempt.
func (wl *wal) worthMoving() bool { return wl.frames >= wl.nextMoveAt() }

func (wl *wal) nextMoveAt() int { return max(movePages, wl.moveAt) }

// tried notes an attempt to move all of it. If that succeeds and nobody reads it, the
// next commit starts it over; otherwise it has to grow before it is tried again.
func (wl *wal) tried() { wl.moveAt = wl.frames + growthPages }

// movedTo notes how far the mover has come. What was added since is moved when it is as
// much again, or when the WAL is so long that it has to be finished; where readers were in
// the way, the WAL has to grow before.
func (wl *wal) movedTo(pages int) {
	if pages <= wl.frames { // else it was started over
		wl.moveAt = max(min(pages+movePages, finishPages), wl.frames+growthPages)
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
	wl := &w.wal
	switch {
	case w.conn == nil || time.Now().Before(wl.retryAt):
	case wl.mustEmpty:
		w.awaitMover()
		w.emptyWAL(sqlite3.CHECKPOINT_TRUNCATE)
	case wl.frames >= restartPages:
		// Readers that overlap without end would let the WAL grow without end.
		w.awaitMover()
		w.emptyWAL(sqlite3.CHECKPOINT_RESTART)
	case wl.moving != nil:
		select {
		case m := <-wl.moving:
			w.moverEnded(m)
			if m.err != nil || wl.frames >= finishPages {
				w.finishMove()
			} else {
				wl.movedTo(m.pages)
			}
		default:
		}
	case !wl.worthMoving():
	case movesBeside && !wl.mustRenew:
		w.startMover()
	default:
		w.finishMove()
	}
}

// finishMove moves what the mover has left, or all of the WAL.
func (w *writer) finishMove() {
	w.wal.tried()
	_, _ = w.move(sqlite3.CHECKPOINT_PASSIVE) // it is tried again when the WAL has grown
}

// emptyWAL moves the whole WAL, and makes the next commit start it over, or cuts it off.
// Readers and the disk may be in the way; then it is tried again.
func (w *writer) emptyWAL(mode sqlite3.CheckpointMode) {
	wl := &w.wal
	err := w.moveDespiteReaders(mode)
	if err == nil && wl.mustEmpty {
		err = w.emptyIntents() // what was taken away is in them, too
	}
	if err != nil {
		wl.retryAt = w.wakeLater()
		return
	}
	if mode == sqlite3.CHECKPOINT_TRUNCATE {
		wl.mustEmpty = false
	}
}

// moveDespiteReaders moves the whole WAL, and waits for readers that are in the way, for a moment.
//
// A reader that begins before all of the WAL was moved reads from it, and so keeps it from starting over. Once all of it is moved, further
// readers read the database alone: so the second attempt has to wait only for those who are there already. Without it, short reads
// that overlap without end would be in the way for ever.
func (w *writer) moveDespiteReaders(mode sqlite3.CheckpointMode) error {
	if err := w.conn.db.BusyTimeout(readerTimeout); err != nil {
		return err
	}
	all, err := w.move(mode)
	if all && errors.Is(err, sqlite3.BUSY) {
		_, err = w.move(mode)
	}
	return errors.Join(err, w.conn.db.BusyTimeout(busyTimeout))
}

// renewWALIfDue makes the WAL durable after a failure, and has all of it moved again. After a failed sync the operating system may take pages for
// written that are not, and SQLite does not move again what it has moved; only writing the pages again makes sure.
func (w *writer) renewWALIfDue() error {
	if !w.wal.mustRenew {
		return nil
	}
	if w.walFile != nil {
		if err := w.walHealth.renew(w.walFile.File); err != nil {
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
	if err := w.renewWALIfDue(); err != nil {
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
	wl := &w.wal
	if wl.timer != nil {
		wl.timer.Stop()
	}
	at := time.Now().Add(retryPause) // it must not wake before
	wl.timer = time.AfterFunc(retryPause, w.wakeToTend)
	return at
}
