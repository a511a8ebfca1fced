package keep

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// restoring is the folder inside the data folder that is written to until all is
// there. While it is there, everything in the data folder is the restore's.
const restoring = ".restoring"

// Restore brings a backup into the folder, which must be empty or not there.
// Everything is written and checked aside, and put in its place at the end; the
// store begins another epoch, so that who followed the old one reads anew.
//
// A restore that fails leaves the folder as it was; one that is cut short leaves
// something that no Parley opens, and that another restore replaces.
func (f Folder) Restore(ctx context.Context, file string, progress Progress) (err error) {
	in, err := os.Open(file)
	if err != nil {
		return parley.Errorf(parley.CodeInvalid, "cannot read the backup: %v", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	archive := tar.NewReader(bufio.NewReaderSize(in, 1<<20))
	header, err := readHeader(archive)
	if err != nil {
		return err
	}
	// Before anything is written.
	key, err := f.keyOf(ctx, header)
	if err != nil {
		return err
	}
	made, err := f.makeRoom()
	if err != nil {
		return err
	}
	stage := filepath.Join(f.Dir, restoring)
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(stage))
			if made {
				err = errors.Join(err, os.Remove(f.Dir))
			}
		}
	}()
	step := progress.step("reading the backup")
	err = readFiles(ctx, archive, stage, func(done int64) {
		if step != nil {
			step(done, header.Bytes)
		}
	})
	if err != nil {
		return err
	}
	staged := f
	staged.Dir, staged.Name = stage, header.Store
	if key != nil {
		if err := disk.WriteFile(staged.envelope(), header.Envelope); err != nil {
			return parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
		}
	}
	if err := staged.revive(ctx, key, progress); err != nil {
		return err
	}
	return f.settle(staged)
}

// keyOf gives the data key of a backup, or nil if it is not encrypted.
func (f Folder) keyOf(ctx context.Context, header archiveHeader) ([]byte, error) {
	if header.Envelope == nil {
		return nil, nil
	}
	e, err := parseEnvelope("in the backup", header.Envelope)
	if err != nil {
		return nil, err
	}
	keys, err := f.KeysFunc(e.Keys)
	if err != nil {
		return nil, err
	}
	return e.open(ctx, keys)
}

// makeRoom makes the folder, or makes sure that it is empty. It reports whether
// it made it.
func (f Folder) makeRoom() (made bool, err error) {
	entries, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		made = true
		err = os.MkdirAll(f.Dir, 0o700)
	}
	if err != nil {
		return false, parley.Errorf(parley.CodeInvalid, "cannot restore into %s: %v", f.Dir, err)
	}
	cutShort := false
	for _, e := range entries {
		cutShort = cutShort || e.Name() == restoring
	}
	if len(entries) > 0 && !cutShort {
		return false, parley.Errorf(parley.CodeConflict, "%s is not empty; a backup is restored into an empty folder only", f.Dir)
	}
	// The marker goes last, in case this is cut short too.
	for _, e := range entries {
		if e.Name() != restoring {
			err = errors.Join(err, os.RemoveAll(filepath.Join(f.Dir, e.Name())))
		}
	}
	stage := filepath.Join(f.Dir, restoring)
	if err = errors.Join(err, os.RemoveAll(stage)); err == nil {
		err = os.Mkdir(stage, 0o700)
	}
	if err != nil {
		return made, parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
	}
	return made, nil
}

// revive checks a folder that came out of a backup and begins another epoch.
func (f Folder) revive(ctx context.Context, key []byte, progress Progress) error {
	if _, err := os.Stat(f.Path()); err != nil {
		return notBackup("there is no store in it")
	}
	o, err := f.openWith(ctx, key, false)
	if err != nil {
		return err
	}
	err = whole(ctx, o, progress.step("checking the store"))
	if err == nil {
		err = o.Store.BeginEpoch(ctx)
	}
	return errors.Join(err, o.Close(), os.Remove(f.Path()+".lock"))
}

// settle moves what was staged into the folder: the store last, which makes it a
// data folder.
func (f Folder) settle(staged Folder) error {
	entries, err := os.ReadDir(staged.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == staged.Name {
			continue
		}
		if err := os.Rename(filepath.Join(staged.Dir, e.Name()), f.settled(staged, e.Name())); err != nil {
			return err
		}
	}
	if err := disk.SyncFolder(f.Dir); err != nil {
		return err
	}
	if err := os.Rename(staged.Path(), f.Path()); err != nil {
		return err
	}
	if err := os.Remove(staged.Dir); err != nil {
		return err
	}
	return disk.SyncFolder(f.Dir)
}

// settled is where a staged file belongs. The store may have another name here.
func (f Folder) settled(staged Folder, name string) string {
	if filepath.Join(staged.Dir, name) == staged.envelope() {
		return f.envelope()
	}
	return filepath.Join(f.Dir, name)
}

// Verify restores a backup into a folder beside it, checks what is there as
// [Doctor] does, media included, and removes it again.
func (f Folder) Verify(ctx context.Context, file string, progress Progress) (report Report, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(file), ".parley-verify-*")
	if err != nil {
		return report, parley.Errorf(parley.CodeUnavailable, "cannot check the backup: %v", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f.Dir = dir
	if err := f.Restore(ctx, file, progress); err != nil {
		return report, err
	}
	o, err := f.Open(ctx, true)
	if err != nil {
		return report, err
	}
	report, err = Doctor(ctx, o.Store, Config{Media: o.Media, DeepMedia: true, ProgressFunc: progress})
	return report, errors.Join(err, o.Close())
}
