package keep

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/internal/disk"
)

// Database is a store in a file of a data folder.
type Database interface {
	Store
	// CopyTo writes a copy to path: the store as it is when the copy begins,
	// encrypted with the key, or plain if that is nil.
	CopyTo(ctx context.Context, path string, key []byte, progress func(done, total int64)) error
	// ReplaceBy closes the store and puts the file at path in its place, in one
	// step.
	ReplaceBy(path string) error
	// Secret gives a key that belongs to this store and this purpose.
	Secret(ctx context.Context, purpose string) ([]byte, error)
	// BeginEpoch starts another life of the store.
	BeginEpoch(ctx context.Context) error
}

// Folder is a data folder: a store, the media beside it, and, if they are
// encrypted, the envelope of their key. Whether they are is told by the first
// bytes of the store.
//
// While a switch is under way, and only then, the envelope has another name. So
// what is left of a switch that was cut short is known as such, and a store that
// is not encrypted although its envelope is there is never taken for the one that
// belongs there.
type Folder struct {
	// Dir is the folder, and Name the name of the store in it. Required.
	Dir, Name string
	// OpenFunc opens the store at path. Required.
	OpenFunc func(ctx context.Context, path string, key []byte, readOnly bool) (Database, error)
	// EncryptedFunc reports whether there is a store at path that needs a key.
	// Required.
	EncryptedFunc func(path string) (bool, error)
	// KeysFunc gives the keys of this name, which open the envelope. Required for
	// an encrypted store.
	KeysFunc func(name string) (Keys, error)
	// Media configures the media; the keys in it are set here.
	Media blob.Config
}

// Opened is a data folder in use.
type Opened struct {
	Store Database
	Media *blob.Store
}

// Close closes the store.
func (o *Opened) Close() error { return o.Store.Close() }

// Open opens the folder, and makes the store if there is none. Opened for
// writing, it first removes what a switch that was cut short has left over. It
// fails as the store's own opening does, and with [parley.CodeInvalid] or
// [parley.CodeUnavailable] if no key fits, or if the store is not the one that
// the envelope belongs to; then nothing was changed.
func (f Folder) Open(ctx context.Context, readOnly bool) (*Opened, error) {
	key, err := f.key(ctx)
	if err != nil {
		return nil, err
	}
	return f.openWith(ctx, key, readOnly)
}

// key gives the data key of the folder's store, or nil if it is not encrypted.
func (f Folder) key(ctx context.Context) ([]byte, error) {
	encrypted, err := f.EncryptedFunc(f.Path())
	if err != nil {
		return nil, err
	}
	if !encrypted {
		return nil, f.checkPlain()
	}
	_, data, err := f.unlock(ctx)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, parley.Errorf(parley.CodeInvalid,
			"%s is not a store of Parley, or it is encrypted and the envelope %s with its key is missing; restore a backup", f.Path(), f.envelope())
	}
	return data, err
}

// unlock opens the envelope. It gives the name of the keys and the data key.
func (f Folder) unlock(ctx context.Context) (name string, data []byte, err error) {
	e, err := readEnvelope(f.envelope())
	if errors.Is(err, parley.ErrNotFound) {
		e, err = readEnvelope(f.switching())
	}
	if err != nil {
		return "", nil, err
	}
	keys, err := f.KeysFunc(e.Keys)
	if err != nil {
		return "", nil, err
	}
	data, err = e.open(ctx, keys)
	return e.Keys, data, err
}

// checkPlain refuses a store that is plain, empty or missing where an encrypted
// one belongs: using it would hide that the other is lost. It also refuses a
// folder that a restore has not finished.
func (f Folder) checkPlain() error {
	info, err := os.Stat(f.Path())
	missing := errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
	switch {
	case exists(f.envelope()) && missing:
		return parley.Errorf(parley.CodeInvalid,
			"%s is missing, but the envelope of its key is there: restore a backup into another folder, or move %s away to start anew", f.Path(), f.envelope())
	case exists(f.envelope()):
		return parley.Errorf(parley.CodeInvalid,
			"%s is not encrypted, but the envelope of its key is there: this is not the store that belongs here; put that one back, or restore a backup; to use this one all the same, move %s away",
			f.Path(), f.envelope())
	case missing && exists(f.stage()):
		return parley.Errorf(parley.CodeUnavailable, "a restore into %s was cut short; run it again", f.Dir)
	}
	return nil
}

// openWith opens the folder with the data key.
func (f Folder) openWith(ctx context.Context, key []byte, readOnly bool) (*Opened, error) {
	db, err := f.OpenFunc(ctx, f.Path(), key, readOnly)
	if err != nil {
		return nil, err
	}
	if !readOnly {
		err = f.tidy(key)
	}
	var media *blob.Store
	if err == nil {
		media, err = f.mediaIn(ctx, db, f.mediaDir(key != nil), key)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Opened{Store: db, Media: media}, nil
}

// mediaIn gives the media in dir of a store with the data key.
func (f Folder) mediaIn(ctx context.Context, db Database, dir string, key []byte) (*blob.Store, error) {
	cfg := f.Media
	var err error
	if cfg.Key, err = db.Secret(ctx, "names of blobs"); err != nil {
		return nil, err
	}
	if key != nil {
		if cfg.Secret, err = hkdf.Key(sha256.New, key, nil, "parley blobs", keyBytes); err != nil {
			return nil, err
		}
	}
	return blob.New(dir, db, cfg)
}

// Path is where the store is.
func (f Folder) Path() string { return filepath.Join(f.Dir, f.Name) }

func (f Folder) envelope() string  { return f.Path() + ".key" }
func (f Folder) switching() string { return f.Path() + ".key.next" }
func (f Folder) next() string      { return f.Path() + ".next" }
func (f Folder) stage() string     { return filepath.Join(f.Dir, ".parley-restoring") }

// mediaDir is the folder of the media. Each form has its own, so that a switch has
// both until it is done.
func (f Folder) mediaDir(encrypted bool) string {
	return filepath.Join(f.Dir, mediaEntries, formName(encrypted))
}

func formName(encrypted bool) string {
	if encrypted {
		return "sealed"
	}
	return "plain"
}

// tidy finishes what was cut short: a switch, by what the store has become, given
// the key that it has; and a restore that had but to clean up.
func (f Folder) tidy(key []byte) error {
	err := os.RemoveAll(f.stage())
	if err == nil && exists(f.switching()) {
		err = f.finish(key)
	}
	if err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot remove what was left over: %v", err)
	}
	return nil
}

// finish ends a switch. The envelope, which tells that there is one, is the last.
func (f Folder) finish(key []byte) error {
	// What the store is must be durable before the other form goes.
	if err := disk.SyncFolder(f.Dir); err != nil {
		return err
	}
	for _, stale := range []string{f.mediaDir(key == nil), f.next(), f.next() + "-wal", f.next() + "-shm", f.next() + "-journal"} {
		if err := os.RemoveAll(stale); err != nil {
			return err
		}
	}
	var err error
	if key != nil && !exists(f.envelope()) {
		err = os.Rename(f.switching(), f.envelope())
	} else {
		err = os.Remove(f.switching())
	}
	return errors.Join(err, disk.SyncFolder(f.Dir))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
