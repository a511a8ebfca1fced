package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/parley-run/parley"
)

// dataDir gives the data folder: the one asked for, else $PARLEY_DATA, else the
// user's own. It need not exist.
func (a *app) dataDir() (string, error) {
	dir, err := a.namedDir()
	if err != nil {
		return "", err
	}
	_, err = os.Stat(dir + string(filepath.Separator) + ".") // which says as well whether one may go in
	return dir, folderProblem(dir, err)
}

func (a *app) namedDir() (string, error) {
	for _, dir := range []string{a.data, a.getenv("PARLEY_DATA")} {
		if dir != "" {
			return filepath.Abs(dir)
		}
	}
	if runtime.GOOS != "linux" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return "", noDataDir()
		}
		return filepath.Join(dir, "parley"), nil
	}
	// As the XDG specification has it, a relative path is to be ignored.
	if dir := a.getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "parley"), nil
	}
	if home := a.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "share", "parley"), nil
	}
	return "", noDataDir()
}

// folderProblem says why a data folder cannot be used, and what to do. One that is not there is made when
// it is needed.
func folderProblem(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return parley.Errorf(parley.CodeUnavailable, "you may not look into %s; run this as the user it belongs to (sudo -u USER parley …), or name another folder with --data", dir)
	case errors.Is(err, syscall.ENOTDIR):
		return parley.Errorf(parley.CodeInvalid, "%s is no folder; name the data folder with --data", dir)
	}
	return nil // what it is needed for says more
}

func noDataDir() error {
	return parley.Errorf(parley.CodeInvalid, "there is no folder for data, because the user has no home; name one with --data or PARLEY_DATA")
}

// namedStore gives the path of the store, which need not exist.
func (a *app) namedStore() (string, error) {
	dir, err := a.dataDir()
	if err != nil {
		return "", err
	}
	loaded, err := a.loadConfig()
	if err != nil {
		return "", err
	}
	path := loaded.Config.Store.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path, nil
}

// storePath gives the path of the store, which must exist.
func (a *app) storePath() (string, error) {
	path, err := a.namedStore()
	if err != nil {
		return "", err
	}
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return "", parley.Errorf(parley.CodeNotFound, "there is no store at %s; name the folder it is in with --data or PARLEY_DATA", path)
	case err != nil:
		return "", parley.Errorf(parley.CodeUnavailable, "cannot look at the store: %v; run Parley as the user whose folder it is, or name another with --data", err)
	}
	return path, nil
}
