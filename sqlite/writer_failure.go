package sqlite

import (
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// giveUp closes the connection after a failure. What it was writing is not
// known to be on disk, and what it has cached is not known to be right. The WAL
// stays, also if nobody else has it open.
func (w *writer) giveUp() error {
	w.awaitMover() // its sync may fail, too
	c := w.conn
	w.checkWALAfterFailure()
	w.conn, w.walFile, w.wal.mustRenew = nil, nil, true
	w.doubtApplied()
	return errors.Join(c.keepWAL(), c.close())
}

// checkWALAfterFailure looks whether the WAL still has what commits have put there. If it does not, nothing may be read any more.
func (w *writer) checkWALAfterFailure() {
	if w.walFile != nil {
		w.walHealth.checkAfterFailure(w.walFile.File)
	}
}

// ensureOpen makes the writer usable again after a failure. The whole WAL is
// written anew and synced before anything else is written. It is moved only where that cannot be done without (see movesBeside): who reads might hold it up.
func (w *writer) ensureOpen() error {
	if err := w.walHealth.lostErr(); err != nil {
		return err
	}
	mustRenewFirst := w.wal.moving == nil && w.walHealth.distrusted.Load()
	if w.conn != nil && (mustRenewFirst || w.isInDoubt()) {
		if err := w.giveUp(); err != nil {
			return err
		}
	}
	if w.conn != nil {
		return nil
	}
	c, err := w.store.connectWriter()
	if err != nil {
		return err
	}
	w.awaitMover()
	w.conn = c
	if err := w.adoptWAL(c); err != nil {
		return errors.Join(err, w.giveUp())
	}
	frames, err := indexedFrames(w.store.path)
	if err != nil {
		return errors.Join(err, w.giveUp())
	}
	// Who reads may have found what a failed commit has left in the WAL. Or less than commits have put there, which is then missing.
	w.wal.noteLength(max(w.wal.frames, frames))
	err = w.renewWALIfDue()
	if err == nil && !movesBeside {
		// What was moved cannot be moved again there, but the rest can.
		_, err = w.move(sqlite3.CHECKPOINT_TRUNCATE)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write the write-ahead log anew after a failure: %w", err), w.giveUp())
	}
	if err := w.adopt(c); err != nil {
		return errors.Join(err, w.giveUp())
	}
	w.mu.Lock()
	w.appliedInDoubt = false
	w.numberedTo++ // a number that no batch has: without a larger one excludeGivenUp would change nothing, and no frame would be written
	w.mu.Unlock()
	_ = w.emptyIntents() // commits do without intents until they can be emptied
	if err := w.excludeGivenUp(); err != nil {
		return errors.Join(err, w.giveUp())
	}
	w.wal.reopenAt = time.Time{}
	return nil
}

// excludeGivenUp has the database say, durably, that no batch that was given up is to be applied any more: others were answered without
// it. Such a batch may survive a crash in two places. In the intents: recovery leaves out numbers up to the one that is written here. Or
// whole in the WAL, behind what readers are shown, if only the sync of its commit failed: this commit overwrites its first frames, and
// SQLite then does not take the rest.
func (w *writer) excludeGivenUp() error {
	for _, sql := range []string{"BEGIN IMMEDIATE", fmt.Sprintf("UPDATE intents SET applied = %d", w.handledTo), "COMMIT"} {
		if err := w.conn.db.Exec(sql); err != nil {
			return err
		}
	}
	w.appliedInDBTo = w.handledTo
	w.walHealth.writtenTo.Store(w.handledTo)
	return nil
}

// reopenWhenDue reopens the writer when no commit has done so for a while: what was redacted is to leave the WAL, and what readers are shown
// is to be durable, also where nobody writes any more.
func (w *writer) reopenWhenDue() {
	wl := &w.wal
	switch {
	case w.walHealth.lostErr() != nil: // only a start helps
	case wl.reopenAt.IsZero():
		wl.reopenAt = w.wakeLater()
	case !time.Now().Before(wl.reopenAt):
		if err := w.ensureOpen(); err != nil { // the next commit says why
			wl.reopenAt = w.wakeLater()
		}
	}
}

// doubtApplied has nothing written down for a while, after what was could not be made durable. Until the WAL was written anew, readers may be
// shown what is not.
func (w *writer) doubtApplied() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doubtAppliedLocked()
}

// noteFailedIntentWrite has nothing written down for a while. If commits have relied on what could not be written, readers may be shown what is
// not durable (doubtApplied). After a failure they do not rely on it, until something was written.
func (w *writer) noteFailedIntentWrite() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.intents.reliedOn.Load() {
		w.doubtAppliedLocked()
	} else {
		w.pauseIntentsLocked()
	}
}

func (w *writer) doubtAppliedLocked() {
	w.pauseIntentsLocked()
	w.appliedInDoubt = true
	w.store.recall.suspend()              // a read may find what a crash then takes away, and that is not to be kept
	w.intents.durable.reach(w.numberedTo) // readers are not kept by what may never be
	w.tendDue = true                      // in case no commit comes
	w.wakesWriter.Signal()
}

// isInDoubt reports whether what was applied may not be durable, until the WAL was written anew.
func (w *writer) isInDoubt() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.appliedInDoubt
}
