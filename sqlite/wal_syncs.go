package sqlite

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley"
)

// walSyncs are the syncs of the WAL, by whichever connection.
//
// After one that failed, the operating system may take pages for written that are not, and the next would succeed without them. Commits have
// not synced those pages themselves, so nothing may rely on a sync until the whole WAL was written anew.
//
// Some file systems also forget those pages, so that the WAL is read as it was before. What commits have put there is then only in the
// intents, and nothing may be read or written until the store was opened again, which applies it from there.
type walSyncs struct {
	path    string // of the store
	intents *intents
	written atomic.Uint64 // the WAL has what was applied up to this number

	mu         sync.Mutex  // one at a time
	distrusted atomic.Bool // one has failed, or may have before the store was opened, and the WAL was not written anew: until then none succeeds
	lost       atomic.Bool // the WAL was found without something that was written to it
}

// sync makes the WAL durable, and lets go of the intents that it has.
func (l *walSyncs) sync(sync func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.distrusted.Load() {
		return sqlite3.IOERR_FSYNC
	}
	number := l.written.Load()
	if err := sync(); err != nil {
		l.distrusted.Store(true)
		return err
	}
	l.intents.walSyncedUpTo(number)
	return nil
}

// renew writes the whole WAL again, and syncs it. Nobody else writes it at that time. frames is how many commits have put there.
func (l *walSyncs) renew(f vfs.File, frames int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.checkLocked(f, frames); err != nil {
		return err
	}
	err := eachPartOfWAL(f, func(part []byte, at int64) error {
		n, err := f.WriteAt(part, at)
		if err == nil && n < len(part) {
			err = sqlite3.IOERR_WRITE
		}
		return err
	})
	if err != nil {
		return err
	}
	err = f.Sync(vfs.SYNC_NORMAL)
	l.distrusted.Store(err != nil)
	return errors.Join(err, l.checkLocked(f, frames))
}

// checkAfterFailure looks whether a sync that failed has taken something from the WAL, as long as it can be read.
func (l *walSyncs) checkAfterFailure(f vfs.File, frames int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.checkLocked(f, frames) // it is checked again before the WAL is written anew
}

// checkLocked compares a WAL that is distrusted with how many frames commits have put there. The caller holds the mutex.
func (l *walSyncs) checkLocked(f vfs.File, frames int) error {
	if !l.distrusted.Load() {
		return nil
	}
	whole, err := wholeFrames(f)
	if err != nil {
		return err
	}
	if whole < frames && !l.lost.Swap(true) {
		// Who reads, or opens the store next, is to find what the WAL has now.
		err = forgetWALIndex(l.path)
	}
	return errors.Join(l.lostErr(), err)
}

// wholeFrames gives how many frames of a WAL are as they were written.
func wholeFrames(f io.ReaderAt) (int, error) {
	var sums walSums
	err := eachPartOfWAL(f, func(part []byte, _ int64) error {
		sums.add(part)
		return nil
	})
	return sums.whole, err
}

// lostErr gives an error if the WAL was found without something that was written to it.
func (l *walSyncs) lostErr() error {
	if !l.lost.Load() {
		return nil
	}
	return parley.Errorf(parley.CodeUnavailable, "the disk failed, and has lost changes that it had taken; nothing acknowledged is gone, but Parley has to be stopped and started again to put it back; check the disk")
}

// orLost gives the error of a read, or that the WAL has lost something: what was read may be nonsense then, and so may be the error.
func (l *walSyncs) orLost(err error) error {
	if lost := l.lostErr(); lost != nil {
		return lost
	}
	return err
}

// eachPartOfWAL gives the WAL part by part: its header, then whole frames, in units that can be written again where it is encrypted.
func eachPartOfWAL(f io.ReaderAt, visit func(part []byte, at int64) error) error {
	buf := make([]byte, writeTogether*frameBytes)
	for at, size := int64(0), walHeaderBytes; ; at, size = at+int64(size), len(buf) {
		n, err := f.ReadAt(buf[:size], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if size == len(buf) {
			n -= n % frameBytes // half a frame at the end is nobody's
		}
		if n > 0 {
			if err := visit(buf[:n], at); err != nil {
				return err
			}
		}
		if n < size {
			return nil
		}
	}
}
