package faultvfs_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// register makes a VFS known to SQLite for the time of the test.
func register(t *testing.T, v vfs.VFS) string {
	t.Helper()
	name := fmt.Sprintf("%s_%p", strings.ReplaceAll(t.Name(), "/", "_"), v)
	vfs.Register(name, v)
	t.Cleanup(func() { vfs.Unregister(name) })
	return name
}

// open opens a database on a VFS with the pragmas given, as name(value).
func open(path, vfsName string, pragmas ...string) (*sqlite3.Conn, error) {
	q := url.Values{"vfs": {vfsName}, "_pragma": pragmas}
	return sqlite3.Open("file:" + path + "?" + q.Encode())
}

// run executes statements and gives their error with the statement.
func run(c *sqlite3.Conn, sql ...string) error {
	for _, s := range sql {
		if err := c.Exec(s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// must fails the test.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask gives the first column of the first row as text.
func ask(c *sqlite3.Conn, sql string) (string, error) {
	s, _, err := c.Prepare(sql)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	s.Step()
	return s.ColumnText(0), s.Err()
}

// insert adds row n, large enough that a few rows fill a page, in one
// transaction with its twin in a second table.
func insert(c *sqlite3.Conn, n int) error {
	return run(c, "BEGIN IMMEDIATE",
		fmt.Sprintf("INSERT INTO a VALUES (%d, hex(randomblob(700)))", n),
		fmt.Sprintf("INSERT INTO b VALUES (%d, hex(randomblob(300)))", n),
		"COMMIT")
}

const schema = "CREATE TABLE IF NOT EXISTS a (n INTEGER PRIMARY KEY, x TEXT);" +
	"CREATE TABLE IF NOT EXISTS b (n INTEGER PRIMARY KEY, x TEXT)"

// verdict opens what survived and says what is wrong with it: "" if both
// tables have the rows 1 to n, n is at least acked, and SQLite finds no damage.
func verdict(dir string, acked int) string {
	path := filepath.Join(dir, "t.db")
	if _, err := os.Stat(path); err != nil && acked > 0 {
		return "the file is gone"
	}
	c, err := open(path, "os")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = c.Close() }()
	if s, err := ask(c, "PRAGMA integrity_check"); err != nil || s != "ok" {
		return fmt.Sprintf("integrity: %s, %v", s, err)
	}
	if err := run(c, schema); err != nil {
		return err.Error()
	}
	var counts [2]int
	for i, table := range []string{"a", "b"} {
		s, err := ask(c, "SELECT count(*)||'-'||ifnull(max(n),0) FROM "+table)
		if err != nil {
			return err.Error()
		}
		count, last, _ := strings.Cut(s, "-")
		if count != last {
			return fmt.Sprintf("table %s has %s rows up to %s", table, count, last)
		}
		counts[i], _ = strconv.Atoi(count)
	}
	switch {
	case counts[0] != counts[1]:
		return fmt.Sprintf("half a transaction: %v", counts)
	case counts[0] < acked:
		return fmt.Sprintf("%d rows were acknowledged, %d are there", acked, counts[0])
	}
	return ""
}
