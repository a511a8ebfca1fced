package sqlite

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// conn is one connection with its prepared statements. It is used by one
// goroutine at a time.
type conn struct {
	db    *sqlite3.Conn
	stmts map[string]*statement

	recall     *recall  // nil: nothing is kept
	generation uint64   // of what is kept, for the transaction
	lastSeen   lastSeen // of the transaction
}

// statement is a prepared statement, and what its parameters were bound to last.
type statement struct {
	*sqlite3.Stmt
	bound   []any
	walking bool // its rows are being walked through
}

// fileURI names a file for SQLite. The files SQLite makes beside it get its mode,
// so that a private store stays private.
func fileURI(path, vfs string) string {
	// SQLite does not read a plus sign as a space.
	query := "modeof=" + strings.ReplaceAll(url.QueryEscape(path), "+", "%20")
	if vfs != "" {
		query += "&vfs=" + url.QueryEscape(vfs)
	}
	uri := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query}
	return uri.String()
}

// openConn opens the file.
func openConn(path, vfs string, flags sqlite3.OpenFlag) (*conn, error) {
	db, err := sqlite3.OpenFlags(fileURI(path, vfs), flags|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	c := &conn{db: db, stmts: map[string]*statement{}}
	err = db.BusyTimeout(busyTimeout)
	if err == nil {
		// Else SQLite plans a statement anew for each value of its LIMIT, which takes
		// longer than most of our statements run.
		_, err = db.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// set applies pragmas.
func (c *conn) set(pragmas ...string) error {
	for _, p := range pragmas {
		if err := c.db.Exec("PRAGMA " + p); err != nil {
			return fmt.Errorf("pragma %s: %w", p, err)
		}
	}
	return nil
}

// keepWAL says that closing is not to move the WAL and take it away, as the
// last connection otherwise does: SQLite would not move again what was moved and lost.
func (c *conn) keepWAL() error {
	_, err := c.db.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true)
	return err
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		// A statement repeats the error of its last step when it is closed;
		// whoever ran it has seen that.
		_ = s.Close()
	}
	c.stmts = nil
	return c.db.Close()
}

// prepare gives the statement of a text, with its parameters bound.
func (c *conn) prepare(sql string, args []any) (*statement, error) {
	s, ok := c.stmts[sql]
	if !ok {
		prepared, _, err := c.db.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
		if err != nil {
			return nil, fmt.Errorf("prepare %q: %w", sql, err)
		}
		s = &statement{Stmt: prepared, bound: make([]any, len(args))}
		c.stmts[sql] = s
	}
	if s.walking {
		return nil, fmt.Errorf("the statement is in use: %s", sql)
	}
	return s, s.bindAll(args)
}

// bindAll sets the parameters. SQLite keeps what was bound, and NULL is what nothing was bound to. So
// what is the same need not be bound again, which would take several times as long as to compare it.
func (s *statement) bindAll(args []any) error {
	if len(args) != len(s.bound) {
		return fmt.Errorf("%d parameters where there were %d: %s", len(args), len(s.bound), s.SQL())
	}
	for i, arg := range args {
		compared := isCompared(arg)
		if compared && s.bound[i] == arg {
			continue
		}
		s.bound[i] = notCompared{} // also if it fails
		if err := bind(s.Stmt, i+1, arg); err != nil {
			return err
		}
		if compared {
			s.bound[i] = arg
		}
	}
	return nil
}

// maxComparedText is how long a text may be to be compared with what is bound. Longer ones are
// seldom the same, and not worth the memory.
const maxComparedText = 64

// isCompared reports whether a value is compared with what a parameter has. Bytes cannot be.
func isCompared(arg any) bool {
	switch v := arg.(type) {
	case []byte:
		return false
	case string:
		return len(v) <= maxComparedText
	}
	return true
}

// notCompared stands for a value that is bound.
type notCompared struct{}

// exec runs a statement that gives no rows.
func (c *conn) exec(sql string, args ...any) error {
	s, err := c.prepare(sql, args)
	if err != nil {
		return err
	}
	return s.Exec()
}

// changed runs a statement and reports whether it changed a row.
func (c *conn) changed(sql string, args ...any) (bool, error) {
	if err := c.exec(sql, args...); err != nil {
		return false, err
	}
	return c.db.Changes() > 0, nil
}

// each calls f for every row. An error of f ends it and is returned.
func (c *conn) each(f func(r row) error, sql string, args ...any) error {
	s, err := c.prepare(sql, args)
	if err != nil {
		return err
	}
	s.walking = true
	defer func() { s.walking = false }()
	for s.Step() {
		if err := f(row{s.Stmt}); err != nil {
			return errors.Join(err, s.Reset())
		}
	}
	return done(s.Stmt)
}

// errStop ends a walk through rows, whose caller has what it wants.
var errStop = errors.New("stop")

// done ends the use of a statement and gives the error of its last step. When
// the context ends between two steps, only the statement knows it, and forgets
// it when it is reset.
func done(s *sqlite3.Stmt) error {
	err := s.Err()
	if failed := s.Reset(); err == nil {
		err = failed
	}
	return err
}

// one calls f for the first row, if there is one, and reports whether there
// was.
func (c *conn) one(f func(r row), sql string, args ...any) (bool, error) {
	s, err := c.prepare(sql, args)
	if err != nil {
		return false, err
	}
	found := s.Step()
	if found {
		f(row{s.Stmt})
	}
	return found, done(s.Stmt)
}

// exists reports whether the query gives a row.
func (c *conn) exists(sql string, args ...any) (bool, error) {
	return c.one(func(row) {}, sql, args...)
}

// bind sets a parameter. Empty strings stay empty strings; a zero time and nil
// are NULL.
func bind(s *sqlite3.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		return s.BindNull(i)
	case int64:
		return s.BindInt64(i, v)
	case int:
		return s.BindInt64(i, int64(v))
	case uint64:
		return s.BindInt64(i, int64(v))
	case string:
		return s.BindText(i, v)
	case []byte:
		return s.BindBlob(i, v)
	case bool:
		return s.BindBool(i, v)
	case time.Time:
		if v.IsZero() {
			return s.BindNull(i)
		}
		return s.BindInt64(i, v.UnixMicro())
	}
	switch v := reflect.ValueOf(arg); v.Kind() {
	case reflect.String:
		return s.BindText(i, v.String())
	case reflect.Uint64:
		return s.BindInt64(i, int64(v.Uint()))
	}
	return fmt.Errorf("cannot bind a %T", arg)
}

// orNull makes an empty string NULL.
func orNull[S ~string](s S) any {
	if s == "" {
		return nil
	}
	return string(s)
}

// row is the current row of a statement.
type row struct{ s *sqlite3.Stmt }

func (r row) text(i int) string { return r.s.ColumnText(i) }
func (r row) int(i int) int64   { return r.s.ColumnInt64(i) }
func (r row) seq(i int) uint64  { return uint64(r.s.ColumnInt64(i)) }
func (r row) bool(i int) bool   { return r.s.ColumnInt64(i) != 0 }
func (r row) blob(i int) []byte { return r.s.ColumnBlob(i, nil) }
func (r row) isNull(i int) bool { return r.s.ColumnType(i) == sqlite3.NULL }
func (r row) time(i int) time.Time {
	if r.isNull(i) {
		return time.Time{}
	}
	return time.UnixMicro(r.s.ColumnInt64(i)).UTC()
}
