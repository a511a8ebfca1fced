package sqlite

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley"
)

// walHealth is what is known of the WAL after syncs, which all connections make through it.
//
// After one that failed, the operating system may take pages for written that are not, and the next would succeed without them. Commits have
// not synced those pages themselves, so nothing may rely on a sync until the whole WAL was written anew.
//
// Some file systems also forget those pages, so that the WAL is read as it was before. What commits have put there is then only in the
// intents, and nothing may be read or written until the store was opened again, which applies it from there.
type walHealth struct {
	path      string // of the store
	intents   *intents
	writtenTo atomic.Uint64 // the WAL has what was applied up to this number

	mu         sync.Mutex  // one at a time
	distrusted atomic.Bool // one has failed, or may have before the store was opened, and the WAL was not written anew: until then none succeeds
	lost       atomic.Bool // the WAL was found without something that was written to it
}

// sync makes the WAL durable, and lets go of the intents that it has.
func (h *walHealth) sync(sync func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.distrusted.Load() {
		return sqlite3.IOERR_FSYNC
	}
	number := h.writtenTo.Load()
	if err := sync(); err != nil {
		h.distrusted.Store(true)
		return err
	}
	h.intents.noteWALSynced(number)
	return nil
}

// renew writes the whole WAL again, and syncs it. Nobody else writes it at that time. frames is how many commits have put there.
func (h *walHealth) renew(f vfs.File, frames int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.checkLocked(f, frames); err != nil {
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
	h.distrusted.Store(err != nil)
	return errors.Join(err, h.checkLocked(f, frames))
}

// checkAfterFailure looks whether a sync that failed has taken something from the WAL, as long as it can be read.
func (h *walHealth) checkAfterFailure(f vfs.File, frames int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.checkLocked(f, frames) // it is checked again before the WAL is written anew
}

// checkLocked compares a WAL that is distrusted with how many frames commits have put there. The caller holds the mutex.
func (h *walHealth) checkLocked(f vfs.File, frames int) error {
	if !h.distrusted.Load() {
		return nil
	}
	whole, err := wholeFrames(f)
	if err != nil {
		return err
	}
	if whole < frames && !h.lost.Swap(true) {
		// Who reads, or opens the store next, is to find what the WAL has now.
		err = forgetWALIndex(h.path)
	}
	return errors.Join(h.lostErr(), err)
}

// lostErr gives an error if the WAL was found without something that was written to it.
func (h *walHealth) lostErr() error {
	if !h.lost.Load() {
		return nil
	}
	return parley.Errorf(parley.CodeUnavailable, "the disk failed, and has lost changes that it had taken; nothing acknowledged is gone, but Parley has to be stopped and started again to put it back; check the disk")
}

// orLost gives the error of a read, or that the WAL has lost something: what was read may be nonsense then, and so may be the error.
func (h *walHealth) orLost(err error) error {
	if lost := h.lostErr(); lost != nil {
		return lost
	}
	return err
}
