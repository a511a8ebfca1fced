package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// copyPages is how many pages are copied between two looks at the context.
const copyPages = 1024

// CopyTo writes a copy of the store to path, where nothing may be: the store as
// it is when the copy begins, whatever is committed meanwhile. The copy has the
// key given, or is not encrypted if that is nil, and it is synced. It holds
// nothing of what was redacted. Progress, if not nil, is told how many pages are
// done; it must not close the store.
//
// While it runs the WAL of a busy store grows, and Close waits for it. If it fails, nothing
// is left at path.
func (s *Store) CopyTo(ctx context.Context, path string, key []byte, progress func(done, total int64)) error {
	return translate("copy store", s.copyTo(ctx, path, key, progress))
}

func (s *Store) copyTo(ctx context.Context, path string, key []byte, progress func(done, total int64)) (err error) {
	ended, err := s.readers.beginLong()
	if err != nil {
		return err
	}
	defer ended()
	target := s.cfg.vfs
	if key != nil {
		var unregister func()
		if target, unregister, err = registerCipherVFS(s.cfg.vfs, key); err != nil {
			return err
		}
		defer unregister()
	}
	// Through the writer's VFS, which clears the gaps of pages.
	target, unregister := registerWriterVFS(target)
	defer unregister()

	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return parley.Errorf(parley.CodeUnavailable, "cannot write the copy: %v", err)
	}
	defer func() {
		err = errors.Join(err, out.Close())
		if err != nil {
			err = errors.Join(err, removeStore(path))
		}
	}()
	c, err := s.connectReader()
	if err != nil {
		return s.writer.walHealth.orLost(ctx, err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	err = c.transact(ctx, func(c *conn) error {
		// The first read fixes the moment that the transaction sees.
		if _, err := c.exists(`SELECT 1 FROM meta`); err != nil {
			return err
		}
		return copyDatabase(ctx, c, fileURI(path, target), progress)
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := s.writer.walHealth.orLost(ctx, err); err != nil {
		return err
	}
	if err := s.writer.awaitDurable(ctx); err != nil {
		return err
	}
	if err := disownIntents(path, target); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return disk.SyncFolder(filepath.Dir(path))
}

// disownIntents makes a copy one that intents of its store are nothing to: it may have been made before them, and go on in another way.
func disownIntents(path, vfs string) error {
	c, err := openConn(path, vfs, sqlite3.OPEN_READWRITE)
	if err != nil {
		return err
	}
	// Without a WAL or a journal beside it: half of a copy is nobody's.
	err = c.set("journal_mode = MEMORY", "secure_delete = ON")
	if err == nil {
		err = c.exec(`UPDATE intents SET id = ?`, rand.Text())
	}
	if err == nil {
		err = c.set("journal_mode = WAL")
	}
	return errors.Join(err, c.close())
}

// copyDatabase copies what the transaction of c sees.
func copyDatabase(ctx context.Context, c *conn, to string, progress func(done, total int64)) (err error) {
	b, err := c.db.BackupInit("main", to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if done, err = b.Step(copyPages); err != nil {
			return err
		}
		if progress != nil {
			progress(int64(b.PageCount()-b.Remaining()), int64(b.PageCount()))
		}
	}
	return nil
}

// removeStore removes the files of a store that nobody uses.
func removeStore(path string) error {
	var errs []error
	for _, suffix := range storeSuffixes {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// ReplaceBy closes the store and puts the file at path, a copy of it, in its
// place. That is one step: at any moment the one or the other is there, whole.
// No other process can write in between; one that reads makes it fail with
// [parley.CodeUnavailable] and change nothing. The store is closed either way.
func (s *Store) ReplaceBy(path string) error {
	err := errClosed()
	s.closeOnce.Do(func() {
		err = s.closeFiles()
		if err == nil {
			err = s.replaceBy(path)
		}
		err = errors.Join(translate("replace store", err), s.lock.release())
	})
	return err
}

func (s *Store) replaceBy(path string) error {
	if s.cfg.ReadOnly {
		return parley.Errorf(parley.CodeUnavailable, "the store was opened for reading only")
	}
	for _, suffix := range storeSuffixes[1:] {
		// What is left beside the file would be taken for a part of the other.
		if _, err := os.Stat(s.path + suffix); err == nil {
			return parley.Errorf(parley.CodeUnavailable, "another process is reading the store; stop it first")
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// What was beside the old file has to be gone before the other is there.
	if err := disk.SyncFolder(filepath.Dir(s.path)); err != nil {
		return err
	}
	if err := os.Rename(path, s.path); err != nil {
		return err
	}
	return disk.SyncFolder(filepath.Dir(s.path))
}
