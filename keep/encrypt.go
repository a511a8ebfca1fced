package keep

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
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
		return data, f.wrap(ctx, name, list[0], data)
	})
}

// Decrypt makes the folder's store and media plain. The key stays where it is:
// backups may need it.
func (f Folder) Decrypt(ctx context.Context, progress Progress) error {
	return f.replace(ctx, progress, func(key []byte) ([]byte, error) {
		if key == nil {
			return nil, parley.Errorf(parley.CodeConflict, "the store is not encrypted")
		}
		return nil, nil
	})
}

// Rotate replaces the key that opens the store. The data key stays, so the store
// itself is not written again; backups that were made before need the old key.
//
// First the new key stands beside the old one, then the envelope is sealed with
// it, then the old one goes: whenever it is cut short, one of them fits.
func (f Folder) Rotate(ctx context.Context) error {
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
	return errors.Join(f.rotate(ctx), o.Close())
}

func (f Folder) rotate(ctx context.Context) error {
	name, data, err := f.unlock(ctx)
	if err != nil {
		return err
	}
	keys, err := f.KeysFunc(name)
	if err != nil {
		return err
	}
	list, err := keys.Keys(ctx)
	if err != nil {
		return err
	}
	next := newKey()
	if err := keys.Save(ctx, append([][]byte{next}, list...)); err != nil {
		return err
	}
	if err := f.wrap(ctx, name, next, data); err != nil {
		return err
	}
	return keys.Save(ctx, [][]byte{next})
}

// wrap puts a data key into the folder's envelope, sealed with the key, one of
// those of that name, and looks
// whether it can be opened again.
func (f Folder) wrap(ctx context.Context, name string, key, data []byte) error {
	text, err := seal(name, key, data)
	if err != nil {
		return err
	}
	if err := disk.WriteFile(f.envelope(), text); err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot write the envelope of the store's key: %v", err)
	}
	_, again, err := f.unlock(ctx)
	if err == nil && !bytes.Equal(again, data) {
		err = parley.Errorf(parley.CodeInternal, "the envelope %s does not give back the key that was put in", f.envelope())
	}
	return err
}

// replace rewrites the store and its media under another data key, which choose
// gives from the one they have.
//
// Everything is written beside what is there, and checked. Then the store's file
// is replaced, which is the switch: a crash before it leaves the folder as it
// was, a crash after it leaves the new one, whole either way. What is left over
// goes when the folder is opened again.
func (f Folder) replace(ctx context.Context, progress Progress, choose func(key []byte) ([]byte, error)) (err error) {
	from, err := f.key(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(f.Path()); err != nil {
		return parley.Errorf(parley.CodeNotFound, "there is no store at %s", f.Path())
	}
	o, err := f.openWith(ctx, from, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if err := whole(ctx, o, progress.step("checking the store")); err != nil {
		return err
	}
	to, err := choose(from)
	if err != nil {
		return err
	}
	if err := f.rewrite(ctx, o, to, progress); err != nil {
		return errors.Join(err, f.tidy(from))
	}
	if err := o.Store.ReplaceBy(f.next()); err != nil {
		return errors.Join(err, f.tidy(from))
	}
	return f.checkSwitched(ctx, to)
}

// rewrite writes the store and its media under the key beside what is there,
// and checks what it wrote.
func (f Folder) rewrite(ctx context.Context, o *Opened, key []byte, progress Progress) error {
	copied, err := f.mediaIn(ctx, o.Store, f.mediaDir(key != nil), key)
	if err != nil {
		return err
	}
	if err := blob.CopyAll(ctx, o.Media, copied, blob.CopyConfig{ProgressFunc: progress.count("copying media")}); err != nil {
		return err
	}
	if err := o.Store.CopyTo(ctx, f.next(), key, progress.step("copying the store")); err != nil {
		return err
	}
	next, err := f.OpenFunc(ctx, f.next(), key, true)
	if err != nil {
		return err
	}
	err = whole(ctx, &Opened{Store: next, Media: copied}, progress.step("checking the copy"))
	if err := errors.Join(err, next.Close()); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.RemoveAll(f.next() + suffix); err != nil {
			return err
		}
	}
	return disk.SyncFolder(f.Dir)
}

// checkSwitched opens the folder as it is after a switch, which also removes what
// is left over.
func (f Folder) checkSwitched(ctx context.Context, key []byte) error {
	o, err := f.openWith(ctx, key, false)
	if err != nil {
		return fmt.Errorf("open the store after the switch: %w", err)
	}
	_, err = o.Store.Sessions(ctx, parley.SeeAll(), parley.SessionQuery{IncludeInactive: true, Limit: 1})
	return errors.Join(err, o.Close())
}

// whole refuses a store that is damaged: a copy of it would be too.
func whole(ctx context.Context, o *Opened, progress func(done, total int64)) error {
	if progress != nil {
		progress(0, 0)
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
	if err := o.Media.Check(ctx, blob.CheckConfig{}, note); err != nil {
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
