package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
)

// Sizes. A group is bounded so that one transaction never holds others up for
// long; the queue is bounded so that callers wait with their context instead of
// filling memory.
const (
	maxGroupRequests = 256
	maxGroupBytes    = 4 << 20
	maxQueue         = 1024
	crowdFrom        = 8 // requests in groups of late; see noteCrowd and takeMore
	defaultReaders   = 4

	// The writer looks around so often before it goes to sleep, if its last wait was short. That takes about as long as a short wait.
	maxLooks  = 1000
	shortWait = 200 * time.Microsecond

	// SQLite walks the whole cache of a connection at the end of a commit that has put pages of a tree in another order: with 8 MiB
	// that took a fifth of the writer's time in a busy daemon. What is not in it is in the system's memory, and what a
	// larger transaction has changed SQLite writes to the WAL before its end.
	writerCacheKiB = 2 << 10
	readerCacheKiB = 4 << 10

	pageBytes = 4096

	maxWait     = 2 * time.Millisecond // a batch that may wait for others does so no longer
	busyTimeout = 5 * time.Second      // a connection waits that long for another
)

// Config says how a store is opened. The zero value is right for most.
type Config struct {
	// ReadOnly opens an existing store beside the process that writes it.
	// Commit is refused.
	ReadOnly bool
	// Key is the key of an encrypted store, [KeyBytes] long. nil: the store is
	// not encrypted. A store that does not exist is made accordingly.
	Key []byte
	// Readers is the number of reads that run at the same time; 0 means 4.
	Readers int
	// TellFunc is told what a person should know, such as where the copy is
	// that was kept before an upgrade. nil: nobody is told.
	TellFunc func(string)

	vfs         string // for tests: a registered VFS
	synchronous string // for tests: "" is FULL
}

// Store is a [parley.Store] in one SQLite file.
type Store struct {
	path string
	cfg  Config
	vfs  string // what its files are opened through
	// What the connections that write open them through.
	writerVFS     string
	unregisterVFS func() // lets go of both
	lock          *fileLock
	readers       readers
	writer        writer
	recall        recall

	closeOnce sync.Once
	closeErr  error
}

var _ parley.Store = (*Store)(nil)

// Open opens the store at path, and makes it if there is none (its folder has
// to exist). A store of an older Parley is upgraded, after a copy was put beside
// it. A store that another process has open for writing is
// [parley.CodeUnavailable]; a file that is damaged, is something else, or comes
// from a newer Parley is [parley.CodeInvalid], and nothing is touched.
func Open(ctx context.Context, path string, cfg Config) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, translate(opOpen, err)
	}
	path, err := realPath(path)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeInvalid, Op: opOpen, Err: err}
	}
	if cfg.Readers <= 0 {
		cfg.Readers = defaultReaders
	}
	if cfg.TellFunc == nil {
		cfg.TellFunc = func(string) {}
	}
	s := &Store{path: path, cfg: cfg, vfs: cfg.vfs}
	s.readers.init(s)
	s.writer.init(s)
	if err := s.registerVFS(); err != nil {
		return nil, translate(opOpen, err)
	}
	if err := s.open(ctx); err != nil {
		s.unregisterVFS()
		return nil, err
	}
	return s, nil
}

// registerVFS makes what the files of the store are opened through.
func (s *Store) registerVFS() error {
	unregisterCipher := func() {}
	if s.cfg.Key != nil {
		var err error
		if s.vfs, unregisterCipher, err = registerCipherVFS(s.cfg.vfs, s.cfg.Key); err != nil {
			return err
		}
	}
	unregisterWriter := func() {}
	if !s.cfg.ReadOnly {
		s.writerVFS, unregisterWriter = registerWriterVFS(s.vfs)
	}
	s.unregisterVFS = func() { unregisterWriter(); unregisterCipher() }
	return nil
}

func (s *Store) open(ctx context.Context) error {
	found, err := inspectToOpen(s.path, s.cfg.Key, s.cfg.ReadOnly)
	if err != nil {
		return err
	}
	if s.cfg.ReadOnly {
		if !found {
			return notFound("there is no store at %s", s.path)
		}
		return s.checkReadable()
	}
	if s.lock, err = takeLock(s.path + ".lock"); err != nil {
		return err
	}
	// Who had the lock until now may have made it, or put another in its place.
	if found, err = inspect(s.path, s.cfg.Key); err != nil {
		return errors.Join(err, s.lock.release())
	}
	if err := s.openWriter(ctx, found); err != nil {
		return errors.Join(s.translateOpen(err), s.lock.release())
	}
	matchOwner(s.path, s.path+".lock") // who may read the store looks at it
	return nil
}

// checkReadable refuses a store that this Parley would have to upgrade.
func (s *Store) checkReadable() error {
	version, err := s.peek()
	if err == nil && version < newest() {
		err = parley.Errorf(parley.CodeUnavailable,
			"%s was made by an older Parley and has to be upgraded first: open it for writing once, with `parley serve` or `parley doctor --rebuild`", s.path)
	}
	if err == nil {
		err = s.checkNothingIsMissing()
	}
	return s.translateOpen(err)
}

// translateOpen turns an error of opening into one of the domain. A store that cannot even be opened has nothing that a doctor could
// look at.
func (s *Store) translateOpen(err error) error {
	if damaged(err) {
		return &parley.Error{Code: parley.CodeInvalid, Op: opOpen, Message: fmt.Sprintf("%s is damaged or truncated; restore a backup", s.path), Err: err}
	}
	return translate(opOpen, err)
}

// peek reads the version of the store without changing a byte: a connection
// that could write would move a WAL that is not ours into the
// database when it is closed.
func (s *Store) peek() (version int, err error) {
	c, err := s.connectReader()
	if err != nil {
		return 0, err
	}
	version, err = readVersion(s.path, c)
	matchOwnerOfWALIndex(s.path)
	return version, errors.Join(err, c.close())
}

// openWriter makes the file if there is none, brings it up to date, and takes
// the write connection.
func (s *Store) openWriter(ctx context.Context, found bool) error {
	if !found {
		if err := s.create(ctx); err != nil {
			return err
		}
	} else if err := s.rebuildWALIndex(); err != nil {
		return err
	} else if version, err := s.peek(); err != nil {
		return err
	} else if version < newest() {
		if err := s.upgrade(ctx); err != nil {
			return err
		}
	}
	c, err := s.connectWriter()
	if err != nil {
		return err
	}
	if err := s.writer.open(c); err != nil {
		return errors.Join(err, s.writer.abandonOpen())
	}
	// A process that died may have left what was redacted in the WAL,
	// and it may have died of a sync that failed.
	s.writer.wal.mustEmpty, s.writer.wal.mustRenew = true, true
	s.writer.walHealth.distrusted.Store(s.writer.walFile != nil)
	s.writer.tendWAL()
	s.writer.start()
	return nil
}

// rebuildWALIndex has the index of the WAL made anew from what the WAL has. Where another process reads, the index is still there that the last
// process to write has left, which may count what a failed sync has since taken from the WAL (see [walHealth]).
func (s *Store) rebuildWALIndex() error {
	if err := forgetWALIndex(s.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Store) connectWriter() (*conn, error) {
	synchronous, vfs := s.cfg.synchronous, s.vfs
	if synchronous == "" {
		synchronous, vfs = "FULL", s.writerVFS
	}
	c, err := openConn(s.path, vfs, sqlite3.OPEN_READWRITE)
	if err != nil {
		return nil, err
	}
	err = c.set(fmt.Sprintf("page_size = %d", pageBytes), "journal_mode = WAL", "synchronous = "+synchronous, cacheSize(writerCacheKiB),
		"secure_delete = ON", "temp_store = MEMORY", "wal_autocheckpoint = 0",
		fmt.Sprintf("journal_size_limit = %d", restartPages*pageBytes))
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	matchOwnerOfWALIndex(s.path)
	return c, nil
}

func (s *Store) connectReader() (*conn, error) {
	c, err := openConn(s.path, s.vfs, sqlite3.OPEN_READONLY)
	if err != nil {
		return nil, err
	}
	if err := c.set(cacheSize(readerCacheKiB), "query_only = ON", "temp_store = MEMORY"); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if !s.cfg.ReadOnly { // else another process takes away what is kept here
		c.recall = &s.recall
	}
	return c, nil
}

func cacheSize(kib int) string { return fmt.Sprintf("cache_size = -%d", kib) }

// Close waits for commits and reads under way and closes the file. It may be
// called twice.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.closeErr = errors.Join(translate("close store", s.closeFiles()), s.lock.release())
	})
	return s.closeErr
}

// closeFiles closes all but the lock. The write connection is the last: it moves
// the WAL into the database.
func (s *Store) closeFiles() error {
	s.writer.stop()
	err := errors.Join(s.readers.close(), s.writer.close())
	err = errors.Join(err, s.writer.closeIntents(err == nil))
	s.recall.suspend()
	s.unregisterVFS()
	return err
}

// errClosed is what every method gives after Close.
func errClosed() error {
	return parley.Errorf(parley.CodeUnavailable, "the store is closed")
}
