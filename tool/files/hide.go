package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hidden is a place that is not reached, known by what it is and by where it
// stands: the first holds for every way to it, the second also while nothing is
// there.
type hidden struct {
	is     fs.FileInfo // nil: nothing is there
	parent fs.FileInfo // nil: not even that
	name   string
}

// hide looks up what is hidden, for one call: files are replaced, folders come
// later. A folder that was found once stays hidden wherever it is moved, and is held
// open, so that no other folder can be taken for it.
func (f *Files) hide() []hidden {
	f.hiding.Lock()
	defer f.hiding.Unlock()
	list := make([]hidden, 0, len(f.cfg.Hide)+len(f.pins))
	for _, path := range f.cfg.Hide {
		h := hidden{name: filepath.Base(path)}
		// What we cannot look at, we cannot give to anybody either.
		if is, err := os.Stat(path); err == nil {
			h.is = is
			if is.IsDir() {
				f.pin(path)
			}
		}
		if parent, err := os.Stat(filepath.Dir(path)); err == nil {
			h.parent = parent
		}
		list = append(list, h)
	}
	for _, p := range f.pins {
		list = append(list, hidden{is: p.info})
	}
	return list
}

// pin is a hidden folder that is held open.
type pin struct {
	root *os.Root
	info fs.FileInfo
}

// maxPins is how many folders are held open: more than are ever hidden, unless
// somebody makes them anew all the time.
const maxPins = 64

// pin holds a hidden folder open, if it is not yet.
func (f *Files) pin(path string) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return // it is gone, or closed to us
	}
	info, err := root.Stat(".")
	known := slices.ContainsFunc(f.pins, func(p pin) bool { return err == nil && os.SameFile(p.info, info) })
	if err != nil || known || len(f.pins) == maxPins || f.closed {
		_ = root.Close() // it was only looked at
		return
	}
	f.pins = append(f.pins, pin{root, info})
}

// hides reports whether a name in a folder is hidden; info is nil if nothing has
// that name.
func hides(list []hidden, parent fs.FileInfo, name string, info fs.FileInfo) bool {
	for _, h := range list {
		if info != nil && h.is != nil && os.SameFile(info, h.is) {
			return true
		}
		if h.parent != nil && h.name == name && os.SameFile(parent, h.parent) {
			return true
		}
	}
	return false
}

// isGit reports whether a name is that of a repository's own files, in the
// spellings that some file system takes for the same.
func isGit(name string) bool {
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}
