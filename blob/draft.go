package blob

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// draftPattern is what temporary files are called; no blob's file is.
const (
	draftPrefix  = "put-"
	draftPattern = draftPrefix + "*.tmp"
)

// draft is a file on its way in. It stands beside the folders of the blobs, so
// that putting it in its place is a rename.
type draft struct {
	store *Store
	path  string   // until it is put in its place
	file  *os.File // until it is closed
	seal  *sealer  // nil: as it is
}

func (s *Store) newDraft() (*draft, error) {
	if err := s.ensureDir(); err != nil {
		return nil, unwritable("put media", err)
	}
	file, err := s.createDraft()
	if err != nil {
		return nil, unwritable("put media", err)
	}
	d := &draft{store: s, path: file.Name(), file: file}
	if s.encrypted() {
		if d.seal, err = newSealer(file, s.cfg.Secret); err != nil {
			return nil, errors.Join(unwritable("put media", err), d.discard())
		}
	}
	return d, nil
}

// createDraft makes the file. A sweep must not see it before it knows that it is
// in use.
func (s *Store) createDraft() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, err := os.CreateTemp(s.dir, draftPattern)
	if err == nil {
		s.drafts[filepath.Base(file.Name())] = true
	}
	return file, err
}

// Write takes the next bytes of the content.
func (d *draft) Write(p []byte) (int, error) {
	w := io.Writer(d.file)
	if d.seal != nil {
		w = d.seal
	}
	n, err := w.Write(p)
	if err != nil {
		err = unwritable("put media", err)
	}
	return n, err
}

// place completes the file, syncs it, and gives it its name.
func (d *draft) place(handle parley.BlobHandle) error {
	s := d.store
	path, ok := s.path(handle)
	if !ok {
		return parley.Errorf(parley.CodeInvalid, "media %q has a name that no file can have", handle)
	}
	if d.seal != nil {
		if err := d.seal.finish(handle); err != nil {
			return unwritable("put media", err)
		}
	}
	if err := d.complete(); err != nil {
		return unwritable("put media", err)
	}
	if err := s.ensureFolder(filepath.Dir(path)); err != nil {
		return unwritable("put media", err)
	}
	if err := os.Rename(d.path, path); err != nil {
		return unwritable("put media", err)
	}
	s.forget(d.path)
	d.path = ""
	return nil
}

// complete syncs the file and closes it.
func (d *draft) complete() error {
	now := d.store.now()
	if err := os.Chtimes(d.path, now, now); err != nil {
		return err
	}
	if err := d.file.Sync(); err != nil {
		return err
	}
	err := d.file.Close()
	d.file = nil
	return err
}

// discard takes away what was not put in its place.
func (d *draft) discard() (err error) {
	if d.file != nil {
		err = d.file.Close()
		d.file = nil
	}
	if d.path != "" {
		err = errors.Join(err, os.Remove(d.path))
		d.store.forget(d.path)
		d.path = ""
	}
	if err != nil {
		return unwritable("put media", err)
	}
	return nil
}

func (s *Store) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.drafts, filepath.Base(path))
}

// ensureDir makes the folder of all media, once.
func (s *Store) ensureDir() error {
	if s.isSynced(s.dir) {
		return nil
	}
	if err := makeDir(s.dir); err != nil {
		return err
	}
	s.markSynced(s.dir)
	return nil
}

// makeDir makes a folder, and those it is in, and syncs their names.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDir(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return disk.SyncFolder(filepath.Dir(dir))
}

// ensureFolder makes a folder for blobs. That it is there does not mean that it
// would be after a power cut, so the first time its name is synced anyway.
func (s *Store) ensureFolder(folder string) error {
	if s.isSynced(folder) {
		return nil
	}
	if err := makeDir(folder); err != nil {
		return err
	}
	s.markSynced(folder)
	return nil
}

func (s *Store) isSynced(folder string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.synced[folder]
}

func (s *Store) markSynced(folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced[folder] = true
}
