package main

import (
	"cmp"
	"context"

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
			return secret.OpenKeys(a.keyPlace(), dir, name)
		},
	}
}

// keyPlace says where the key of an encrypted store is.
func (a *app) keyPlace() string { return cmp.Or(a.key, a.getenv("PARLEY_STORE_KEY"), keyring) }

// keyPlaceText says it in words.
func (a *app) keyPlaceText() string {
	if place := a.keyPlace(); place != keyring {
		return place
	}
	return "the system's keyring"
}

// dataFolder gives the data folder, in which there is a store.
func (a *app) dataFolder() (keep.Folder, error) {
	if _, err := a.storePath(); err != nil {
		return keep.Folder{}, err
	}
	dir, err := a.dataDir()
	return a.folder(dir), err
}
