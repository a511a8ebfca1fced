package main

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/parley-run/parley/keep"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/sqlite"
)

// keyring is where the key of an encrypted store is, if nothing else is said.
const keyring = "keyring"

// folder gives the data folder in dir.
func (a *app) folder(dir string) keep.Folder {
	return keep.Folder{
		Dir: dir, Name: storeName,
		OpenFunc: func(ctx context.Context, path string, key []byte, readOnly bool) (keep.Database, error) {
			return sqlite.Open(ctx, path, sqlite.Config{Key: key, ReadOnly: readOnly, TellFunc: a.notice})
		},
		EncryptedFunc: sqlite.Encrypted,
		KeysFunc: func(name string) (keep.Keys, error) {
			place, err := a.keyPlace(dir)
			if err != nil {
				return nil, err
			}
			return secret.OpenKeys(place, dir, name)
		},
	}
}

// keyPlace says where the key of the encrypted store in dir is: in the keyring, or
// in a file. A name on the command line starts from where the user is, another
// from the data folder.
func (a *app) keyPlace(dir string) (string, error) {
	switch {
	case a.key == keyring:
		return keyring, nil
	case a.key != "":
		return filepath.Abs(a.key)
	}
	place := cmp.Or(a.getenv("PARLEY_STORE_KEY"), keyring)
	if place != keyring && !filepath.IsAbs(place) {
		place = filepath.Join(dir, place)
	}
	return place, nil
}

// dataFolder gives the data folder, in which there is a store.
func (a *app) dataFolder() (keep.Folder, error) {
	if _, err := a.storePath(); err != nil {
		return keep.Folder{}, err
	}
	dir, err := a.dataDir()
	return a.folder(dir), err
}
