package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
)

// TestReadsAreDurable: SQLite shows what it has applied while that is still being made durable. Nobody is given it before it is, nor told that
// something is not there which may come back.
func TestReadsAreDurable(t *testing.T) {
	t.Parallel()
	newSession, removal := said("cli:new", "hello"), parley.Batch{At: instant, Users: []parley.UserChange{{User: parley.User{ID: "alice"}, Remove: true}}}
	for name, c := range map[string]struct {
		batch parley.Batch
		read  func(ctx context.Context, r *rig) error
		want  error
	}{
		"what is new": {newSession, func(ctx context.Context, r *rig) error {
			_, err := r.store.Session(ctx, parley.SeeAll(), "cli:new")
			return err
		}, nil},
		"what is gone": {removal, func(ctx context.Context, r *rig) error {
			_, err := r.store.User(ctx, "alice")
			return err
		}, parley.ErrNotFound},
		"a view": {newSession, func(ctx context.Context, r *rig) error {
			return r.store.View(ctx, func(ctx context.Context) error {
				_, err := r.store.Session(ctx, parley.SeeAll(), "cli:new")
				return err
			})
		}, nil},
		"a copy": {newSession, func(ctx context.Context, r *rig) error {
			return r.store.CopyTo(ctx, filepath.Join(r.t.TempDir(), "copy.db"), nil, nil)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := soak.Seed(t)
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, seed)
				r.start()
				commit(t, r.store, parley.Batch{At: instant, Users: []parley.UserChange{{
					User: parley.User{ID: "alice", Name: "Alice", Role: parley.RoleOwner, CreatedAt: instant},
				}}})
				finish := make(chan struct{})
				held := r.faults.Inject(faultvfs.Rule{Op: faultvfs.Sync, Kind: faultvfs.Side, Times: 1, Do: func() { <-finish }})
				var work sync.WaitGroup
				work.Go(func() {
					if _, err := r.store.Commit(t.Context(), c.batch); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait() // it is applied, and not yet durable
				if held.Hits() == 0 {
					t.Error("nothing is held up, so that this shows nothing")
				}
				answered := make(chan error, 1)
				work.Go(func() { answered <- c.read(t.Context(), r) })
				synctest.Wait()
				select {
				case err := <-answered:
					t.Errorf("it is not durable, but answered: %v", err)
				default:
				}
				close(finish)
				work.Wait()
				if !t.Failed() {
					if err := <-answered; !errors.Is(err, c.want) {
						t.Errorf("it gives %v, not %v", err, c.want)
					}
				}
				if err := r.store.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
