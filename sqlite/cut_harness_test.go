package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/faultvfs"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
	"github.com/parley-run/parley/storetest"
)

// cutStore is a store on a disk whose power is cut where another would crash. Its batches are all written down before they are
// applied, but for those that take something away, or create many sessions.
type cutStore struct {
	*sqlite.Store
	t    testing.TB
	disk *faultvfs.Disk
	dir  string
}

func (s *cutStore) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	result, err := s.Store.Commit(ctx, b)
	excepted := len(b.Sessions) > 32
	for i := range b.Sessions {
		excepted = excepted || b.Sessions[i].Delete || len(b.Sessions[i].Redact) > 0
	}
	if is := sqlite.Recordable(b); err == nil && is == excepted {
		s.t.Errorf("recordable is %t: %+v", is, b)
	}
	return result, err
}

// Close closes the store. Where the power is off it has failed, as it should.
func (s *cutStore) Close() error {
	err := s.Store.Close()
	select {
	case <-s.disk.Done():
		return nil
	default:
		return err
	}
}

// crash cuts the power, and puts what survives in the place of what was there.
func (s *cutStore) crash(t testing.TB) {
	s.disk.Cut()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	left := t.TempDir()
	if err := s.disk.Survive(left); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(s.dir), os.CopyFS(s.dir, os.DirFS(left))); err != nil {
		t.Fatal(err)
	}
}

// cutHarness is that of stores whose power is cut.
func cutHarness(t *testing.T) storetest.Harness {
	var seed atomic.Uint64
	seed.Store(soak.Seed(t))
	return storetest.Harness{
		Open: func(t testing.TB, dir string) parley.Store {
			disk := faultvfs.NewDisk(seed.Add(1))
			name := fmt.Sprintf("cut_%p", disk)
			vfs.Register(name, disk)
			t.Cleanup(func() { vfs.Unregister(name) })
			s, err := sqlite.Open(t.Context(), filepath.Join(dir, "parley.db"), sqlite.WithVFS(sqlite.Config{Key: someKey(len(dir) + int(dir[len(dir)-1]))}, name))
			if err != nil {
				t.Fatal(err)
			}
			cut := &cutStore{s, t, disk, dir}
			t.Cleanup(func() {
				if err := cut.Close(); err != nil {
					t.Error(err)
				}
				s, cut = nil, nil // tests that are over are kept, and what their cleanups refer to with them
			})
			return cut
		},
		Crash: func(t testing.TB, s parley.Store) { s.(*cutStore).crash(t) },
		Check: func(ctx context.Context, s parley.Store) error { return anyProblem(ctx, s.(*cutStore).Store) },
	}
}
