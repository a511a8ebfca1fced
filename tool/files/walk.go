package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxPath  = 4096 // bytes of a path
	maxNames = 128  // names on the way to a file
	maxLinks = 16   // symbolic links on the way to a file
	maxTries = 16   // walks, if what is looked for is being exchanged
)

// level is a folder on the way, held open.
type level struct {
	root *os.Root
	info fs.FileInfo
	name string
}

// walk is one way through the tree, from the base. Each folder is opened from the
// one before and compared with what stood there, so that nothing that happens in
// the meantime leads elsewhere. Links are followed by reading them, never by the
// system.
type walk struct {
	f      *Files
	hidden []hidden
	levels []level // the first is the base, which is not ours to close
	links  int
}

// spot is where a path ends: a name in a folder that is open.
type spot struct {
	*walk
	given string // the path as the model wrote it
	name  string // "." is the folder itself
	info  fs.FileInfo
}

// at walks to path and lets do work there. If what was found is something else by
// then, all of it is done again.
func (f *Files) at(ctx context.Context, path string, makeFolders bool, do func(*spot) error) error {
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := f.once(path, makeFolders, do)
		if !errors.Is(err, errChanged) || try == maxTries {
			return err
		}
	}
}

func (f *Files) once(path string, makeFolders bool, do func(*spot) error) error {
	w, err := f.walk()
	if err != nil {
		return err
	}
	defer w.close()
	s, err := w.resolve(path, makeFolders)
	if err != nil {
		return err
	}
	return do(s)
}

func (f *Files) walk() (*walk, error) {
	info, err := f.base.Stat(".")
	if err != nil {
		return nil, err
	}
	return &walk{f: f, hidden: f.hide(), levels: []level{{root: f.base, info: info}}}, nil
}

func (w *walk) top() level { return w.levels[len(w.levels)-1] }

// pop leaves the folder for the one above.
func (w *walk) pop() {
	_ = w.top().root.Close() // it was only looked into
	w.levels = w.levels[:len(w.levels)-1]
}

func (w *walk) close() {
	for len(w.levels) > 1 {
		w.pop()
	}
}

// split gives the names of a path. That it ends in a slash is lost.
func split(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool { return name == "" || name == "." })
}

// names turns a path of the model into names from the base.
func (w *walk) names(path string) ([]string, error) {
	switch {
	case len(path) > maxPath:
		return nil, refusef("the path has %d bytes; at most %d are allowed", len(path), maxPath)
	case strings.ContainsRune(path, 0):
		return nil, refusef("%s is no path: it holds a zero byte", show(path))
	}
	volume := filepath.VolumeName(path)
	rooted := strings.HasPrefix(filepath.ToSlash(path[len(volume):]), "/")
	switch {
	case !rooted && volume == "":
		return append(slices.Clone(w.f.from), split(path)...), nil
	case w.f.cfg.Scope != Full:
		return nil, refusef("%s is an absolute path; use one that starts in the folder you work in, such as src/main.go", show(path))
	case !rooted || (volume != "" && !strings.EqualFold(volume, filepath.VolumeName(w.f.cfg.Dir))):
		return nil, refusef("%s is on another drive, which cannot be reached", show(path))
	}
	return split(path[len(volume):]), nil
}

// resolve walks to the place a path names. The last name need not be there; with
// makeFolders the others are made if they are missing.
func (w *walk) resolve(path string, makeFolders bool) (*spot, error) {
	rest, err := w.names(path)
	if err != nil {
		return nil, err
	}
	for len(rest) > 0 {
		if len(rest)+len(w.levels) > maxNames {
			return nil, refusef("%s goes through more than %d folders", show(path), maxNames)
		}
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			if len(w.levels) > 1 {
				w.pop()
			} else if w.f.cfg.Scope != Full {
				return nil, outside(path)
			}
			continue
		}
		info, err := w.look(path, name)
		switch {
		case err != nil:
			return nil, err
		case info != nil && info.Mode()&fs.ModeSymlink != 0:
			if rest, err = w.follow(path, name, rest); err != nil {
				return nil, err
			}
		case len(rest) == 0:
			return w.end(path, name, info)
		default:
			if err := w.step(path, name, info, makeFolders); err != nil {
				return nil, err
			}
		}
	}
	return &spot{walk: w, given: path, name: ".", info: w.top().info}, nil
}

// end makes the spot. A path with a slash at its end names a folder.
func (w *walk) end(path, name string, info fs.FileInfo) (*spot, error) {
	if strings.HasSuffix(filepath.ToSlash(path), "/") && (info == nil || !info.IsDir()) {
		return nil, refusef("%s is not a folder; leave the slash at its end away", show(path))
	}
	return &spot{walk: w, given: path, name: name, info: info}, nil
}

// look gives what has the name in the folder the walk has come to, or nil if
// nothing has.
func (w *walk) look(path, name string) (fs.FileInfo, error) {
	top := w.top()
	info, err := top.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = nil, nil
	}
	if err != nil {
		return nil, systemError(path, err)
	}
	if hides(w.hidden, top.info, name, info) {
		return nil, refusef("%s is off limits", show(path))
	}
	return info, nil
}

// follow puts what a link says in the place of its name.
func (w *walk) follow(path, name string, rest []string) ([]string, error) {
	if w.links++; w.links > maxLinks {
		return nil, refusef("%s goes through more than %d symbolic links", show(path), maxLinks)
	}
	target, err := w.top().root.Readlink(name)
	if err != nil {
		return nil, errChanged
	}
	volume := filepath.VolumeName(target)
	if volume != "" || strings.HasPrefix(filepath.ToSlash(target), "/") {
		if w.f.cfg.Scope != Full || (volume != "" && !strings.EqualFold(volume, filepath.VolumeName(w.f.cfg.Dir))) {
			return nil, outside(path)
		}
		w.close()
		target = target[len(volume):]
	}
	return append(split(target), rest...), nil
}

// step goes into a folder, and makes it first if that is wanted.
func (w *walk) step(path, name string, info fs.FileInfo, makeFolders bool) error {
	if info == nil && makeFolders {
		if err := w.mayWrite(path, name); err != nil {
			return err
		}
		if err := w.top().root.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return systemError(path, err)
		}
		var err error
		if info, err = w.look(path, name); err != nil {
			return err
		}
		if info == nil || !info.IsDir() {
			return errChanged
		}
	}
	if info == nil {
		return w.missing(path, name)
	}
	if !info.IsDir() {
		return refusef("%s: %s is not a folder", show(path), show(name))
	}
	return w.enter(path, name, info)
}

// enter opens a folder that was just looked at.
func (w *walk) enter(path, name string, info fs.FileInfo) error {
	l, err := open(w.top().root, name, info)
	if err != nil {
		return systemError(path, err)
	}
	w.levels = append(w.levels, l)
	return nil
}

// open opens a folder by its name in another, if it is the one that info is about.
func open(parent *os.Root, name string, info fs.FileInfo) (level, error) {
	// With the dot it is opened as a folder: opening what has become a pipe in the
	// meantime would wait for somebody who writes to it.
	root, err := parent.OpenRoot(name + "/.")
	if err != nil {
		return level{}, changedOr(parent, name, info, err)
	}
	is, err := root.Stat(".")
	if err == nil && !os.SameFile(is, info) {
		err = errChanged
	}
	if err != nil {
		_ = root.Close() // it was not used
		return level{}, err
	}
	return level{root: root, info: is, name: name}, nil
}

// changedOr gives errChanged instead of err if the name is not what it was.
func changedOr(parent *os.Root, name string, info fs.FileInfo, err error) error {
	is, lookErr := parent.Lstat(name)
	if lookErr != nil || !os.SameFile(is, info) || is.Mode().Type() != info.Mode().Type() {
		return errChanged
	}
	return err
}

// enterAll walks to a folder and into it.
func (w *walk) enterAll(path string) error {
	s, err := w.resolve(path, false)
	switch {
	case err != nil:
		return err
	case s.name == ".":
		return nil
	case s.info == nil:
		return w.missing(path, s.name)
	case !s.info.IsDir():
		return refusef("%s is not a folder", show(path))
	}
	return w.enter(path, s.name, s.info)
}

// mayWrite reports whether a name in the folder the walk has come to may be
// written.
func (w *walk) mayWrite(path, name string) error {
	if w.f.cfg.Scope == Full {
		return nil
	}
	git := isGit(name)
	for _, l := range w.levels {
		git = git || isGit(l.name)
	}
	if git {
		return refusef("%s belongs to git and can only be read", show(path))
	}
	return nil
}

// path gives where the walk has come to, with a name behind it, for the model: from
// the folder it works in, or from the top of the file system.
func (w *walk) path(name string) string {
	var names []string
	for _, l := range w.levels[1:] {
		names = append(names, l.name)
	}
	if name != "." {
		names = append(names, name)
	}
	path := strings.Join(names, "/")
	switch {
	case w.f.cfg.Scope == Full:
		return filepath.VolumeName(w.f.cfg.Dir) + "/" + path
	case path == "":
		return "."
	}
	return path
}
