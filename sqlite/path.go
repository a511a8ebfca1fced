package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const maxLinks = 40 // that lead from one to the next; systems follow about as many

// realPath gives the absolute path behind symbolic links, so that a store has
// one lock whatever it is called by.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range maxLinks {
		target, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return target, err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			// inspect says what is missing.
			return path, nil //nolint:nilerr // the error is told there, with what to do
		}
		path = filepath.Join(dir, filepath.Base(path))
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // it is no link, and still to be made
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(dir, link)
		}
		path = link // what it points to is still to be made
	}
	return "", fmt.Errorf("%s: too many links", path)
}
