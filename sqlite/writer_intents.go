package sqlite

import "time"

// emptyIntents makes intents usable again, when everything that was committed is durable in the WAL or the database. What was
// recorded and not applied was not acknowledged. If it still is to be applied, that is done without its intent.
func (w *writer) emptyIntents() error {
	err := w.intents.reset(func() (discarded uint64, missing bool) {
		// Nothing is written at this time, and what comes until it is done gets no number.
		w.mu.Lock()
		defer w.mu.Unlock()
		w.withoutIntentTo, w.intentsPaused = w.numberedTo, true
		return w.withoutIntentTo, w.withoutIntentTo > w.appliedInDBTo
	})
	w.handledTo = w.withoutIntentTo // if it is still written down, it must not be applied after what comes now
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.pauseIntentsLocked()
		return err
	}
	w.intentsPaused = false
	return nil
}

// pauseIntentsLocked has commits do without intents for a while: the WAL is synced for them.
func (w *writer) pauseIntentsLocked() {
	w.intentsPaused, w.intentsPausedUntil = true, time.Now().Add(retryPause)
	w.intents.reliedOn.Store(false)
}

// retryIntents empties intents that could not be emptied after a failure, so that they are written again.
func (w *writer) retryIntents() {
	w.mu.Lock()
	due := w.intentsPaused && !time.Now().Before(w.intentsPausedUntil)
	w.mu.Unlock()
	if due {
		_ = w.emptyIntents() // commits do without them until then
	}
}

// syncWALForIntents syncs the WAL if the intents have grown long, so that a file of them can start over.
func (w *writer) syncWALForIntents() {
	if !w.intents.wantsWALSync.CompareAndSwap(true, false) {
		return
	}
	if err := w.syncWAL(); err != nil {
		_ = w.giveUp() // the next commit says why, if it still is so
	}
}
