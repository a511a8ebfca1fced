package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3/vfs"
	"lukechampine.com/adiantum"
	"lukechampine.com/adiantum/hbsh"

	"github.com/parley-run/parley/internal/disk"
)

// Sizes of the files of intents.
const (
	switchFileBytes = 2 << 20   // from this size on the other file is written, as soon as it is free
	syncFileBytes   = 16 << 20  // from this size on the WAL is synced so that it is: long reads may keep moves, which do that, from it
	growIntentBytes = 256 << 10 // a file grows by this much at least

	// intentBlock is what is written at least. Each write begins with a block, so that it can go to the disk as it is.
	intentBlock = 4096
	// intentBufferBytes is so much that Go gives it pages of their own: memory is aligned, too.
	intentBufferBytes = 512 << 10

	keptIntentBytes = 8 << 20 // a file that has grown larger is cut off when it starts over
)

// intents are the batches that are being committed, as they were given. They are written and synced while
// SQLite applies them, which makes them durable sooner than SQLite could, whose WAL has something to sync
// only in the end. When the store is opened after a crash, those are applied again that did not
// get into the WAL ([writer.recover]).
//
// There are two files. Records are appended to one of them. When the WAL has been synced, what it has is no longer
// needed here, and a file of which that is true from end to end is started over.
type intents struct {
	store *Store

	mu      sync.Mutex // one write, or reset, at a time
	seed    uint32     // of sums: records of another store do not count
	cipher  *hbsh.HBSH // nil: they are not encrypted
	files   [2]intentFile
	current int
	// discardedTo is the number up to which nothing is written down any more: requests with such a number got it before a reset, and the
	// WAL is synced for them.
	discardedTo uint64
	gap         bool // numbers may be missing before the next record: what had them was given up
	buf         []byte

	walSyncedTo  atomic.Uint64 // the WAL was synced with the records up to this one
	durable      watermark     // the records up to this one need not be waited for: they are durable, or what was applied is in doubt
	reliedOn     atomic.Bool   // commits rely on them: no write has failed since one succeeded, or since the store was opened
	wantsWALSync atomic.Bool   // so that a file can start over; the writer does that
}

// intentFile is one of the two files.
type intentFile struct {
	sideFile        // nil until it is needed
	size     int64  // bytes that count
	room     int64  // bytes of the file
	last     uint64 // number of its last record
}

// adopt takes over what a store knows of its intents. It reads nothing.
func (in *intents) adopt(s *Store, id string, applied uint64) error {
	in.store, in.seed = s, seedOf(id)
	if s.cfg.Key != nil {
		key, err := deriveKey(s.cfg.Key, "parley intents")
		if err != nil {
			return err
		}
		in.cipher = adiantum.New(key)
	}
	in.reliedOn.Store(true)
	in.walSyncedTo.Store(applied)
	in.durable.reach(applied)
	return nil
}

// write makes the records of requests durable, those that have one and are not durable without. After a failure nothing is
// written until a reset.
func (in *intents) write(requests []*request) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.buf == nil {
		in.buf = make([]byte, 0, intentBufferBytes)
	}
	buf, last := in.buf[:0], uint64(0)
	var f *intentFile
	for _, r := range requests {
		if r.number <= in.discardedTo {
			continue
		}
		if f == nil {
			var err error
			if f, err = in.fileToWrite(); err != nil {
				return err
			}
			if f.size == 0 {
				buf = in.appendStart(buf, r.number-1)
			}
		}
		var err error
		if buf, err = in.appendBatch(buf, r.number, r.batch); err != nil {
			return fmt.Errorf("encode a batch: %w", err)
		}
		last = r.number
	}
	if f == nil {
		return nil
	}
	if cap(buf) <= maxKeptBuffer {
		in.buf = buf
	}
	if err := in.append(f, buf); err != nil {
		return fmt.Errorf("write intents: %w", err)
	}
	f.last, in.gap = last, false
	in.reliedOn.Store(true)
	in.durable.reach(last)
	return nil
}

// fileToWrite gives the file that is written next. The other one is taken when it is free, so that neither
// grows without need.
func (in *intents) fileToWrite() (*intentFile, error) {
	f := &in.files[in.current]
	if other := &in.files[1-in.current]; f.size >= switchFileBytes && other.last <= in.walSyncedTo.Load() {
		in.current = 1 - in.current
		f = other
		f.size = 0
		if f.room > keptIntentBytes {
			if err := f.Truncate(0); err != nil {
				return nil, fmt.Errorf("cut intents off: %w", err)
			}
			f.room = 0
		}
	} else if f.size >= syncFileBytes {
		in.wantsWALSync.Store(true)
	}
	if f.sideFile != nil {
		return f, nil
	}
	path := in.path(in.current)
	opened, err := in.store.openSide(path)
	if err == nil {
		matchOwner(in.store.path, path)
		// Without its name a file is lost.
		err = disk.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		if opened != nil {
			err = errors.Join(err, opened.Close())
		}
		return nil, fmt.Errorf("open intents: %w", err)
	}
	*f = intentFile{sideFile: opened}
	return f, nil
}

func (in *intents) path(i int) string { return in.store.path + intentSuffixes[i] }

// append writes to the end of a file and syncs it. The file grows by more than it needs, because a sync takes
// longer where a file has grown.
func (in *intents) append(f *intentFile, data []byte) error {
	data = append(data, make([]byte, roundUp(len(data))-len(data))...)
	end, room := f.size+int64(len(data)), f.room
	if end > room {
		room = end + growIntentBytes
		data = append(data, make([]byte, growIntentBytes)...)
	}
	if _, err := f.WriteAt(data, f.size); err != nil {
		return err
	}
	if err := in.sync(f); err != nil {
		return err
	}
	f.size, f.room = end, room
	return nil
}

// roundUp gives the end of the block that n bytes end in.
func roundUp[N int | int64](n N) N { return (n + intentBlock - 1) / intentBlock * intentBlock }

func (in *intents) sync(f *intentFile) error {
	if in.store.cfg.synchronous != "" {
		return nil
	}
	return f.Sync(vfs.SYNC_NORMAL)
}

// noteWALSynced says that the WAL was synced when it had the records up to this one.
func (in *intents) noteWALSynced(number uint64) {
	for old := in.walSyncedTo.Load(); old < number && !in.walSyncedTo.CompareAndSwap(old, number); old = in.walSyncedTo.Load() {
	}
}

// reset gives up everything that is written: SQLite has it for good, or nobody was told that it is there. Begin is called while
// nothing is written; it gives the last number of what is given up, and whether some of that is not applied, so that numbers are missing
// between what SQLite has and what comes next.
func (in *intents) reset(begin func() (discarded uint64, missing bool)) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	discarded, missing := begin()
	in.discardedTo, in.gap = discarded, missing || in.gap
	in.durable.reach(discarded)
	for _, i := range in.newestFirst() {
		f := &in.files[i]
		if f.sideFile == nil {
			continue
		}
		err := f.Truncate(0)
		if err == nil {
			err = in.sync(f)
		}
		if err != nil {
			return fmt.Errorf("empty intents: %w", err)
		}
		*f = intentFile{sideFile: f.sideFile}
	}
	return nil
}

// newestFirst is the order in which files go: what is left in between still follows what SQLite has.
func (in *intents) newestFirst() [2]int { return [2]int{in.current, 1 - in.current} }

// close closes the files, and removes them if nobody needs them.
func (in *intents) close(remove bool) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	var errs []error
	for _, i := range in.newestFirst() {
		f := &in.files[i]
		if f.sideFile == nil {
			continue
		}
		errs = append(errs, f.Close())
		if remove {
			if err := in.store.removeSide(in.path(i)); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		*f = intentFile{}
	}
	in.buf = nil
	return errors.Join(errs...)
}
