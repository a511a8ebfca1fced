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
// bytes of the store and by nothing else; what else is found is left over from
// a switch that was cut short.
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
// [parley.CodeUnavailable] if no key fits; then nothing was changed.
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
		return nil, f.checkMissing()
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

// checkMissing refuses a folder that has the envelope of a store and no store, or
// one that a restore has not finished: making a store there would hide that the
// other is missing.
func (f Folder) checkMissing() error {
	if _, err := os.Stat(f.Path()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(f.Dir, restoring)); err == nil {
		return parley.Errorf(parley.CodeUnavailable, "a restore into %s was cut short; run it again", f.Dir)
	}
	if _, err := os.Stat(f.envelope()); err == nil {
		return parley.Errorf(parley.CodeInvalid,
			"%s is missing, but the envelope of its key is there: restore a backup into another folder, or remove %s to start anew", f.Path(), f.envelope())
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

func (f Folder) envelope() string { return f.Path() + ".key" }
func (f Folder) next() string     { return f.Path() + ".next" }

// mediaDir is the folder of the media. Each form has its own, so that a switch has
// both until it is done.
func (f Folder) mediaDir(encrypted bool) string {
	if encrypted {
		return filepath.Join(f.Dir, "blobs", "sealed")
	}
	return filepath.Join(f.Dir, "blobs", "plain")
}

// tidy removes what a switch or a restore that was cut short has left over, given
// the key that the store has.
func (f Folder) tidy(key []byte) error {
	stale := []string{
		f.mediaDir(key == nil), f.next(), f.next() + "-wal", f.next() + "-shm", f.next() + "-journal", filepath.Join(f.Dir, restoring),
	}
	if key == nil {
		stale = append(stale, f.envelope())
	}
	removed := false
	for _, path := range stale {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return parley.Errorf(parley.CodeUnavailable, "cannot remove what was left over: %v", err)
		}
		removed = true
	}
	if !removed {
		return nil
	}
	return disk.SyncFolder(f.Dir)
}
