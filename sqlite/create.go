package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/parley-run/parley/internal/disk"
)

// create makes a store under another name and puts it in its place when it is
// whole and synced: whatever happens on the way, there is no store or a whole
// one.
func (s *Store) create(ctx context.Context) error {
	made := &Store{path: s.path + ".new", cfg: s.cfg, vfs: s.vfs, writerVFS: s.writerVFS}
	err := made.build(ctx)
	if err == nil {
		err = os.Rename(made.path, s.path)
	}
	if err == nil {
		err = disk.SyncFolder(filepath.Dir(s.path))
	}
	if err != nil {
		return openError("cannot make the store", errors.Join(err, removeStore(made.path)))
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
