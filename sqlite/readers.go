package sqlite

import (
	"context"
	"errors"
	"sync"
)

// readers are the read-only connections. They are opened when first needed and
// lent to one read at a time.
type readers struct {
	store *Store
	slots chan struct{} // one for each read that may run

	mu     sync.Mutex
	idle   []*conn
	long   sync.WaitGroup // reads that take long, over connections of their own
	closed bool
}

func (r *readers) init(s *Store) {
	r.store = s
	r.slots = make(chan struct{}, s.cfg.Readers)
}

// read runs f in one short read transaction, so that all its queries see the
// same moment: that of the view which the context is of, or one of its own. The context
// interrupts it.
func (s *Store) read(ctx context.Context, op string, f func(c *conn) error) error {
	if v, ok := s.viewIn(ctx); ok {
		err := v.read(ctx, op, f)
		return translate(op, s.writer.walHealth.orLost(ctx, err))
	}
	return s.readAlone(ctx, op, f)
}

// readAlone runs f in a transaction of its own.
func (s *Store) readAlone(ctx context.Context, op string, f func(c *conn) error) error {
	select {
	case s.readers.slots <- struct{}{}:
	case <-ctx.Done():
		return translate(op, ctx.Err())
	}
	defer func() { <-s.readers.slots }()
	c, err := s.readers.take()
	if err != nil {
		return translate(op, s.writer.walHealth.orLost(ctx, err))
	}
	ended := false
	defer func() {
		if !ended { // f panics: the connection is not given to others
			_ = c.close()
		}
	}()
	err = c.transact(ctx, f)
	ended = true
	closeErr := s.readers.giveBack(c, err)
	err = s.writer.walHealth.orLost(ctx, err)
	if err == nil || refused(err) { // also that something is not there any more
		if waitErr := s.writer.awaitDurable(ctx); waitErr != nil {
			err = waitErr
		}
	}
	return translate(op, errors.Join(orEnd(ctx, err), closeErr))
}

// transact runs f inside a transaction that only reads. The context interrupts
// it, but not the way out of it.
func (c *conn) transact(ctx context.Context, f func(c *conn) error) error {
	c.db.SetInterrupt(ctx)
	c.lastSeen = lastSeen{reading: true}
	defer func() { c.lastSeen = lastSeen{} }()
	if c.recall != nil {
		c.generation = c.recall.begin()
	}
	err := c.exec("BEGIN")
	if err == nil {
		err = f(c)
	}
	c.db.SetInterrupt(context.WithoutCancel(ctx))
	if !c.db.GetAutocommit() {
		err = errors.Join(err, c.exec("ROLLBACK"))
	}
	return err
}

// beginLong begins a read that would keep others waiting for a slot. Close waits until ended was called.
func (r *readers) beginLong() (ended func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed()
	}
	r.long.Add(1)
	return r.long.Done, nil
}

func (r *readers) take() (*conn, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errClosed()
	}
	if n := len(r.idle); n > 0 {
		c := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return c, nil
	}
	r.mu.Unlock()
	return r.store.connectReader()
}

// giveBack keeps the connection for the next read, unless its file failed.
func (r *readers) giveBack(c *conn, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || fatal(err) {
		return c.close()
	}
	r.idle = append(r.idle, c)
	return nil
}

// close waits for the reads under way.
func (r *readers) close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.long.Wait()
	for range cap(r.slots) {
		r.slots <- struct{}{}
	}
	defer func() {
		for range cap(r.slots) {
			<-r.slots
		}
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, c := range r.idle {
		errs = append(errs, c.close())
	}
	r.idle = nil
	return errors.Join(errs...)
}
