package files

import (
	"io/fs"
	"os"
	"path/filepath"
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
// later.
func (f *Files) hide() []hidden {
	list := make([]hidden, 0, len(f.cfg.Hide))
	for _, path := range f.cfg.Hide {
		h := hidden{name: filepath.Base(path)}
		// What we cannot look at, we cannot give to anybody either.
		if is, err := os.Stat(path); err == nil {
			h.is = is
		}
		if parent, err := os.Stat(filepath.Dir(path)); err == nil {
			h.parent = parent
		}
		list = append(list, h)
	}
	return list
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
