package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// readPrivate reads a plain file that nobody but its owner can read.
func readPrivate(path string, limit int) ([]byte, fs.FileInfo, error) {
	// Before it is opened, which for a named pipe could take forever.
	info, err := os.Stat(path)
	if err == nil {
		err = checkPrivate(path, info)
	}
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	// Once more, as it may have been exchanged in between.
	if info, err = f.Stat(); err == nil {
		err = checkPrivate(path, info)
	}
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	if len(data) > limit {
		return nil, nil, tooLarge("%s has more than %d bytes; is that the right file?", path, limit)
	}
	return data, info, nil
}

func checkPrivate(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return invalid("%s is a folder; give a file", path)
	case !info.Mode().IsRegular():
		return invalid("%s is not a plain file; give one", path)
	case !private(info):
		return invalid("%s can be read by others (mode %04o); make it private: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	return nil
}

// fileError turns an error of the system into one of the domain.
func fileError(path string, err error) error {
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("%s does not exist", path)
	}
	return gaveUp("cannot use "+path, err)
}

// replaceFile gives the file at path other content, as a whole: after a crash
// there is what was, or what should be. old is the file that is there, or nil:
// its mode and owner stay.
func replaceFile(path string, data []byte, old fs.FileInfo) (err error) {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*") // with mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("the folder %s does not exist; make it first", folder)
	}
	if err != nil {
		return gaveUp("cannot write "+path, err)
	}
	defer func() {
		if err != nil {
			// Closed already, or renamed already: then there is nothing to do.
			_, _ = f.Close(), os.Remove(f.Name())
		}
	}()
	if err := fill(f, data, old); err != nil {
		return gaveUp("cannot write "+path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return gaveUp("cannot replace "+path, err)
	}
	return settle(path)
}

func fill(f *os.File, data []byte, old fs.FileInfo) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if old != nil {
		if err := disk.KeepOwner(f.Name(), old); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// removeFile removes the file at path for good.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil {
		return fileError(path, err)
	}
	return settle(path)
}

// settle makes a change of names last. If that fails the change may or may not
// survive a power cut.
func settle(path string) error {
	if err := disk.SyncFolder(filepath.Dir(path)); err != nil {
		return gaveUp("cannot confirm the change of "+path, fmt.Errorf("%w: %w", parley.ErrOutcomeUnknown, err))
	}
	return nil
}
