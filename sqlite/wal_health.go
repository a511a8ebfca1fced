package sqlite

import (
	"context"
	"errors"
	"io/fs"
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
	// readableTo and frames are the writer's: up to where readers may see what was applied, and how many frames commits have put into the WAL.
	readableTo *atomic.Uint64
	frames     *atomic.Int64

	// underWay is closed when the sync ends that is under way, of what readers may have seen, and if it failed, when the WAL was looked
	// at. nil: there is none.
	underWay atomic.Pointer[chan struct{}]

	mu         sync.Mutex  // one at a time
	distrusted atomic.Bool // one has failed, or may have before the store was opened, and the WAL was not written anew: until then none succeeds
	lost       atomic.Bool // the WAL was found without something that was written to it
	toldOthers bool        // of what is lost, by way of the index
}

// sync makes the WAL durable, and lets go of the intents that it has.
func (h *walHealth) sync(f vfs.File, flags vfs.SyncFlag) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.distrusted.Load() {
		return sqlite3.IOERR_FSYNC
	}
	number := h.writtenTo.Load()
	if h.readableTo.Load() > h.intents.walSyncedTo.Load() {
		defer h.keepReadersLocked()()
	}
	if err := f.Sync(flags); err != nil {
		h.distrusted.Store(true)
		_ = h.lookLocked(f) // if it cannot be read at this moment, the next look tells
		return err
	}
	h.intents.noteWALSynced(number)
	return nil
}

// keepReadersLocked has those who read wait, before they give what they have found, until release is called.
func (h *walHealth) keepReadersLocked() (release func()) {
	over := make(chan struct{})
	h.underWay.Store(&over)
	return func() {
		h.underWay.Store(nil)
		close(over)
	}
}

// renew writes the whole WAL again, and syncs it. Nobody else writes it at that time.
func (h *walHealth) renew(f vfs.File) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.keepReadersLocked()()
	if err := h.checkLocked(f); err != nil {
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
	return errors.Join(err, h.checkLocked(f))
}

// checkAfterFailure looks whether a sync that failed has taken something from the WAL, as long as it can be read.
func (h *walHealth) checkAfterFailure(f vfs.File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.checkLocked(f) // it is checked again before the WAL is written anew
}

// checkLocked looks at a WAL that is distrusted, and says so if something is lost. Nobody writes or moves it at that time. The caller holds the mutex.
func (h *walHealth) checkLocked(f vfs.File) error {
	if !h.distrusted.Load() {
		return nil
	}
	err := h.lookLocked(f)
	if h.lost.Load() && !h.toldOthers {
		// Who reads in another process, or opens the store next, is to find what the WAL has now.
		forgetErr := forgetWALIndex(h.path)
		h.toldOthers = forgetErr == nil || errors.Is(forgetErr, fs.ErrNotExist)
		err = errors.Join(err, forgetErr)
	}
	return errors.Join(h.lostErr(), err)
}

// lookLocked compares the WAL with how many frames commits have put there.
func (h *walHealth) lookLocked(f vfs.File) error {
	frames := h.frames.Load() // before: where the sync was the mover's, commits go on
	whole, err := wholeFrames(f)
	if err == nil && int64(whole) < frames {
		h.lost.Store(true)
	}
	return err
}

// lostErr gives an error if the WAL was found without something that was written to it.
func (h *walHealth) lostErr() error {
	if !h.lost.Load() {
		return nil
	}
	return parley.Errorf(parley.CodeUnavailable, "the disk failed, and has lost changes that it had taken; nothing acknowledged is gone, but Parley has to be stopped and started again to put it back; check the disk")
}

// orLost gives the error of a read, or that the WAL has lost something: what was read may be nonsense then, and so may be the error. A sync
// that is under way may be the one that loses it, so its end is waited for.
func (h *walHealth) orLost(ctx context.Context, err error) error {
	if over := h.underWay.Load(); over != nil {
		select {
		case <-*over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if lost := h.lostErr(); lost != nil {
		return lost
	}
	return err
}
