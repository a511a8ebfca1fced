package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/keep"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/sqlite"
)

// keyring is where the key of an encrypted store is, if nothing else is said.
const keyring = "keyring"

// folder gives the folder that holds the store at path.
func (a *app) folder(path string) keep.Folder {
	return keep.Folder{
		Dir: filepath.Dir(path), Name: filepath.Base(path),
		OpenFunc: func(ctx context.Context, path string, key []byte, readOnly bool) (keep.Database, error) {
			return sqlite.Open(ctx, path, sqlite.Config{Key: key, ReadOnly: readOnly, TellFunc: a.notice})
		},
		EncryptedFunc: sqlite.Encrypted,
		KeysFunc: func(name string) (keep.Keys, error) {
			place, err := a.keyPlace()
			if err != nil {
				return nil, err
			}
			return secret.OpenKeys(place, "", name)
		},
	}
}

// keyPlace says where the key of an encrypted store is: in the keyring, or in a
// file. A name on the command line starts from where the user is, one of the
// configuration from the data folder.
func (a *app) keyPlace() (string, error) {
	switch a.key {
	case keyring:
		return keyring, nil
	case "":
	default:
		return filepath.Abs(a.key)
	}
	loaded, err := a.loadConfig()
	if err != nil {
		return "", err
	}
	place := cmp.Or(loaded.Config.Store.Key, keyring)
	if place == keyring || filepath.IsAbs(place) {
		return place, nil
	}
	dir, err := a.dataDir()
	return filepath.Join(dir, place), err
}

// dataFolder gives the folder in which there is the store.
func (a *app) dataFolder(ctx context.Context) (keep.Folder, error) {
	path, err := a.storePath()
	if err != nil {
		return keep.Folder{}, a.orRemains(ctx, err)
	}
	return a.folder(path), nil
}

// orRemains gives, for a store that is not there, what its opening says of what is left of it: none is to be made there.
func (a *app) orRemains(ctx context.Context, err error) error {
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	path, nameErr := a.namedStore()
	if nameErr != nil {
		return nameErr
	}
	if _, statErr := os.Stat(filepath.Dir(path)); statErr != nil {
		return err
	}
	opened, openErr := a.folder(path).Open(ctx, true)
	switch {
	case openErr == nil: // it has been made at this moment
		return errors.Join(err, opened.Close())
	case errors.Is(openErr, parley.ErrNotFound):
		return err
	}
	return openErr
}

// restoreFolder gives the folder into which a store is restored, under the name
// it would have in the data folder.
func (a *app) restoreFolder(dir string) (keep.Folder, error) {
	loaded, err := a.loadConfig()
	if err != nil {
		return keep.Folder{}, err
	}
	return a.folder(filepath.Join(dir, filepath.Base(loaded.Config.Store.Path))), nil
}
