package sqlite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/parley-run/parley/sqlite"
)

// TestReopenWhileProcessesStart closes and opens a store while the program starts
// others: for a moment they have its files, and must not have its lock.
func TestReopenWhileProcessesStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	stop := make(chan struct{})
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$").Run(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer work.Wait()
	defer close(stop)
	for range 60 {
		s, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
