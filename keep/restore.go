package keep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/internal/disk"
)

// Restore brings a backup into the folder, which must be empty or not there.
// Everything is written and checked aside, and put in its place at the end; the
// store begins another epoch, so that who followed the old one reads anew. It
// gives back which media were missing or damaged already when the backup was
// made.
//
// A restore that fails leaves the folder as it was; one that is cut short leaves
// something that no Parley opens, and that another restore replaces.
func (f Folder) Restore(ctx context.Context, file string, progress Progress) (lost []parley.Problem, err error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, parley.Errorf(parley.CodeInvalid, "cannot read the backup: %v", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	info, err := in.Stat()
	if err != nil {
		return nil, parley.Errorf(parley.CodeInvalid, "cannot read the backup: %v", err)
	}
	a, err := openArchive(bufio.NewReaderSize(in, 1<<20), info.Size())
	if err != nil {
		return nil, err
	}
	// Before anything is written.
	key, err := f.keyOf(ctx, a.header)
	if err != nil {
		return nil, err
	}
	stage, made, err := f.makeRoom()
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, stage.remove())
		if err != nil && made != "" {
			err = errors.Join(err, os.RemoveAll(made))
		}
	}()
	staged := f
	staged.Dir, staged.Name = stage.path("folder"), storeEntry
	if lost, err = staged.unpack(ctx, a, key, progress); err != nil {
		return nil, err
	}
	return lost, f.settle(staged)
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

// makeRoom makes the folder, or makes sure that it is empty but for what another
// restore has left, and takes the stage in it. It gives the topmost folder that
// it made.
func (f Folder) makeRoom() (stage *scratch, made string, err error) {
	made, err = disk.MakeFolder(f.Dir)
	if err != nil {
		return nil, "", parley.Errorf(parley.CodeInvalid, "cannot restore into %s: %v", f.Dir, err)
	}
	defer func() {
		if err != nil && made != "" {
			err = errors.Join(err, os.RemoveAll(made))
		}
	}()
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, made, parley.Errorf(parley.CodeInvalid, "cannot restore into %s: %v", f.Dir, err)
	}
	cutShort := exists(f.stage())
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "lost+found": // of an empty disk
		case cutShort && (name == filepath.Base(f.stage()) || name == mediaEntries || name == filepath.Base(f.envelope())):
		default:
			return nil, made, parley.Errorf(parley.CodeConflict, "%s is not empty; a backup is restored into an empty folder only", f.Dir)
		}
	}
	stage = &scratch{dir: f.stage()}
	if err := os.Mkdir(stage.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, made, parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
	}
	if err := stage.take(); err != nil {
		return nil, made, parley.Errorf(parley.CodeUnavailable, "another restore into %s is under way", f.Dir)
	}
	if err := errors.Join(f.clear(), os.RemoveAll(stage.path("folder")), os.Mkdir(stage.path("folder"), 0o700)); err != nil {
		return nil, made, errors.Join(parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err), stage.remove())
	}
	return stage, made, nil
}

// clear removes what a restore puts into the folder before the store.
func (f Folder) clear() error {
	return errors.Join(os.RemoveAll(filepath.Join(f.Dir, mediaEntries)), os.RemoveAll(f.envelope()))
}

// unpack writes an archive into the folder, checks what is there, and begins
// another epoch.
func (f Folder) unpack(ctx context.Context, a *archiveReader, key []byte, progress Progress) (lost []parley.Problem, err error) {
	if err := a.extract(ctx, f.Dir, progress.step("reading the backup")); err != nil {
		return nil, err
	}
	if !exists(f.Path()) {
		return nil, notBackup("there is no store in it")
	}
	if key != nil {
		if err := disk.WriteFile(f.envelope(), a.header.Envelope); err != nil {
			return nil, parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", err)
		}
	}
	o, err := f.openWith(ctx, key, false)
	if err != nil {
		return nil, err
	}
	lost, err = revive(ctx, o, progress)
	return lost, errors.Join(err, o.Close(), os.Remove(f.Path()+".lock"), disk.SyncTree(f.Dir))
}

// revive checks a store that came out of a backup and begins another epoch. The
// archive is what was written, so media that are not there were not there then.
func revive(ctx context.Context, o *Opened, progress Progress) (lost []parley.Problem, err error) {
	if progress != nil {
		progress("checking the store", 0, 0)
	}
	var first *parley.Problem
	err = o.Store.Check(ctx, func(p parley.Problem) {
		if first == nil {
			first = &p
		}
	})
	if err == nil && first != nil {
		err = notBackup("its store is not whole: %s: %s", first.Kind, first.Detail)
	}
	if err != nil {
		return nil, err
	}
	err = o.Media.Check(ctx, blob.CheckConfig{ProgressFunc: progress.count("checking media")}, func(p parley.Problem) { lost = append(lost, p) })
	if err != nil {
		return nil, err
	}
	return lost, o.Store.BeginEpoch(ctx)
}

// settle moves what was staged into the folder: the store last, which makes it a
// data folder. If it fails, what it moved is removed again.
func (f Folder) settle(staged Folder) (err error) {
	defer func() {
		if err != nil {
			err = parley.Errorf(parley.CodeUnavailable, "cannot restore: %v", errors.Join(err, f.clear()))
		}
	}()
	for from, to := range map[string]string{
		filepath.Join(staged.Dir, mediaEntries): filepath.Join(f.Dir, mediaEntries),
		staged.envelope():                       f.envelope(),
	} {
		if !exists(from) {
			continue
		}
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	if err := disk.SyncFolder(f.Dir); err != nil {
		return err
	}
	if err := os.Rename(staged.Path(), f.Path()); err != nil {
		return err
	}
	if err := disk.SyncFolder(f.Dir); err != nil {
		return errors.Join(err, os.Remove(f.Path()))
	}
	return nil
}

// Verify restores a backup into a folder beside it, checks what is there as
// [Doctor] does, media included, and removes it again.
func (f Folder) Verify(ctx context.Context, file string, progress Progress) (report Report, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s is written, but could not be checked: %w", file, err)
		}
	}()
	work, err := newScratch(filepath.Dir(file))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, work.remove()) }()
	f.Dir = work.path("folder")
	if _, err := f.Restore(ctx, file, progress); err != nil {
		return report, err
	}
	o, err := f.Open(ctx, true)
	if err != nil {
		return report, err
	}
	report, err = Doctor(ctx, o.Store, Config{Media: o.Media, DeepMedia: true, ProgressFunc: progress})
	return report, errors.Join(err, o.Close())
}
