package sqlite

import (
	"context"
	"time"
)

// runScribe takes what is queued, group after group, hands it to the writer, and makes it durable while it
// is applied. It ends when the writer was stopped and nothing is queued.
func (w *writer) runScribe() {
	for taken := w.takeForScribe(nil); taken != nil; taken = w.takeForScribe(taken) {
		err := w.intents.write(taken)
		if err != nil {
			w.noteFailedIntentWrite()
		}
		for _, r := range taken {
			if r.number != 0 {
				r.recordErr = err
				r.settle()
			}
		}
	}
}

// takeForScribe waits until something is due, and takes it. It gives nil when there will be nothing more. The room of the last
// group is used again.
func (w *writer) takeForScribe(last []*request) []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(last) // nobody needs them any more
	g := group{requests: last[:0]}
	for {
		mayTake := w.closed || !w.crowded && len(w.taken) < maxGroupRequests
		if mayTake && w.takeQueuedLocked(&g) > 0 {
			break
		}
		if w.closed {
			w.scribeEnded = true
			w.wakesWriter.Signal()
			return nil
		}
		w.wakesScribe.Wait()
	}
	mayNumber := !w.intentsPaused && !time.Now().Before(w.intentsPausedUntil)
	for _, r := range g.requests {
		if r.batch != nil && mayNumber {
			w.numberedTo++
			r.number = w.numberedTo
			r.unsettled.Store(2)
		}
	}
	w.taken = append(w.taken, g.requests...)
	w.handedOver.Store(true)
	w.wakesWriter.Signal()
	return g.requests
}

// awaitDurable waits until everything is durable that readers may have seen by now: SQLite shows what
// it has applied, which may be before the scribe is done with it. What could not be written down is not waited for.
func (w *writer) awaitDurable(ctx context.Context) error {
	return w.intents.durable.await(ctx, w.readableTo.Load())
}
