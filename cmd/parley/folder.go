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

// folder gives the folder that holds the store at path. The path of a key file
// starts from dir.
func (a *app) folder(path, dir string) keep.Folder {
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
			return secret.OpenKeys(place, dir, name)
		},
	}
}

// keyPlace says where the key of an encrypted store is.
func (a *app) keyPlace() (string, error) {
	if a.key != "" {
		return a.key, nil
	}
	loaded, err := a.loadConfig()
	if err != nil {
		return "", err
	}
	return cmp.Or(loaded.Config.Store.Key, keyring), nil
}

// keyPlaceText says in words where the key is.
func keyPlaceText(place string) string {
	if place != keyring {
		return place
	}
	return "the system's keyring"
}

// dataFolder gives the folder in which there is the store.
func (a *app) dataFolder() (keep.Folder, error) {
	path, err := a.storePath()
	if err != nil {
		return keep.Folder{}, err
	}
	dir, err := a.dataDir()
	return a.folder(path, dir), err
}

// restoreFolder gives the folder into which a store is restored, under the name
// it would have in the data folder.
func (a *app) restoreFolder(dir string) (keep.Folder, error) {
	loaded, err := a.loadConfig()
	if err != nil {
		return keep.Folder{}, err
	}
	return a.folder(filepath.Join(dir, filepath.Base(loaded.Config.Store.Path)), dir), nil
}
