package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/parley-run/parley"
)

// request is something to be written, and its outcome.
type request struct {
	apply func(*tx) error
	// findDuplicate, if set, reports whether the request was carried out
	// before. That counts before anything else that may be wrong with it. It is called
	// for each request that is refused.
	findDuplicate func(*tx) (bool, error)
	size          int
	mayWait       bool          // for others, up to maxWait
	batch         *parley.Batch // what makes it durable as an intent; nil: the WAL is synced for it

	number      uint64       // of the record; 0: it is not written
	unsettled   atomic.Int32 // how many have something to do before it is done: the writer, and the scribe
	recordErr   error        // the record may not be durable
	inSyncedWAL bool         // the WAL was synced with it, and with all that it has seen: no record is needed

	done   chan struct{}
	err    error
	result parley.Result
}

// settle says that the writer, or the scribe, is done with the request.
func (r *request) settle() {
	if r.unsettled.Add(-1) > 0 {
		return
	}
	if r.recordErr != nil && !r.inSyncedWAL {
		r.err, r.result = unknownOutcome(r.recordErr), parley.Result{}
	}
	close(r.done)
}

// failed reports whether it was answered with an error that is not about the request itself: what it changes is damaged.
func (r *request) failed() bool { return r.err != nil && !refused(r.err) }

// duplicate reports whether the request was carried out before.
func (r *request) duplicate(t *tx) (bool, error) {
	if r.findDuplicate == nil {
		return false, nil
	}
	return r.findDuplicate(t)
}

// fail gives the request an error in place of its result. If there is a record of it, it may be applied
// after a crash.
func (r *request) fail(err error) {
	if r.number != 0 && !errors.Is(err, parley.ErrOutcomeUnknown) {
		err = unknownOutcome(err)
	}
	r.err, r.result = err, parley.Result{}
}

// submit queues a request and waits for its outcome. If ctx ends before the
// request is taken, it is withdrawn and nothing is written.
func (w *writer) submit(ctx context.Context, r *request) error {
	if w.store.cfg.ReadOnly {
		return parley.Errorf(parley.CodeUnavailable, "the store was opened for reading only")
	}
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return translate("commit", ctx.Err())
	}
	defer func() { <-w.slots }()
	if err := ctx.Err(); err != nil {
		return translate("commit", err)
	}
	r.done = make(chan struct{})
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed()
	}
	w.enqueueLocked(r)
	w.mu.Unlock()

	select {
	case <-r.done:
		return w.outcome(ctx, r)
	case <-ctx.Done():
	}
	if w.withdraw(r) {
		return translate("commit", ctx.Err())
	}
	select {
	case <-r.done: // the outcome came at the same moment
		return w.outcome(ctx, r)
	default:
		return unknownOutcome(ctx.Err())
	}
}

// outcome gives what became of a request that is done. One without a record may be refused, or found to be there already, because of
// others that the scribe is still busy with. If it fails, they may be gone after a crash.
func (w *writer) outcome(ctx context.Context, r *request) error {
	if r.number != 0 || r.inSyncedWAL {
		return r.err
	}
	if err := w.awaitDurable(ctx); err != nil {
		return unknownOutcome(err)
	}
	if w.isInDoubt() && (r.err == nil || refused(r.err)) {
		return unknownOutcome(errInDoubt)
	}
	return r.err
}

// errInDoubt says why nobody can be told what a request has met.
var errInDoubt = errors.New("what came before it may not be durable")

// withdraw takes a request out of the queue, if it is still there.
func (w *writer) withdraw(r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.queue {
		if w.queue[i] == r {
			w.queue = slices.Delete(w.queue, i, i+1)
			return true
		}
	}
	return false
}
