// Package disk does with files what must survive a crash: whole writes, synced
// names, data without its attributes, writes past the system's memory, locks that
// go with their process, files that keep their owner, how much room is left.
//
// It starts no goroutine and imports nothing of the module.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// SyncFolder makes the names in a folder durable. Windows does that by itself.
func SyncFolder(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the caller's own folder
	if err != nil {
		return err
	}
	return errors.Join(syncNames(d), d.Close())
}

// SyncTree makes the names in a folder and all folders below it durable.
func SyncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return SyncFolder(path)
	})
}

// MakeFolder makes a private folder, with those above it, and makes their names
// durable. It gives the topmost one that was not there, or "" if all were.
func MakeFolder(dir string) (made string, err error) {
	var missing []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, folder := range missing {
		made = folder
		if err := SyncFolder(filepath.Dir(folder)); err != nil {
			return made, err
		}
	}
	return made, nil
}

// WriteFile puts a private file in its place, synced, all of it or nothing. A file
// that was there keeps its mode and owner.
func WriteFile(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// Closed already, or renamed already: then there is nothing to do.
			_, _ = f.Close(), os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if old, err := os.Stat(path); err == nil {
		if err := KeepOwner(f.Name(), old); err != nil {
			return err
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncFolder(dir)
}
