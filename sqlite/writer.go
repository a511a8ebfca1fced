package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
)

// writer owns the write connection. Its goroutine lives from run to stop: one for
// each group would have to grow its stack to what SQLite needs every time.
type writer struct {
	store *Store
	slots chan struct{} // bounds the queue; callers wait for one

	mu     sync.Mutex
	wakes  *sync.Cond // there is something to do
	woken  bool       // for something else than a request
	queue  []*request
	closed bool
	work   sync.WaitGroup

	// What follows belongs to the goroutine.
	conn  *conn  // nil after a failure, until it is opened again
	pos   uint64 // of the last event
	known knownHeads
	log   log
	usual int // requests in a group, lately
}

// request is something to be written, and its outcome.
type request struct {
	apply func(*tx) error
	// findDuplicate, if set, reports whether the request was carried out
	// before. That counts before anything else that may be wrong with it.
	findDuplicate func(*tx) (bool, error)
	size          int

	done   chan struct{}
	err    error
	result parley.Result
}

func (w *writer) init(s *Store) {
	w.store = s
	w.wakes = sync.NewCond(&w.mu)
	w.slots = make(chan struct{}, maxQueue)
}

// start takes over a connection to a store that is up to date.
func (w *writer) start(c *conn) error {
	w.conn = c
	c.db.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
		w.log.has(pages)
		return nil
	})
	w.known = knownHeads{}
	var err error
	w.pos, err = lastPos(c)
	return err
}

// lastPos gives the highest position ever given to an event. The events
// themselves do not tell, because the last ones may have been deleted.
func lastPos(c *conn) (pos uint64, err error) {
	_, err = c.one(func(r row) { pos = r.seq(0) },
		`SELECT max(ifnull((SELECT max(pos) FROM events), 0), ifnull((SELECT value FROM meta WHERE name = 'pos'), 0))`)
	return pos, err
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
	w.queue = append(w.queue, r)
	w.mu.Unlock()
	w.wakes.Signal()

	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	if w.withdraw(r) {
		return translate("commit", ctx.Err())
	}
	select {
	case <-r.done: // the outcome came at the same moment
		return r.err
	default:
		return unknownOutcome(ctx.Err())
	}
}

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

// group is requests that are written and synced together.
type group struct {
	requests []*request
	size     int
	yielded  bool // others were let run once
}

// run lets the writer work.
func (w *writer) run() { w.work.Go(w.drain) }

// drain writes group after group until it is stopped and nothing waits. A group is
// what came while the one before was synced, and while it is being applied itself.
func (w *writer) drain() {
	for {
		// After the answers: nobody has to wait for it.
		w.checkpoint()
		g := w.next()
		if g == nil {
			w.awaitMover()
			return
		}
		if len(g.requests) == 0 {
			continue
		}
		err := w.write(g)
		for _, r := range g.requests {
			if err != nil {
				r.err, r.result = err, parley.Result{}
			}
			close(r.done)
		}
		w.usual = max(len(g.requests), w.usual-w.usual/4)
	}
}

// next begins a group, when there is something to do. The group is empty if that is
// the log, and nil when the writer was stopped and nothing waits.
func (w *writer) next() *group {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && !w.woken && !w.closed {
		w.wakes.Wait()
	}
	if len(w.queue) == 0 && w.closed {
		return nil
	}
	w.woken = false
	g := &group{}
	w.fill(g)
	return g
}

// more lets those join a group who came while it was applied. Who was answered
// together comes back together; but if the other processors are busy, the first of
// them and the writer would keep handing this one to each other, and the rest wait.
// So where a group is much smaller than usual, the others are let run once before it
// is written. A few are not worth that: it may be long until all have paused.
func (w *writer) more(g *group) bool {
	if w.join(g) {
		return true
	}
	if g.yielded || w.usual < manyRequests || len(g.requests) > w.usual/2 {
		return false
	}
	g.yielded = true
	runtime.Gosched()
	return w.join(g)
}

func (w *writer) join(g *group) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fill(g)
}

// fill takes what fits from the queue. The mutex is held.
func (w *writer) fill(g *group) bool {
	n := 0
	for n < len(w.queue) && len(g.requests) < maxGroup && (len(g.requests) == 0 || g.size+w.queue[n].size <= maxGroupBytes) {
		g.requests = append(g.requests, w.queue[n])
		g.size += w.queue[n].size
		n++
	}
	w.queue = slices.Delete(w.queue, 0, n)
	return n > 0
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
	if err := w.reopen(); err != nil {
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
	for i := 0; i < len(g.requests) || w.more(g); i++ {
		r := g.requests[i]
		r.result, r.err = parley.Result{}, nil
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
		case fatal(err):
			// Nothing was committed, so nothing was written.
			return translate("commit", errors.Join(err, w.giveUp()))
		default:
			r.err, r.result = translate("commit", err), parley.Result{}
		}
	}
	if !wrote {
		if err := w.conn.exec("ROLLBACK"); err != nil {
			return translate("commit", errors.Join(err, w.giveUp()))
		}
		return nil
	}
	if err := w.conn.exec("COMMIT"); err != nil {
		return unknownOutcome(errors.Join(err, w.giveUp()))
	}
	w.pos, w.log.scrub = pos, w.log.scrub || scrub
	return nil
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

func (r *request) duplicate(t *tx) (bool, error) {
	if r.findDuplicate == nil {
		return false, nil
	}
	return r.findDuplicate(t)
}

// giveUp closes the connection after a failure. What it was writing is not
// known to be on disk, and what it has cached is not known to be right. The log
// stays, whoever else has it open.
func (w *writer) giveUp() error {
	c := w.conn
	w.conn, w.log.doubt = nil, true
	return errors.Join(c.keepLog(), c.close())
}

// reopen makes the writer usable again after a failure. The whole write-ahead log
// is moved into the database and synced there before anything else is written: after a
// failed sync the operating system may believe that pages are on disk which are
// not, and only writing them anew makes sure.
func (w *writer) reopen() error {
	if w.conn != nil {
		return nil
	}
	c, err := w.store.connectWriter()
	if err != nil {
		return err
	}
	w.awaitMover()
	w.conn = c
	if err := w.move(sqlite3.CHECKPOINT_TRUNCATE); err != nil {
		return errors.Join(fmt.Errorf("checkpoint after a failure: %w", err), w.giveUp())
	}
	if err := w.start(c); err != nil {
		return errors.Join(err, w.giveUp())
	}
	return nil
}

// wake makes the writer look at the log, in case nobody else does.
func (w *writer) wake() {
	w.mu.Lock()
	w.woken = true
	w.mu.Unlock()
	w.wakes.Signal()
}

// stop refuses further requests and waits for those that are queued.
func (w *writer) stop() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wakes.Signal()
	w.work.Wait()
	if w.log.timer != nil {
		w.log.timer.Stop()
	}
}

// close closes the connections, after stop. The last one moves what is in the log, and
// takes the log away if that succeeds: where a move has failed, it must be all of it.
func (w *writer) close() error {
	err := w.log.mover.close()
	if w.conn == nil {
		return err
	}
	if w.log.doubt {
		again := moveAgain(w.store.path)
		if errors.Is(again, fs.ErrNotExist) {
			again = nil // nobody has the log open
		}
		if again != nil {
			err = errors.Join(err, again, w.conn.keepLog())
		}
	}
	c := w.conn
	w.conn = nil
	return errors.Join(err, c.close())
}
