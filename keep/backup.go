package keep

import (
	"context"
	"errors"
	"io/fs"
	"os"
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
// It needs room for another copy beside the file while it runs. If it fails or
// is cut short, there is no file.
func (f Folder) Backup(ctx context.Context, file string, progress Progress) (err error) {
	if _, err := os.Lstat(file); err == nil {
		return parley.Errorf(parley.CodeConflict, "%s exists already; choose another name for the backup", file)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
	}
	key, err := f.key(ctx)
	if err != nil {
		return err
	}
	stage, err := os.MkdirTemp(filepath.Dir(file), ".parley-backup-*")
	if err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	staged := f
	staged.Dir = filepath.Join(stage, "folder")
	if err := os.Mkdir(staged.Dir, 0o700); err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
	}
	header := archiveHeader{CreatedAt: time.Now().UTC().Truncate(time.Second), Store: f.Name}
	if key != nil {
		// It is replaced in one step, so it is whole whenever it is read.
		if header.Envelope, err = os.ReadFile(f.envelope()); err != nil {
			return parley.Errorf(parley.CodeUnavailable, "cannot read the envelope of the store's key: %v", err)
		}
	}
	if err := f.stage(ctx, staged, key, progress); err != nil {
		return err
	}
	archive := filepath.Join(stage, "archive")
	if err := writeArchiveFile(ctx, archive, staged.Dir, header, progress); err != nil {
		return err
	}
	// A link, unlike a rename, never replaces what somebody put there meanwhile.
	if err := os.Link(archive, file); err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
	}
	return disk.SyncFolder(filepath.Dir(file))
}

// stage copies the folder to another, which is then as a stopped Parley leaves
// one.
func (f Folder) stage(ctx context.Context, staged Folder, key []byte, progress Progress) (err error) {
	live, err := f.openWith(ctx, key, true)
	if err != nil {
		return err
	}
	err = live.Store.CopyTo(ctx, staged.Path(), key, progress.step("copying the store"))
	if err := errors.Join(err, live.Close()); err != nil {
		return err
	}
	// From here on the copy says which media belong to it.
	o, err := staged.openWith(ctx, key, false)
	if err != nil {
		return err
	}
	err = f.stageMedia(ctx, o, key, progress)
	return errors.Join(err, o.Close(), os.Remove(staged.Path()+".lock"))
}

// stageMedia copies the media of a staged store.
func (f Folder) stageMedia(ctx context.Context, o *Opened, key []byte, progress Progress) error {
	from, err := f.mediaIn(ctx, o.Store, f.mediaDir(key != nil), key)
	if err != nil {
		return err
	}
	err = blob.CopyAll(ctx, from, o.Media, blob.CopyConfig{
		ProgressFunc: progress.count("copying media"),
		ReportFunc:   func(parley.Problem) {}, // dealt with below
	})
	if err != nil {
		return err
	}
	return forgetSwept(ctx, o)
}

// forgetSwept takes blobs out of a copy whose files were swept away while it was
// made: nothing referred to them. A missing file that an event refers to is a
// damage that no backup may hide.
func forgetSwept(ctx context.Context, o *Opened) error {
	for after := parley.BlobHandle(""); ; {
		page, err := o.Store.Blobs(ctx, after, parley.MaxPageSize)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, b := range page {
			after = b.Handle
			content, _, err := o.Media.Open(ctx, parley.SeeAll(), b.Handle)
			if err == nil {
				err = content.Close()
			}
			if errors.Is(err, blob.ErrMissing) && !b.UnusedSince.IsZero() {
				_, err = o.Store.Commit(ctx, parley.Batch{At: time.Now(), Blobs: []parley.BlobChange{{Handle: b.Handle, Remove: true}}})
			}
			if err != nil {
				return parley.Errorf(parley.CodeInvalid, "media %s cannot be copied: %v; see parley doctor", b.Handle, err)
			}
		}
	}
}

// writeArchiveFile writes the archive to path, synced.
func writeArchiveFile(ctx context.Context, path, dir string, header archiveHeader, progress Progress) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
	}
	err = writeArchive(ctx, out, dir, header, progress.step("writing the backup"))
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil && ctx.Err() == nil {
		err = parley.Errorf(parley.CodeUnavailable, "cannot write the backup: %v", err)
	}
	return err
}
