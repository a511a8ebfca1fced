package sqlite

import (
	"context"
	"sync"

	"github.com/parley-run/parley"
)

// view is reads that share a transaction.
type view struct {
	mu     sync.Mutex // one read at a time
	conn   *conn      // nil: it is over
	failed error      // of the file: nothing more can be read
}

// viewKey is the key of a store's view in a context, which may have those of other stores too.
type viewKey struct{ store *Store }

// View implements [parley.Store].
func (s *Store) View(ctx context.Context, f func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return translate("view", err)
	}
	if _, inside := s.viewIn(ctx); inside {
		return f(ctx)
	}
	var v view
	var result error
	err := s.readAlone(ctx, "view", func(c *conn) error {
		v.conn = c
		defer func() { _ = v.end() }() // also if f panics
		result = f(context.WithValue(ctx, viewKey{s}, &v))
		return v.end()
	})
	if result != nil {
		return result
	}
	return err
}

// viewIn gives the view that a context is of.
func (s *Store) viewIn(ctx context.Context) (*view, bool) {
	v, ok := ctx.Value(viewKey{s}).(*view)
	return v, ok
}

// read runs one read of the view.
func (v *view) read(ctx context.Context, op string, f func(c *conn) error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conn == nil {
		return parley.Errorf(parley.CodeInternal, "the view of this context is over")
	}
	if v.failed != nil {
		return translate(op, v.failed)
	}
	if err := ctx.Err(); err != nil {
		return translate(op, err) // also where the answer is known
	}
	v.conn.db.SetInterrupt(ctx) // a read may have to end before its view does
	err := f(v.conn)
	if fatal(err) {
		v.failed = err
	}
	return translate(op, orEnd(ctx, err))
}

// end ends the view, and gives what was wrong with the file.
func (v *view) end() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.conn = nil
	return v.failed
}
