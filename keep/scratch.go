package keep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// scratch is a folder for work that is thrown away.
type scratch struct {
	dir  string
	lock *os.File
}

// scratchPrefix begins the names of scratch folders.
const scratchPrefix = ".parley-work-"

// newScratch makes a scratch folder in dir. Those of processes that were killed
// are removed: they may hold a whole copy of a store.
func newScratch(dir string) (*scratch, error) {
	if entries, err := os.ReadDir(dir); err == nil {
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), scratchPrefix) {
				old := &scratch{dir: filepath.Join(dir, e.Name())}
				if old.take() == nil {
					_ = old.remove() // the next one tries again
				}
			}
		}
	}
	path, err := os.MkdirTemp(dir, scratchPrefix+"*")
	if err != nil {
		return nil, parley.Errorf(parley.CodeUnavailable, "cannot write to %s: %v", dir, err)
	}
	s := &scratch{dir: path}
	if err := s.take(); err != nil {
		return nil, errors.Join(parley.Errorf(parley.CodeUnavailable, "cannot write to %s: %v", dir, err), os.RemoveAll(path))
	}
	return s, nil
}

// take locks the folder, so that no other process takes it for left over.
func (s *scratch) take() error {
	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := disk.Lock(f); err != nil {
		return errors.Join(err, f.Close())
	}
	s.lock = f
	return nil
}

// remove throws the folder away.
func (s *scratch) remove() error { return errors.Join(s.lock.Close(), os.RemoveAll(s.dir)) }

func (s *scratch) path(name string) string { return filepath.Join(s.dir, name) }
