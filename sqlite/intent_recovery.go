package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// recover applies the batches that were acknowledged before a crash and that did not get into the WAL, after
// which all of that is durable. The number is that of the last one SQLite has.
func (w *writer) recover(applied uint64) error {
	in := &w.intents
	found, err := in.openExisting(w.store.openSideToRead)
	if err != nil || !found {
		return err
	}
	g := &group{}
	w.recovering = true
	defer func() { w.recovering = false }()
	apply := func() error {
		err := w.write(g)
		*g = group{}
		if parley.CodeOf(err) == parley.CodeInternal && !damaged(err) {
			return invalid("%s holds changes of which one cannot be applied (%v); restore a backup, or move it away to go on without them",
				w.store.path+intentPrefix+"*", err)
		}
		return err
	}
	err = in.each(applied, func(r record) error {
		b, err := batchCodec.Decode(r.data)
		if err != nil {
			return invalid("%s holds changes that this Parley cannot read (%v); start the Parley that wrote them once", w.store.path+intentPrefix, err)
		}
		p, err := prepare(b)
		if err != nil {
			return invalid("%s holds a change that this Parley does not accept (%v); start the Parley that wrote it once", w.store.path+intentPrefix, err)
		}
		w.numberedTo = r.number
		next := &request{apply: p.apply, findDuplicate: p.findDuplicate, size: p.size, number: r.number}
		if !g.hasRoom(next) {
			if err := apply(); err != nil {
				return err
			}
		}
		g.add(next)
		return nil
	})
	if err == nil && len(g.requests) > 0 {
		err = apply()
	}
	if err := errors.Join(err, in.close(false)); err != nil {
		return err
	}
	if err := w.makeDurable(); err != nil {
		return err
	}
	if _, err := in.openExisting(w.store.openSide); err != nil {
		return err
	}
	// Who made them may have died before that was done, and without their names they are lost.
	if err := disk.SyncFolder(filepath.Dir(w.store.path)); err != nil {
		return err
	}
	return in.reset(func() (uint64, bool) { return w.numberedTo, w.numberedTo > w.appliedInDBTo })
}

// makeDurable has the disk have what the WAL has: after a crash nobody knows what of it is there. It is written anew; where that cannot be
// done ([movesBeside]) it is moved, which whoever reads an older moment holds up.
func (w *writer) makeDurable() error {
	w.wal.mustRenew = true
	if movesBeside {
		w.walHealth.distrusted.Store(w.walFile != nil) // who died may have seen a sync fail
		if err := w.renewWALIfDue(); err != nil {
			return fmt.Errorf("write the write-ahead log anew after a crash: %w", err)
		}
		return nil
	}
	if err := w.moveAll(); errors.Is(err, sqlite3.BUSY) {
		return parley.Errorf(parley.CodeUnavailable, "another process has been reading the store since before its last stop, and is in the way; stop it first")
	} else if err != nil {
		return fmt.Errorf("move the write-ahead log after a crash: %w", err)
	}
	return nil
}

// openExisting opens the files that are there, and reports whether there are any.
func (in *intents) openExisting(open func(path string) (sideFile, error)) (found bool, err error) {
	for i := range in.files {
		if _, err := os.Stat(in.path(i)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		f, err := open(in.path(i))
		if errors.Is(err, fs.ErrNotExist) {
			continue // who writes has closed the store at this moment
		}
		if err != nil {
			return false, fmt.Errorf("open intents: %w", err)
		}
		in.files[i] = intentFile{sideFile: f}
		found = true
	}
	return found, nil
}

// each calls f for the batches after one that SQLite has, in their order.
func (in *intents) each(applied uint64, f func(record) error) error {
	starts, err := in.starts()
	if err != nil {
		return err
	}
	next := applied + 1
	for _, s := range starts {
		in.current = s.index
		if s.number+1 > next {
			if s.kind != recordStartAfterGap {
				return invalid("the store %s does not have the changes before those in %s*; put them together with the store they are of, or remove them if another was put in its place",
					in.store.path, in.store.path+intentPrefix)
			}
			next = s.number + 1
		}
		for at, number := s.end, s.number+1; ; number++ {
			r, err := in.read(s.file, at, s.size)
			if errors.Is(err, errNoRecord) && at < roundUp(at) {
				at = roundUp(at) // the next write began there
				r, err = in.read(s.file, at, s.size)
			}
			if errors.Is(err, errNoRecord) || err == nil && (r.kind != recordBatch || r.number != number) {
				break
			}
			if err != nil {
				return err
			}
			at = r.end
			if number < next {
				continue
			}
			next = number + 1
			if err := f(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// startOf is how a file begins.
type startOf struct {
	record
	index int // which file it is
	file  sideFile
	size  int64
}

// starts gives the beginnings of the files that have one, the older first.
func (in *intents) starts() ([]startOf, error) {
	var list []startOf
	for i := range in.files {
		f := in.files[i].sideFile
		if f == nil {
			continue
		}
		size, err := f.Size()
		if err != nil {
			return nil, fmt.Errorf("read intents: %w", err)
		}
		r, err := in.read(f, 0, size)
		switch {
		case errors.Is(err, errNoRecord):
		case err != nil:
			return nil, err
		case r.kind == recordStart, r.kind == recordStartAfterGap:
			list = append(list, startOf{r, i, f, size})
		}
	}
	slices.SortFunc(list, func(a, b startOf) int { return cmp.Compare(a.number, b.number) })
	return list, nil
}

// checkNothingIsMissing refuses, to who only reads, a store whose last process died and left acknowledged changes that are not yet
// applied. While a process has it open for writing, those are being applied.
func (s *Store) checkNothingIsMissing() (err error) {
	in := &intents{store: s}
	found, err := in.openExisting(s.openSideToRead)
	defer func() { err = errors.Join(err, in.close(false)) }()
	if err != nil || !found {
		return err
	}
	if s.isWritten() {
		return nil
	}
	c, err := s.connectReader()
	if err != nil {
		return err
	}
	applied, id, err := readApplied(c)
	if err := errors.Join(err, c.close()); err != nil {
		return err
	}
	if err := in.adopt(s, id, applied); err != nil {
		return err
	}
	err = in.each(applied, func(record) error {
		return parley.Errorf(parley.CodeUnavailable,
			"the process that wrote %s last was cut off, and left changes that are not in the store yet; open it for writing once, with `parley serve` or `parley doctor --rebuild`", s.path)
	})
	if err != nil && s.isWritten() {
		return nil // by who has come meanwhile
	}
	return err
}

// isWritten reports whether a process has the store open for writing. Where the lock must not be looked at that cannot be told; then it is as if
// nobody had.
func (s *Store) isWritten() bool {
	locked, err := disk.Locked(s.path + ".lock")
	return locked && err == nil
}
