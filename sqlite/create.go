package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// create makes a store under another name and puts it in its place when it is
// whole and synced: whatever happens on the way, there is no store or a whole
// one.
func (s *Store) create(ctx context.Context) error {
	made := &Store{path: s.path + ".new", cfg: s.cfg, vfs: s.vfs, writerVFS: s.writerVFS}
	if err := made.build(ctx); err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot make the store: %v", err)
	}
	err := os.Rename(made.path, s.path)
	if err == nil {
		err = disk.SyncFolder(filepath.Dir(s.path))
	}
	if err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot make the store: %v", err)
	}
	return nil
}

// build makes an empty store of the newest version, and nothing beside it.
func (s *Store) build(ctx context.Context) (err error) {
	if err := removeStore(s.path); err != nil {
		return err
	}
	// SQLite would make the file readable to all.
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := s.upgrade(ctx); err != nil {
		return err
	}
	return f.Sync()
}

const maxLinks = 40 // that lead from one to the next; systems follow about as many

// realPath gives the absolute path behind symbolic links, so that a store has
// one lock whatever it is called by.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range maxLinks {
		target, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return target, err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			// inspect says what is missing.
			return path, nil //nolint:nilerr // the error is told there, with what to do
		}
		path = filepath.Join(dir, filepath.Base(path))
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // it is no link, and still to be made
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(dir, link)
		}
		path = link // what it points to is still to be made
	}
	return "", fmt.Errorf("%s: too many links", path)
}
