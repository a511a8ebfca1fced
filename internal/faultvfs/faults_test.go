package faultvfs_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
)

// Each rule makes SQLite report its error, at the operation it names and as
// often as it says; then the same connection works again.
func TestFaults(t *testing.T) {
	t.Parallel()
	const (
		commit     = "INSERT INTO a (x) VALUES (hex(randomblob(5000)))"
		checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
		read       = "SELECT count(x) FROM a"
	)
	for _, tc := range []struct {
		name string
		rule faultvfs.Rule
		sql  string
		want error
	}{
		{"full wal", faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.WAL, Err: faultvfs.ErrFull, Times: 1}, commit, sqlite3.FULL},
		{"no space in wal", faultvfs.Rule{Op: faultvfs.AnyChange, Grow: true, Kind: faultvfs.WAL, Err: faultvfs.ErrNoSpace, Times: 1}, commit, sqlite3.IOERR_WRITE},
		{"full wal after bytes", faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.WAL, Bytes: 9000, Err: faultvfs.ErrFull, Times: 1}, commit, sqlite3.FULL},
		{"third write", faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.WAL, Nth: 3, Times: 1}, commit, sqlite3.IOERR_WRITE},
		{"short write", faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.WAL, Short: true, Times: 1}, commit, sqlite3.IOERR_WRITE},
		{"sync wal", faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1}, commit, sqlite3.IOERR_FSYNC},
		{"sync db", faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.DB, Times: 1}, checkpoint, sqlite3.IOERR_FSYNC},
		{"write db", faultvfs.Rule{Op: faultvfs.Write, Kind: faultvfs.DB, Times: 1}, checkpoint, sqlite3.IOERR_WRITE},
		{"truncate wal", faultvfs.Rule{Op: faultvfs.Truncate, Kind: faultvfs.WAL, Times: 1}, checkpoint, sqlite3.IOERR_TRUNCATE},
		{"read wal", faultvfs.Rule{Op: faultvfs.Read, Kind: faultvfs.WAL, Times: 1}, read, sqlite3.IOERR_READ},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := faultvfs.NewFaults(nil)
			name := register(t, f)
			path := filepath.Join(t.TempDir(), "t.db")
			// A small cache, so that reads reach the file.
			c, err := open(path, name, "synchronous(EXTRA)", "journal_mode(wal)", "cache_size(1)", "cache_spill(off)")
			must(t, err)
			defer func() { must(t, c.Close()) }()
			must(t, run(c, schema, commit, commit, commit))

			fault := f.Inject(tc.rule)
			if err := run(c, tc.sql); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if n := fault.Hits(); n != 1 {
				t.Errorf("struck %d times, want 1", n)
			}
			fault.Remove()
			must(t, run(c, tc.sql))
			if s, err := ask(c, "PRAGMA integrity_check"); err != nil || s != "ok" {
				t.Errorf("integrity: %s, %v", s, err)
			}
		})
	}
}

func TestFaultsOpen(t *testing.T) {
	t.Parallel()
	for _, kind := range []faultvfs.Kind{faultvfs.DB, faultvfs.WAL, faultvfs.Journal} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			f := faultvfs.NewFaults(nil)
			name := register(t, f)
			path := filepath.Join(t.TempDir(), "t.db")
			f.Inject(faultvfs.Rule{Op: faultvfs.Open, Kind: kind})
			start := func() (*sqlite3.Conn, error) {
				c, err := open(path, name, "synchronous(EXTRA)", "journal_mode(wal)")
				if err != nil {
					return nil, err
				}
				if err := run(c, schema); err != nil {
					return nil, errors.Join(err, c.Close())
				}
				return c, nil
			}
			if _, err := start(); !errors.Is(err, sqlite3.CANTOPEN) {
				t.Errorf("got %v, want CANTOPEN", err)
			}
			f.Heal()
			c, err := start()
			must(t, err)
			must(t, c.Close())
		})
	}
}

// Do is a breakpoint: it is called once, before the operation, which happens.
func TestFaultsDo(t *testing.T) {
	t.Parallel()
	d := faultvfs.NewDisk(soak.Seed(t))
	f := faultvfs.NewFaults(d)
	path := filepath.Join(t.TempDir(), "t.db")
	c, err := open(path, register(t, f), "synchronous(EXTRA)", "journal_mode(wal)")
	must(t, err)
	must(t, run(c, schema))
	called := 0
	f.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Times: 1, Do: func() { called++ }})
	must(t, insert(c, 1))
	must(t, insert(c, 2))
	if called != 1 {
		t.Errorf("called %d times, want 1", called)
	}
	f.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.WAL, Do: d.Cut})
	if insert(c, 3) == nil {
		t.Error("a commit after the power cut succeeded")
	}
	_ = c.Close()
	dir := t.TempDir()
	must(t, d.Survive(dir))
	if v := verdict(dir, 2); v != "" {
		t.Error(v)
	}
}
