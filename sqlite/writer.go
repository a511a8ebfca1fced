package sqlite

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley"
)

// writer owns the write connection. Its goroutine, and that of the scribe, live from start to stop: one for
// each group would have to grow its stack to what SQLite needs every time.
type writer struct {
	store *Store
	slots chan struct{} // bounds the queue; callers wait for one

	work        sync.WaitGroup // its goroutine, those of the scribe and the mover
	wakesScribe *sync.Cond     // there is something to take
	wakesWriter *sync.Cond     // there is something to do

	mu                 sync.Mutex
	queue              []*request  // those that neither the scribe nor the writer has taken
	due                bool        // what is queued is to be written
	wait               *time.Timer // sets due after maxWait, for those that may wait
	taken              []*request  // those that the scribe has taken, and the writer has not
	crowded            bool        // the writer takes what is queued itself
	numberedTo         uint64      // the last number that was given
	appliedInDoubt     bool        // what was applied may not be durable, until the WAL was written anew
	intentsPaused      bool        // nothing is written down, until the files were emptied
	intentsPausedUntil time.Time   // they stay paused until then at least
	tendDue            bool        // tend is to be called, though nothing may be queued
	closed             bool
	scribeEnded        bool // the scribe has nothing more to take

	handedOver atomic.Bool // something is taken that the writer does not have yet

	intents    intents
	readableTo atomic.Uint64 // readers may see what was applied up to this number

	walHealth walHealth

	// What follows belongs to the goroutine that applies. Numbers are those of intents:
	// appliedInDB ≤ handled ≤ numbered.
	conn      *conn    // nil after a failure, until it is opened again
	walFile   *walFile // the WAL, as the connection has it open; nil in tests without syncs
	pos       uint64   // of the last event
	handledTo uint64   // the last number among the requests that were applied, refused or given up
	// appliedInDBTo is the column intents.applied: requests up to this number are applied, refused or given up, and the database says so.
	appliedInDBTo   uint64
	withoutIntentTo uint64 // requests up to this number have to do without their intents
	known           knownHeads
	wal             wal
	recentPeak      int // requests in a group, lately
	lastSize        int // requests in the last group

	waitedShortly bool // for the last group
	recovering    bool // what is applied was acknowledged: if one fails, those after it are not applied without it
}

func (w *writer) init(s *Store) {
	w.store, w.walHealth.path = s, s.path
	w.walHealth.readableTo, w.walHealth.frames = &w.readableTo, &w.wal.mover.walFrames
	w.wakesScribe, w.wakesWriter = sync.NewCond(&w.mu), sync.NewCond(&w.mu)
	w.slots = make(chan struct{}, maxQueue)
	w.wait = time.AfterFunc(maxWait, w.waitIsOver)
	w.wait.Stop()
}

// runWriter applies group after group until it is stopped and nothing waits. A group is
// what came while the one before was applied, and while it is being applied itself.
func (w *writer) runWriter() {
	for {
		// After the answers: only who comes next may have to wait for it.
		if w.walFile != nil {
			w.walFile.startWriting()
		}
		w.tend()
		g := w.next()
		if g == nil {
			w.awaitMover()
			return
		}
		if len(g.requests) == 0 {
			continue
		}
		err := w.write(g)
		if lost := w.walHealth.lostErr(); lost != nil && err == nil {
			err = unknownOutcome(lost) // what it has met may have been nonsense
		}
		for _, r := range g.requests {
			if err != nil {
				r.fail(err)
			}
			r.settle()
		}
		w.noteCrowd(len(g.requests))
	}
}

// errSpoiled says that a refused request had written before it was refused.
var errSpoiled = errors.New("a refused request left something behind")

// write applies a group in one transaction. Requests that the store refuses
// have their own error; the error returned is that of the whole group.
//
// Nearly all refusals come before the first write. So the group is tried without
// savepoints, each of which would copy every page its batch touches; only if a
// refused request did write, all is taken back and done again with them.
func (w *writer) write(g *group) error {
	if err := w.ensureOpen(); err != nil {
		return translate("commit", err)
	}
	err := w.attempt(g, w.apply)
	if errors.Is(err, errSpoiled) {
		err = w.attempt(g, w.applyBehindSavepoint)
	}
	return err
}

// attempt runs one transaction over the group.
func (w *writer) attempt(g *group, apply func(*request, *tx) error) error {
	if err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return translate("commit", errors.Join(err, w.giveUp()))
	}
	pos, wrote, scrub := w.pos, false, false
	for i := 0; i < len(g.requests) || w.takeMore(g); i++ {
		r := g.requests[i]
		r.result, r.err = parley.Result{}, nil
		w.handledTo = max(w.handledTo, r.number)
		t := &tx{c: w.conn, pos: pos, known: w.known, result: &r.result}
		switch err := apply(r, t); {
		case err == nil:
			pos, wrote, scrub = t.pos, wrote || t.wrote, scrub || t.scrub
			if t.wrote {
				w.known.remember(t)
			}
		case errors.Is(err, errSpoiled):
			clear(w.known)
			if err := w.conn.exec("ROLLBACK"); err != nil {
				return translate("commit", errors.Join(err, w.giveUp()))
			}
			return errSpoiled
		case fatal(err), w.recovering && !refused(err):
			// Nothing was committed.
			return translate("commit", errors.Join(err, w.giveUp()))
		default:
			r.err, r.result = translate("commit", err), parley.Result{}
			wrote, scrub = wrote || r.failed() && r.number != 0, scrub || t.scrub
		}
	}
	w.wal.mustEmpty = w.wal.mustEmpty || scrub // also if it fails: it may be there all the same
	if !wrote {
		if err := w.conn.exec("ROLLBACK"); err != nil {
			return translate("commit", errors.Join(err, w.giveUp()))
		}
		return nil
	}
	if scrub {
		w.store.recall.suspend()
	}
	if err := w.commit(g); err != nil {
		w.store.recall.suspend() // a read may find what a crash then takes away, and that is not to be kept
		return unknownOutcome(errors.Join(err, w.giveUp()))
	}
	w.resumeRecall()
	w.pos = pos
	return nil
}

// resumeRecall lets what is read be kept, also after a commit that failed: its WAL was written anew since, and what was given up is
// overwritten. While what was applied is in doubt, a read may find what a crash then takes away, and that is not to be kept.
func (w *writer) resumeRecall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.appliedInDoubt {
		w.store.recall.resume()
	}
}

// commit commits what was applied, with the number up to which that is all. The WAL is synced only if
// there are requests without an intent, or intents cannot be relied on.
func (w *writer) commit(g *group) error {
	if w.handledTo > w.appliedInDBTo {
		if err := w.conn.exec(`UPDATE intents SET applied = ?`, w.handledTo); err != nil {
			return err
		}
	}
	w.readableTo.Store(w.handledTo)
	recorded := w.intents.reliedOn.Load() && g.recorded(w.withoutIntentTo)
	if w.walFile != nil {
		w.walFile.deferred = recorded
		defer func() { w.walFile.deferred = false }()
	}
	if err := w.conn.exec("COMMIT"); err != nil {
		return err
	}
	w.appliedInDBTo = w.handledTo
	w.walHealth.writtenTo.Store(w.handledTo)
	if !recorded {
		if err := w.syncWAL(); err != nil {
			return err
		}
		w.intents.durable.reach(w.handledTo) // and all before it
		for _, r := range g.requests {
			r.inSyncedWAL = true
		}
	}
	return nil
}

// syncWAL syncs the WAL if that is still to be done: a commit that changes nothing writes nothing, and so syncs nothing, but may rest on
// others that were not synced.
func (w *writer) syncWAL() error {
	if w.walFile == nil || !w.walFile.unsynced {
		return nil
	}
	return w.walFile.Sync(vfs.SYNC_NORMAL)
}

// apply carries a request out. If it is refused after it has written, the
// transaction is spoiled. A duplicate is always refused, by a table if by
// nothing else, so it is looked for only then.
func (w *writer) apply(r *request, t *tx) error {
	before := w.conn.db.TotalChanges()
	err := r.apply(t)
	switch {
	case err == nil, fatal(err):
		return err
	case w.conn.db.TotalChanges() != before:
		return errSpoiled
	}
	if found, dupErr := r.duplicate(t); found || dupErr != nil {
		return dupErr
	}
	return err
}

// applyBehindSavepoint carries a request out and takes back what it did if it is
// refused.
func (w *writer) applyBehindSavepoint(r *request, t *tx) error {
	if found, err := r.duplicate(t); found || err != nil {
		return err
	}
	if err := w.conn.exec("SAVEPOINT batch"); err != nil {
		return err
	}
	err := r.apply(t)
	if fatal(err) {
		return err
	}
	if err != nil {
		if rollbackErr := w.conn.exec("ROLLBACK TO batch"); rollbackErr != nil {
			return fmt.Errorf("take a refused batch back: %w", rollbackErr)
		}
	}
	if releaseErr := w.conn.exec("RELEASE batch"); releaseErr != nil {
		return releaseErr
	}
	return err
}

// tend does what no request asks for: it puts things right after a failure, if no commit has done so for a while, tries intents again
// that could not be written, keeps them short, and moves the WAL.
func (w *writer) tend() {
	if w.conn == nil || w.isInDoubt() {
		w.reopenWhenDue()
	} else {
		w.retryIntents()
		w.syncWALForIntents()
	}
	w.tendWAL()
	if w.conn != nil && w.walHealth.lostErr() != nil {
		_ = w.giveUp() // the next commit says why
	}
}

// wakeToTend has the writer call tend, in case no request comes.
func (w *writer) wakeToTend() {
	w.mu.Lock()
	w.tendDue = true
	w.mu.Unlock()
	w.wakesWriter.Signal()
}
