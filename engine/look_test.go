package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

// looked counts how often somebody looks for what waits in a session, and says when
// a turn is over.
type looked struct {
	parley.Store
	times atomic.Int64
	over  chan struct{}
}

func (s *looked) OpenInputs(ctx context.Context, v parley.Visibility, id parley.SessionID, after parley.InputRef, limit int) ([]parley.Input, error) {
	if id != "" {
		s.times.Add(1)
	}
	return s.Store.OpenInputs(ctx, v, id, after, limit)
}

func (s *looked) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	res, err := s.Store.Commit(ctx, b)
	if err == nil && b.Sessions[0].Turns[0].State != nil {
		s.over <- struct{}{}
	}
	return res, err
}

// TestNoLook: where the end of a turn finds nothing waiting, nobody looks for it
// again. There are many sessions so that a look has the time to happen.
func TestNoLook(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)}) // for its store
	store := &looked{Store: s.store, over: make(chan struct{})}
	eng, err := engine.New(store, engine.Config{Runner: runs(echo), Clock: s.clock})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- eng.Run(ctx) }()
	<-eng.Ready()
	for i := range 20 {
		id := s.session(fmt.Sprint(i), parley.SessionDirect, "cli:alice")
		if _, err := eng.As(alice).Post(t.Context(), id, say(fmt.Sprint(i), "hi")); err != nil {
			t.Fatal(err)
		}
		<-store.over
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := store.times.Load(); n > 0 {
		t.Errorf("somebody looked %d times", n)
	}
}
