package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
)

// WithVFS opens the store's files through a registered VFS.
func WithVFS(cfg Config, name string) Config {
	cfg.vfs = name
	return cfg
}

// WithSynchronous opens the store with another synchronous mode than FULL.
func WithSynchronous(cfg Config, mode string) Config {
	cfg.synchronous = mode
	return cfg
}

// NewestVersion is the version of the schema.
func NewestVersion() int { return newest() }

// MigrateTo moves the schema of a store that nobody has open, up or down, to one version after the other.
func MigrateTo(ctx context.Context, path string, cfg Config, versions ...int) (err error) {
	path, err = realPath(path)
	if err != nil {
		return err
	}
	s := &Store{path: path, cfg: cfg, vfs: cfg.vfs}
	if err := s.registerVFS(); err != nil {
		return err
	}
	defer s.unregisterVFS()
	c, err := s.connectWriter()
	if err != nil {
		return err
	}
	for _, version := range versions {
		from, readErr := readVersion(path, c)
		if err = readErr; err == nil {
			err = migrate(ctx, c, from, version)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, c.close())
}

// Abandon lets go of a store as the system does for a process that died: its files are closed, and the lock is gone, but nothing is moved,
// taken away or emptied. Close then finds nothing to do, because by that time the store may be another's.
func Abandon(s *Store) (err error) {
	s.closeOnce.Do(func() {
		s.writer.stop()
		err = errors.Join(s.readers.close(), s.writer.wal.mover.close(), s.writer.abandonOpen())
		s.recall.suspend()
		s.unregisterVFS()
		err = errors.Join(err, s.lock.release())
	})
	return err
}

// CrowdFrom is how many batches in a group make a crowd.
const CrowdFrom = crowdFrom

// InCrowd reports whether there is a crowd.
func InCrowd(s *Store) bool {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return s.writer.crowded
}

// HoldWriter makes the writer wait, in a group that has nothing to commit yet, until the
// returned function is called. It returns when the writer waits.
func HoldWriter(s *Store) (release func()) {
	return hold(s, func(*tx) error { return nil })
}

// HoldWritingGroup makes the writer wait in the same way, with something to commit.
func HoldWritingGroup(s *Store) (release func()) {
	return hold(s, func(t *tx) error {
		t.wrote = true
		return t.c.exec(`INSERT OR REPLACE INTO meta (name, value) VALUES ('held', 1)`)
	})
}

// HoldRecorded makes the writer wait in the same way, with a request that has an intent: so what joins its group is acknowledged without a
// sync of the WAL.
func HoldRecorded(s *Store) (release func()) {
	return holdWith(s, &parley.Batch{At: time.Now().UTC()}, func(*tx) error { return nil })
}

// IsClosing reports whether Close was called.
func IsClosing(s *Store) bool {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return s.writer.closed
}

// IsTaken reports whether a batch of that session is handed over to the writer.
func IsTaken(s *Store, id parley.SessionID) bool {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return slices.ContainsFunc(s.writer.taken, func(r *request) bool {
		return r.batch != nil && len(r.batch.Sessions) > 0 && r.batch.Sessions[0].Session == id
	})
}

// AwaitFailedSync waits until a sync of the WAL has failed, and reports whether something was lost by it.
func AwaitFailedSync(s *Store) (lost bool) {
	h := &s.writer.walHealth
	for !h.distrusted.Load() {
		runtime.Gosched()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost.Load()
}

func hold(s *Store, first func(*tx) error) (release func()) { return holdWith(s, nil, first) }

func holdWith(s *Store, b *parley.Batch, first func(*tx) error) (release func()) {
	taken, released := make(chan struct{}), make(chan struct{})
	r := &request{batch: b, done: make(chan struct{}), apply: func(t *tx) error {
		err := first(t)
		close(taken)
		<-released
		return err
	}}
	s.writer.mu.Lock()
	s.writer.enqueueLocked(r)
	s.writer.mu.Unlock()
	<-taken
	return func() {
		close(released)
		<-r.done
	}
}

// SubmitHeld commits a request that, inside the transaction, closes started and
// waits for finish.
func SubmitHeld(ctx context.Context, s *Store, started, finish chan struct{}) error {
	return s.writer.submit(ctx, &request{apply: func(*tx) error {
		close(started)
		<-finish
		return nil
	}})
}

// FailTransaction makes the transaction fail in which it is applied, as if the file had.
func FailTransaction(ctx context.Context, s *Store) error {
	return s.writer.submit(ctx, &request{apply: func(*tx) error { return sqlite3.IOERR }})
}

// HoldReader begins a read that sees the present moment until the returned
// function is called.
func HoldReader(ctx context.Context, s *Store) (release func()) {
	begun, finish, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.read(ctx, "hold", func(c *conn) error {
			_, err := c.exists(`SELECT 1 FROM sessions`)
			close(begun)
			<-finish
			return err
		})
	}()
	<-begun
	return func() {
		close(finish)
		<-done
	}
}

// Statements gives what the writer has prepared so far.
func Statements(ctx context.Context, s *Store) (list []string, err error) {
	err = s.writer.submit(ctx, &request{apply: func(t *tx) error {
		list = slices.Sorted(maps.Keys(t.c.stmts))
		return nil
	}})
	return list, err
}

// ReadStatements gives what idle readers have prepared so far.
func ReadStatements(s *Store) (list []string) {
	s.readers.mu.Lock()
	defer s.readers.mu.Unlock()
	for _, c := range s.readers.idle {
		list = slices.AppendSeq(list, maps.Keys(c.stmts))
	}
	return list
}

// AuditSQL gives the statement that a query for the audit becomes.
func AuditSQL(q parley.AuditQuery) string {
	sql, _ := auditQuery(q)
	return sql
}

// SpentSQL gives the statement that a query for usage becomes.
func SpentSQL(q parley.SpentQuery) string {
	sql, _ := spentQuery(q)
	return sql
}

// Orphan is a query for rows that belong to nothing, and what is said of them.
type Orphan struct{ Kind, SQL string }

// Orphans gives the queries that Check asks.
func Orphans() (list []Orphan) {
	for _, o := range orphans {
		list = append(list, Orphan{o.kind, o.sql})
	}
	return list
}

// Replanned gives how often the statements of idle readers, and of the writer, were
// planned again after they had been prepared.
func Replanned(s *Store) (n int) {
	s.readers.mu.Lock()
	defer s.readers.mu.Unlock()
	for _, c := range append(slices.Clone(s.readers.idle), s.writer.conn) {
		for _, stmt := range c.stmts {
			n += stmt.Status(sqlite3.STMTSTATUS_REPREPARE, false)
		}
	}
	return n
}

// Inspect looks at a store's file as Open does first.
func Inspect(path string) (found bool, err error) { return inspect(path, nil) }

// CloseIdleReaders closes the connections of readers that are idle.
func CloseIdleReaders(s *Store) (err error) {
	s.readers.mu.Lock()
	defer s.readers.mu.Unlock()
	for _, c := range s.readers.idle {
		err = errors.Join(err, c.close())
	}
	s.readers.idle = nil
	return err
}

// CountTransactions counts the transactions that are committed from now on.
func CountTransactions(ctx context.Context, s *Store) (*atomic.Int64, error) {
	n := new(atomic.Int64)
	return n, s.writer.submit(ctx, &request{apply: func(t *tx) error {
		t.c.db.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
			n.Add(1)
			s.writer.wal.noteLength(pages)
			return nil
		})
		return nil
	}})
}

// MaxWait is how long a batch that may wait does so.
const MaxWait = maxWait

// QueuedRequests gives how many requests wait to be applied.
func QueuedRequests(s *Store) int {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return len(s.writer.queue) + len(s.writer.taken)
}

// Recordable reports whether a batch is written down before it is applied.
func Recordable(b parley.Batch) bool { return recordable(&b) }

// IntentSuffixes are the names of the files of intents, after the path of the store.
var IntentSuffixes = intentSuffixes

// HandedOver gives how many requests the writer may take into its group.
func HandedOver(s *Store) int {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return len(s.writer.taken)
}

// MovedAgainAt gives from which length on a WAL of so many pages is moved again, when the
// mover has moved that many of it.
func MovedAgainAt(pages, moved int) int {
	l := wal{frames: pages}
	l.movedTo(moved)
	return l.nextMoveAt()
}

// MoveAttempts gives at which lengths of the WAL it is tried to move all of it,
// if it has these lengths after one commit and the next.
func MoveAttempts(pages ...int) (at []int) {
	var l wal
	for _, n := range pages {
		l.noteLength(n)
		if l.worthMoving() {
			l.tried()
			at = append(at, n)
		}
	}
	return at
}

// PagesRead gives how many pages idle readers had to read since it was last asked.
func PagesRead(s *Store) (n int64) {
	s.readers.mu.Lock()
	defer s.readers.mu.Unlock()
	for _, c := range s.readers.idle {
		missed, _, err := c.db.Status(sqlite3.DBSTATUS_CACHE_MISS, true)
		if err != nil {
			panic(err)
		}
		n += missed
	}
	return n
}

// Recalled gives how many runs of events are kept, and how large they are.
func (s *Store) Recalled() (runs, bytes int) {
	s.recall.mu.Lock()
	defer s.recall.mu.Unlock()
	return s.recall.order.Len(), s.recall.bytes
}

// How much may be kept, and for how long.
const (
	MaxRecalled = maxRecalled
	MaxRun      = maxRun
	KeptUnused  = keptUnused
)

// Recall is what keeps events, without a store.
type Recall struct{ recall }

// Keep keeps events of a log as somebody does who read all from first to last: those with the seqs,
// each of a size.
func (r *Recall) Keep(log int64, size int, first, last uint64, seqs ...uint64) {
	var events []parley.Event
	for _, seq := range seqs {
		events = append(events, parley.Event{Seq: seq, Data: make([]byte, size)})
	}
	r.keep(r.begin(), runKey{log: log}, first, last, events)
}

// Known gives the seqs that are kept of a log, for who asks for all of it.
func (r *Recall) Known(log int64) (seqs []uint64) {
	events, _ := r.known(r.begin(), runKey{log: log}, 1, 1<<30, 1<<30)
	for _, e := range events {
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// Size gives how many runs are kept, and how large they are.
func (r *Recall) Size() (runs, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order.Len(), r.bytes
}

// End stops what a store stops when it is closed.
func (r *Recall) End() { r.suspend() }

// Damage changes something behind the store's back, while it is open.
func Damage(ctx context.Context, s *Store, sql string) error {
	return s.writer.submit(ctx, &request{apply: func(t *tx) error {
		t.wrote, t.forget = true, true
		return t.c.exec(sql)
	}})
}

// WALFrames gives how many frames a store's WAL has by its index, and how many of those that it has are whole.
func WALFrames(path string) (indexed, whole int, err error) {
	if indexed, err = indexedFrames(path); err != nil {
		return 0, 0, err
	}
	f, err := os.Open(path + walSuffix)
	if err != nil {
		return 0, 0, err
	}
	whole, err = wholeFrames(f)
	return indexed, whole, errors.Join(err, f.Close())
}

// FindIntentsThatGo looks for a store's intents, each of which goes between being found and being opened.
func FindIntentsThatGo(path string) (found bool, err error) {
	in := &intents{store: &Store{path: path}}
	return in.openExisting(func(path string) (sideFile, error) { return nil, errors.Join(os.Remove(path), fs.ErrNotExist) })
}

// Translate turns an error of the driver or of the system into one of the domain.
func Translate(op string, err error) error { return translate(op, err) }
