package sqlite

import (
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// giveUp closes the connection after a failure. What it was writing is not
// known to be on disk, and what it has cached is not known to be right. The log
// stays, also if nobody else has it open.
func (w *writer) giveUp() error {
	w.awaitMover() // its sync may fail, too
	c := w.conn
	w.checkWALAfterFailure()
	w.conn, w.walFile, w.wal.mustMoveAgain = nil, nil, true
	w.stopIntents()
	return errors.Join(c.keepWAL(), c.close())
}

// checkWALAfterFailure looks whether the log still has what commits have put there. If it does not, nothing may be read any more.
func (w *writer) checkWALAfterFailure() {
	if w.walFile != nil {
		w.walSyncs.checkAfterFailure(w.walFile.File, w.wal.pages)
	}
}

// reopen makes the writer usable again after a failure. The whole write-ahead log
// is moved into the database and synced there before anything else is written: after a
// failed sync the operating system may believe that pages are on disk which are
// not, and only writing them anew makes sure.
func (w *writer) reopen() error {
	if err := w.walSyncs.lostErr(); err != nil {
		return err
	}
	mustWriteAnew := w.wal.moving == nil && w.walSyncs.distrusted.Load()
	if w.conn != nil && (mustWriteAnew || w.intentsStopped()) {
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
	if err := w.move(sqlite3.CHECKPOINT_TRUNCATE); err != nil {
		return errors.Join(fmt.Errorf("checkpoint after a failure: %w", err), w.giveUp())
	}
	err = w.adopt(c)
	if err == nil {
		err = w.startIntentsOver()
	}
	if err != nil {
		return errors.Join(err, w.giveUp())
	}
	return nil
}

// stopIntents has nothing written down until the connection was opened again, before the next commit.
func (w *writer) stopIntents() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.intentsOff = true
	w.store.recall.suspend()            // who sees what was not made durable may see what is not there later
	w.intents.durable.reach(w.numbered) // readers are not kept by what may never be
}

// intentsStopped reports whether nothing is written down.
func (w *writer) intentsStopped() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.intentsOff
}

// startIntentsOver makes intents usable again, when everything that was committed is in the database. What was
// recorded and not applied was not acknowledged. If it still is to be applied, that is done without its intent.
func (w *writer) startIntentsOver() error {
	err := w.intents.reset(func() (missing bool) {
		// Nothing is written at this time. What is numbered later is written later.
		w.mu.Lock()
		defer w.mu.Unlock()
		w.discarded, w.intentsOff = w.numbered, false
		return w.discarded > w.marked
	})
	if err != nil {
		w.stopIntents()
	}
	return err
}
