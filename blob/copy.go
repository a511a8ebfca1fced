package blob

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// CopyConfig of [CopyAll].
type CopyConfig struct {
	// ProgressFunc, if set, is told now and then how many blobs are dealt with.
	ProgressFunc func(done int64)
	// ReportFunc, if set, is told of blobs that cannot be read, and the rest is
	// copied without them. Else the first one ends it.
	ReportFunc func(parley.Problem)
}

// CopyAll writes the file of every blob that is registered with from into the
// folder of to, under the same name and in the form of to: encrypted with its
// secret, or as it is. Nothing is registered; to need not have an index of its
// own.
//
// It is durable when CopyAll returns. If it was cut short, it can be called again
// and goes on with what is missing. Blobs that are put or swept meanwhile may or
// may not be copied.
func CopyAll(ctx context.Context, from, to *Store, cfg CopyConfig) error {
	touched := map[string]bool{}
	err := from.each(ctx, cfg.ProgressFunc, func(b parley.Blob) error {
		path, ok := to.path(b.Handle)
		if ok {
			touched[filepath.Dir(path)] = true
		}
		err := copyOne(ctx, from, to, b)
		if err == nil || ctx.Err() != nil || !ofFile(err) {
			return err
		}
		if _, gone := from.index.Blob(ctx, parley.SeeAll(), b.Handle); errors.Is(gone, parley.ErrNotFound) {
			return nil
		}
		if cfg.ReportFunc == nil {
			return err
		}
		cfg.ReportFunc(parley.Problem{Kind: kindOf(err), Detail: err.Error()})
		return nil
	})
	if err != nil {
		return err
	}
	for folder := range touched {
		if !to.isSynced(folder) {
			continue // nothing could be copied there
		}
		if err := disk.SyncFolder(folder); err != nil {
			return unwritable("copy media", err)
		}
	}
	return nil
}

// ofFile reports whether err says what is wrong with a blob's own file.
func ofFile(err error) bool {
	return errors.Is(err, ErrMissing) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrSecret)
}

// copyOne writes one blob, unless it is there.
func copyOne(ctx context.Context, from, to *Store, b parley.Blob) (err error) {
	if to.intact(b) {
		return to.keepFolder(b.Handle)
	}
	content, err := from.open(b)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	d, err := to.newDraft()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.discard()) }()
	size, err := copyLimited(ctx, d, content, b.Size)
	if err != nil {
		return err
	}
	if size != b.Size {
		return damaged(b.Handle, fmt.Sprintf("because it ends after %d of %d bytes", size, b.Size))
	}
	return d.place(b.Handle)
}

// keepFolder makes durable the name of a folder that an earlier run has made.
func (s *Store) keepFolder(handle parley.BlobHandle) error {
	path, _ := s.path(handle)
	if err := s.ensureDir(); err != nil {
		return unwritable("copy media", err)
	}
	if err := s.ensureFolder(filepath.Dir(path)); err != nil {
		return unwritable("copy media", err)
	}
	return nil
}
