package sqlite

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley/internal/disk"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one numbered step of the schema, and the way back.
type migration struct {
	number   int
	up, down string
}

// migrations are the steps in their order, numbered 1, 2, 3 … They are read
// from files whose names are checked by a test, so a failure here is a mistake
// in the build.
var migrations = func() []migration {
	names, err := fs.Glob(migrationFiles, "migrations/*.up.sql")
	if err != nil {
		panic(err)
	}
	steps := make([]migration, len(names))
	for i, name := range names {
		up, err := migrationFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		down, err := migrationFiles.ReadFile(strings.TrimSuffix(name, ".up.sql") + ".down.sql")
		if err != nil {
			panic(err)
		}
		number, err := strconv.Atoi(strings.TrimPrefix(name, "migrations/")[:4])
		if err != nil || number != i+1 {
			panic("sqlite: migration " + name + " is out of order")
		}
		steps[i] = migration{number: number, up: string(up), down: string(down)}
	}
	return steps
}()

// newest is the version this Parley writes.
func newest() int { return len(migrations) }

// upgrade brings the file to the newest version, over a connection of its own: what an index
// is made of is sorted in files and not in memory, which a connection has little of and
// never gives back. Only for an encrypted store it is sorted in memory, which nobody else can read.
func (s *Store) upgrade(ctx context.Context) error {
	c, err := s.connectWriter()
	if err != nil {
		return err
	}
	err = c.set("temp_store = FILE")
	if err == nil {
		err = s.upgradeOver(ctx, c)
	}
	return errors.Join(err, c.close())
}

// upgradeOver upgrades over a connection. A store with data is copied first.
func (s *Store) upgradeOver(ctx context.Context, c *conn) error {
	version, err := readVersion(s.path, c)
	if err != nil || version == newest() {
		return err
	}
	kept := ""
	if version > 0 {
		if kept, err = s.keepCopy(c, version); err != nil {
			return err
		}
	}
	if err := migrate(ctx, c, version, newest()); err != nil {
		// Where nothing is left in the WAL, the store is as it was for good.
		_, _, walErr := c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
		if is, _ := readVersion(s.path, c); kept != "" && walErr == nil && is == version {
			if removeErr := os.Remove(kept); removeErr != nil {
				return errors.Join(err, removeErr)
			}
			s.cfg.TellFunc("the upgrade failed; the store is as it was, and the copy of it was removed")
		}
		return err
	}
	// Into the file itself, where inspect looks.
	_, _, err = c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
	return err
}

// keepCopy puts a copy of the store beside it and says how to go back to it.
func (s *Store) keepCopy(c *conn, version int) (kept string, err error) {
	if _, _, err := c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE); err != nil {
		return "", fmt.Errorf("move the write-ahead log before the upgrade: %w", err)
	}
	kept = fmt.Sprintf("%s.format%d-%s", s.path, version, time.Now().UTC().Format("20060102T150405.000000Z"))
	if err := copyFile(s.path, kept); err != nil {
		return "", openError("the store has to be upgraded, but no copy of it could be kept", err)
	}
	s.cfg.TellFunc(fmt.Sprintf("upgrading the store from format %d to %d; the store as it was is kept in %s; "+
		"to go back, stop Parley, put that file in place of %s, remove %s-* (what the newer one has left there), and use the Parley that wrote it",
		version, newest(), kept, s.path, s.path))
	return kept, nil
}

// copyFile makes a synced copy of a file. An existing one is not overwritten.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy store: %w", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy store: %w", err)
	}
	defer func() {
		err = errors.Join(err, out.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("copy store: %w", err)
	}
	if err := out.Sync(); err != nil {
		return fmt.Errorf("copy store: %w", err)
	}
	return disk.SyncFolder(filepath.Dir(to))
}

// migrate moves the schema step by step, up or down, in one transaction: all
// steps or none.
func migrate(ctx context.Context, c *conn, from, to int) (err error) {
	tx, err := c.db.BeginExclusive()
	if err != nil {
		return err
	}
	defer tx.End(&err)
	run := func(number int, sql string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.db.Exec(sql); err != nil {
			return fmt.Errorf("migration %d: %w", number, err)
		}
		return nil
	}
	for v := from; v < to; v++ {
		if err := run(migrations[v].number, migrations[v].up); err != nil {
			return err
		}
	}
	for v := from; v > to; v-- {
		if err := run(migrations[v-1].number, migrations[v-1].down); err != nil {
			return err
		}
	}
	if to > 0 {
		secret := make([]byte, KeyBytes)
		_, _ = rand.Read(secret) // it never fails
		if err := c.exec(`INSERT INTO meta (name, value) VALUES ('store_id', ?), ('secret', ?) ON CONFLICT (name) DO NOTHING`,
			rand.Text(), secret); err != nil {
			return err
		}
	}
	return errors.Join(
		c.db.Exec(fmt.Sprintf("PRAGMA application_id = %d", applicationID)),
		c.db.Exec(fmt.Sprintf("PRAGMA user_version = %d", to)))
}
