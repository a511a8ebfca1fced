package keep

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/internal/disk"
)

// Encrypt makes the folder's store and media encrypted. If there is no key yet,
// one is made. Nobody else may use the store meanwhile. Cut short, the folder is
// what it was or what it was to become, and whole either way.
func (f Folder) Encrypt(ctx context.Context, progress Progress) error {
	return f.replace(ctx, progress, func(key []byte) ([]byte, error) {
		if key != nil {
			return nil, parley.Errorf(parley.CodeConflict, "the store is encrypted already; for another key: parley encrypt rotate")
		}
		name := "store-" + strings.ToLower(rand.Text()[:12])
		keys, err := f.KeysFunc(name)
		if err != nil {
			return nil, err
		}
		list, err := keys.Keys(ctx)
		if errors.Is(err, parley.ErrNotFound) {
			list = [][]byte{newKey()}
			err = keys.Save(ctx, list)
		}
		if err != nil {
			return nil, err
		}
		data := newKey()
		return data, wrap(ctx, f.switching(), name, keys, list[0], data)
	})
}

// Decrypt makes the folder's store and media plain. The key stays where it is:
// backups may need it.
func (f Folder) Decrypt(ctx context.Context, progress Progress) error {
	return f.replace(ctx, progress, func(key []byte) ([]byte, error) {
		if key == nil {
			return nil, parley.Errorf(parley.CodeConflict, "the store is not encrypted")
		}
		if err := os.Rename(f.envelope(), f.switching()); err != nil {
			return nil, parley.Errorf(parley.CodeUnavailable, "cannot begin: %v", err)
		}
		return nil, disk.SyncFolder(f.Dir)
	})
}

// Rotate seals the envelope with another key. The data key stays, so the store
// itself is not written again. The older keys stay too, for other stores and for
// backups, unless forget is set: then what was sealed with them cannot be opened
// any more.
//
// First the new key stands beside the old ones, then the envelope is sealed with
// it, then the old ones may go: whenever it is cut short, one of them fits.
func (f Folder) Rotate(ctx context.Context, forget bool) error {
	key, err := f.key(ctx)
	if err != nil {
		return err
	}
	if key == nil {
		return parley.Errorf(parley.CodeConflict, "the store is not encrypted; for that: parley encrypt on")
	}
	// Open, so that nobody else has it, and the key is known to fit.
	o, err := f.openWith(ctx, key, false)
	if err != nil {
		return err
	}
	return errors.Join(f.rotate(ctx, forget), o.Close())
}

func (f Folder) rotate(ctx context.Context, forget bool) error {
	name, data, err := f.unlock(ctx)
	if err != nil {
		return err
	}
	keys, err := f.KeysFunc(name)
	if err != nil {
		return err
	}
	next := newKey()
	if err := addKey(ctx, keys, next); err != nil {
		return err
	}
	if err := wrap(ctx, f.envelope(), name, keys, next, data); err != nil {
		return err
	}
	// Another store may share the list and have changed it at the same moment.
	if err := addKey(ctx, keys, next); err != nil {
		return err
	}
	if forget {
		return keys.Save(ctx, [][]byte{next})
	}
	return nil
}

// addKey puts a key in front of the list, if it is not in it.
func addKey(ctx context.Context, keys Keys, key []byte) error {
	list, err := keys.Keys(ctx)
	if err != nil || slices.ContainsFunc(list, func(k []byte) bool { return bytes.Equal(k, key) }) {
		return err
	}
	return keys.Save(ctx, append([][]byte{key}, list...))
}

// wrap writes an envelope with a data key, sealed with key, one of the keys of
// that name, after it made sure that they open it.
func wrap(ctx context.Context, path, name string, keys Keys, key, data []byte) error {
	text, err := seal(name, key, data)
	if err != nil {
		return err
	}
	e, err := parseEnvelope(path, text)
	if err != nil {
		return err
	}
	again, err := e.open(ctx, keys)
	if err == nil && !bytes.Equal(again, data) {
		err = parley.Errorf(parley.CodeInternal, "the envelope does not give back the key that was put in")
	}
	if err != nil {
		return err
	}
	if err := disk.WriteFile(path, text); err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot write the envelope of the store's key: %v", err)
	}
	return nil
}

// replace rewrites the store and its media under another data key, which choose
// gives from the one they have, after it put the envelope under the name that
// tells of a switch.
//
// Everything is written beside what is there, and checked. Then the store's file
// is replaced, which is the switch: a crash before it leaves the folder as it
// was, a crash after it leaves the new one, whole either way. What is left over
// goes when the folder is opened again.
func (f Folder) replace(ctx context.Context, progress Progress, choose func(key []byte) ([]byte, error)) error {
	from, o, err := f.openAlone(ctx)
	if err != nil {
		return err
	}
	to, err := f.prepare(ctx, o, from, choose, progress)
	if err != nil {
		// The store is still ours, and what it was.
		return errors.Join(err, f.tidy(from), o.Close())
	}
	err = o.Store.ReplaceBy(f.next())
	// From here on the store itself says what it is, whatever the error; and what
	// was begun is finished.
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		return errors.Join(err, f.settleSwitch(ctx, from, to))
	}
	if err := f.settleSwitch(ctx, from, to); err != nil {
		return fmt.Errorf("it is done, but the store could not be opened afterwards: %w", err)
	}
	return nil
}

// openAlone opens the folder for writing when nobody else, not even a reader, has
// the store open.
func (f Folder) openAlone(ctx context.Context) (key []byte, o *Opened, err error) {
	if key, err = f.key(ctx); err != nil {
		return nil, nil, err
	}
	if !exists(f.Path()) {
		return nil, nil, parley.Errorf(parley.CodeNotFound, "there is no store at %s", f.Path())
	}
	if kept, err := filepath.Glob(f.Path() + ".format*"); err != nil || len(kept) > 0 {
		return nil, nil, parley.Errorf(parley.CodeConflict,
			"there are copies that upgrades have kept (%s), which would stay as they are; remove them, or move them away, first", strings.Join(kept, ", "))
	}
	if o, err = f.openWith(ctx, key, false); err != nil {
		return nil, nil, err
	}
	// Who closes the store as the last one takes its log along.
	if err := o.Close(); err != nil {
		return nil, nil, err
	}
	if exists(f.Path()+"-shm") || exists(f.Path()+"-wal") {
		return nil, nil, parley.Errorf(parley.CodeUnavailable, "another process is reading the store; stop it first")
	}
	o, err = f.openWith(ctx, key, false)
	return key, o, err
}

// prepare writes everything under the other key beside what is there.
func (f Folder) prepare(ctx context.Context, o *Opened, from []byte, choose func(key []byte) ([]byte, error), progress Progress) ([]byte, error) {
	if err := whole(ctx, o, false, progress); err != nil {
		return nil, err
	}
	to, err := choose(from)
	if err != nil {
		return nil, err
	}
	media, err := f.mediaIn(ctx, o.Store, f.mediaDir(to != nil), to)
	if err != nil {
		return nil, err
	}
	if err := blob.CopyAll(ctx, o.Media, media, blob.CopyConfig{ProgressFunc: progress.count("copying media")}); err != nil {
		return nil, err
	}
	if err := o.Store.CopyTo(ctx, f.next(), to, progress.step("copying the store")); err != nil {
		return nil, err
	}
	next, err := f.OpenFunc(ctx, f.next(), to, true)
	if err != nil {
		return nil, err
	}
	err = whole(ctx, &Opened{Store: next, Media: media}, true, progress)
	if err := errors.Join(err, next.Close()); err != nil {
		return nil, err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.RemoveAll(f.next() + suffix); err != nil {
			return nil, err
		}
	}
	if err := f.handOver(to != nil); err != nil {
		return nil, err
	}
	return to, disk.SyncFolder(f.Dir)
}

// handOver gives what was written the owner of what is there, and the store its
// mode: root may do this once for a daemon that is not.
func (f Folder) handOver(encrypted bool) error {
	old, err := os.Stat(f.Path())
	if err != nil {
		return err
	}
	if err := disk.KeepOwner(f.next(), old); err != nil {
		return err
	}
	if err := disk.TakeOwner(f.switching(), old); err != nil {
		return err
	}
	err = filepath.WalkDir(f.mediaDir(encrypted), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return disk.TakeOwner(path, old)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no media
	}
	return err
}

// settleSwitch opens the folder with the key that its store has by now, which
// removes what is left over, and looks into it.
func (f Folder) settleSwitch(ctx context.Context, from, to []byte) error {
	key := to
	encrypted, err := f.EncryptedFunc(f.Path())
	if err != nil {
		return err
	}
	if encrypted != (to != nil) {
		key = from
	}
	o, err := f.openWith(ctx, key, false)
	if err != nil {
		return err
	}
	_, err = o.Store.Sessions(ctx, parley.SeeAll(), parley.SessionQuery{IncludeInactive: true, Limit: 1})
	return errors.Join(err, o.Close())
}

// whole refuses a store that is damaged: a copy of it would be too. With deep
// media are compared with their names.
func whole(ctx context.Context, o *Opened, deep bool, progress Progress) error {
	if progress != nil {
		progress("checking the store", 0, 0)
	}
	var first *parley.Problem
	note := func(p parley.Problem) {
		if first == nil {
			first = &p
		}
	}
	if err := o.Store.Check(ctx, note); err != nil {
		return err
	}
	if err := o.Media.Check(ctx, blob.CheckConfig{Deep: deep, ProgressFunc: progress.count("checking media")}, note); err != nil {
		return err
	}
	if first != nil {
		return parley.Errorf(parley.CodeInvalid, "the store is not whole: %s: %s; see parley doctor", first.Kind, first.Detail)
	}
	return nil
}

// Progress is told now and then how far long work is. A total of 0 means that it
// is not known. nil: nobody is told.
type Progress func(step string, done, total int64)

// step gives the progress of one step.
func (p Progress) step(name string) func(done, total int64) {
	if p == nil {
		return nil
	}
	return func(done, total int64) { p(name, done, total) }
}

// count gives the progress of a step whose end is not known.
func (p Progress) count(name string) func(done int64) {
	if p == nil {
		return nil
	}
	return func(done int64) { p(name, done, 0) }
}
