package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// What one sweep does at most, so that it never takes long.
const (
	sweepBlobs   = 500
	sweepFolders = 32
)

// Swept is what one call of [Store.Sweep] took away.
type Swept struct {
	Blobs int   // that nothing has referred to for long
	Files int   // that were left behind by a process that died
	Bytes int64 // of both, as they were on disk
	More  bool  // call it again: this was a part
}

// Sweep takes away blobs that nothing has referred to for [Config.KeepFor], and
// files that belong to nothing and are as old. It does a bounded part of the work
// at a time and goes on from there the next time; after an error it may be called
// again.
//
// The row goes first, then the file: a blob that somebody begins to use again
// meanwhile is kept, and a process that dies in between leaves a file for the next
// sweep.
func (s *Store) Sweep(ctx context.Context) (Swept, error) {
	s.sweep.Lock()
	defer s.sweep.Unlock()
	w := sweeping{Store: s, before: s.now().Add(-s.cfg.KeepFor)}
	if err := w.unused(ctx); err != nil {
		return w.swept, err
	}
	if err := w.abandoned(ctx); err != nil {
		return w.swept, err
	}
	for range sweepFolders {
		if err := w.folder(ctx, fmt.Sprintf("%02x", s.next)); err != nil {
			return w.swept, err
		}
		if s.next = (s.next + 1) % folders; s.next == 0 {
			break
		}
	}
	w.swept.More = w.swept.More || s.next != 0
	return w.swept, nil
}

// sweeping is one sweep under way.
type sweeping struct {
	*Store
	before time.Time // what was used later stays
	swept  Swept
}

// unused removes blobs that nothing refers to.
func (w *sweeping) unused(ctx context.Context) error {
	list, err := w.index.UnusedBlobs(ctx, w.before, parley.Blob{}, sweepBlobs)
	if err != nil {
		return err
	}
	for _, b := range list {
		if err := w.remove(ctx, b); err != nil {
			return err
		}
	}
	w.swept.More = len(list) == sweepBlobs
	return nil
}

// remove removes one blob, unless it was used again.
func (w *sweeping) remove(ctx context.Context, b parley.Blob) error {
	unlock, err := w.locks.lock(ctx, b.Handle)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = w.index.Commit(ctx, parley.Batch{
		At: w.now(), Blobs: []parley.BlobChange{{Handle: b.Handle, Remove: true, UnusedBefore: w.before}},
	})
	if errors.Is(err, parley.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	w.swept.Blobs++
	if path, ok := w.path(b.Handle); ok {
		return w.removeFile(path)
	}
	return nil
}

// removeFile removes a file, which may be gone.
func (w *sweeping) removeFile(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return unwritable("sweep media", err)
	}
	w.swept.Bytes += info.Size()
	return nil
}

// abandoned removes temporary files that nobody is writing.
func (w *sweeping) abandoned(ctx context.Context) error {
	names, err := w.old(ctx, w.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, draftPrefix) || w.inUse(name) {
			continue
		}
		if err := w.removeFile(filepath.Join(w.dir, name)); err != nil {
			return err
		}
		w.swept.Files++
	}
	return nil
}

func (s *Store) inUse(draft string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drafts[draft]
}

// folder removes files of a folder that have no row.
func (w *sweeping) folder(ctx context.Context, folder string) error {
	names, err := w.old(ctx, filepath.Join(w.dir, folder))
	if err != nil || len(names) == 0 {
		return err
	}
	known, err := w.known(ctx, folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		handle := parley.BlobHandle(handlePrefix + folder + name)
		if _, _, ok := place(handle); !ok || known[handle] {
			continue
		}
		if err := w.removeLeft(ctx, handle); err != nil {
			return err
		}
	}
	return nil
}

// old gives the names of files in a folder that were last put before. A folder
// that is not there has none.
func (w *sweeping) old(ctx context.Context, dir string) (names []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, canceled(err)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unwritable("sweep media", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, unwritable("sweep media", err)
		}
		if info.ModTime().Before(w.before) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// known gives the registered blobs whose files are in a folder.
func (w *sweeping) known(ctx context.Context, folder string) (map[parley.BlobHandle]bool, error) {
	known := map[parley.BlobHandle]bool{}
	prefix := handlePrefix + folder
	for after := parley.BlobHandle(prefix); ; {
		page, err := w.index.Blobs(ctx, after, parley.MaxPageSize)
		if err != nil || len(page) == 0 {
			return known, err
		}
		for _, b := range page {
			if !strings.HasPrefix(string(b.Handle), prefix) {
				return known, nil
			}
			known[b.Handle] = true
		}
		after = page[len(page)-1].Handle
	}
}

// removeLeft removes a file that has no row, if that is still so.
func (w *sweeping) removeLeft(ctx context.Context, handle parley.BlobHandle) error {
	unlock, err := w.locks.lock(ctx, handle)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = w.index.Blob(ctx, parley.SeeAll(), handle)
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	path, _ := w.path(handle)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(w.before) {
		return nil
	}
	if err := w.removeFile(path); err != nil {
		return err
	}
	w.swept.Files++
	return nil
}
