package sqlite

import (
	"context"
	"errors"
	"fmt"
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
		return notMade(errors.Join(err, removeStore(made.path)))
	}
	err := os.Rename(made.path, s.path)
	if err == nil {
		err = disk.SyncFolder(filepath.Dir(s.path))
	}
	if err != nil {
		return notMade(errors.Join(err, removeStore(made.path)))
	}
	return nil
}

// notMade says why there is no store, and what to do where that is known.
func notMade(err error) error {
	said := translate(opOpen, fmt.Errorf("cannot make the store: %w", err))
	if parley.CodeOf(said) == parley.CodeInternal {
		return &parley.Error{Code: parley.CodeUnavailable, Op: opOpen, Message: "cannot make the store", Err: err}
	}
	return said
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
