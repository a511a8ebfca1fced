package keep

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/internal/disk"
)

// Backup writes the folder's store and media into one file, where nothing may
// be. The store may be in use, by this process or another: the backup has
// everything that was acknowledged before it began, and the media that it refers
// to. It is encrypted if the store is, with the envelope of its key inside; the
// key that opens the envelope is not.
//
// Media that are missing or damaged do not keep the rest from being saved: they
// are what it gives back.
//
// It needs room for another copy of the store, beside the file, while it runs. If
// it fails or is cut short, there is no file.
func (f Folder) Backup(ctx context.Context, file string, progress Progress) (lost []parley.Problem, err error) {
	if _, err := os.Lstat(file); err == nil {
		return nil, parley.Errorf(parley.CodeConflict, "%s exists already; choose another name for the backup", file)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
	}
	key, err := f.key(ctx)
	if err != nil {
		return nil, err
	}
	header := archiveHeader{CreatedAt: time.Now().UTC().Truncate(time.Second)}
	if key != nil {
		// It is replaced in one step, so it is whole whenever it is read.
		if header.Envelope, err = os.ReadFile(f.envelope()); err != nil {
			return nil, parley.Errorf(parley.CodeUnavailable, "cannot read the envelope of the store's key: %v", err)
		}
	}
	work, err := newScratch(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, work.remove()) }()
	lost, err = f.archive(ctx, work, key, header, progress)
	if err != nil {
		return nil, err
	}
	return lost, publish(work.path("archive"), file)
}

// archive writes the archive into the scratch folder.
func (f Folder) archive(ctx context.Context, work *scratch, key []byte, header archiveHeader, progress Progress) (lost []parley.Problem, err error) {
	live, err := f.openWith(ctx, key, true)
	if err != nil {
		return nil, err
	}
	// It stays open until the end, so that no switch comes in between.
	defer func() { err = errors.Join(err, live.Close()) }()
	staged := f
	staged.Dir, staged.Name = work.dir, storeEntry
	if err := live.Store.CopyTo(ctx, staged.Path(), key, progress.step("copying the store")); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(work.path("archive"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
	}
	defer func() {
		err = errors.Join(err, out.Close())
		if err != nil && ctx.Err() == nil && parley.CodeOf(err) == parley.CodeInternal {
			err = parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
		}
	}()
	a, err := newArchive(out, header)
	if err != nil {
		return nil, err
	}
	if lost, err = f.archiveMedia(ctx, a, staged, key, progress); err != nil {
		return nil, err
	}
	if err := archiveStore(ctx, a, staged.Path(), progress); err != nil {
		return nil, err
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	return lost, out.Sync()
}

// archiveMedia adds the media that a copy of the store names. Which those are is
// said by the copy, not by the folder.
func (f Folder) archiveMedia(ctx context.Context, a *archiveWriter, staged Folder, key []byte, progress Progress) (lost []parley.Problem, err error) {
	db, err := staged.OpenFunc(ctx, staged.Path(), key, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	media, err := f.mediaIn(ctx, db, f.mediaDir(key != nil), key)
	if err != nil {
		return nil, err
	}
	tell, done := progress.count("copying media"), int64(0)
	for after := parley.BlobHandle(""); ; {
		page, err := db.Blobs(ctx, after, parley.MaxPageSize)
		if err != nil || len(page) == 0 {
			return lost, err
		}
		for _, b := range page {
			after = b.Handle
			err := archiveBlob(ctx, a, media, b, key != nil)
			switch {
			case errors.Is(err, blob.ErrMissing) && !b.UnusedSince.IsZero():
				// Nothing refers to it, and it was swept away meanwhile.
				_, err = db.Commit(ctx, parley.Batch{At: time.Now(), Blobs: []parley.BlobChange{{Handle: b.Handle, Remove: true}}})
			case errors.Is(err, blob.ErrMissing), errors.Is(err, blob.ErrDamaged), errors.Is(err, blob.ErrSecret):
				lost = append(lost, parley.Problem{Kind: "media", Detail: err.Error()})
				err = nil
			}
			if err != nil {
				return lost, err
			}
			if done++; tell != nil {
				tell(done)
			}
		}
	}
}

// archiveBlob adds one file, as it lies on the disk.
func archiveBlob(ctx context.Context, a *archiveWriter, media *blob.Store, b parley.Blob, encrypted bool) error {
	file, name, err := media.OpenFile(b)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return a.file(ctx, path.Join(mediaEntries, formName(encrypted), name), info.Size(), file, nil)
}

// archiveStore adds the copy of the store, which is closed.
func archiveStore(ctx context.Context, a *archiveWriter, from string, progress Progress) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return a.file(ctx, storeEntry, info.Size(), file, progress.step("writing the backup"))
}

// publish gives a finished file its name, and never replaces what somebody put
// there meanwhile.
func publish(from, to string) error {
	err := os.Link(from, to)
	if err != nil && !errors.Is(err, fs.ErrExist) && !exists(to) {
		err = os.Rename(from, to) // a file system without links
	}
	if err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
	}
	return disk.SyncFolder(filepath.Dir(to))
}
