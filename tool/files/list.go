package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

const listSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "the folder; default: the one you work in"},
    "depth": {"type": "integer", "minimum": 1, "maximum": 64, "description": "how many levels to show; default 1, which is what the folder itself has"},
    "limit": {"type": "integer", "minimum": 1, "description": "how many names to show at most"}
  },
  "additionalProperties": false
}`

type listArguments struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
	Limit int    `json:"limit"`
}

// maxDepth is how many levels below a folder are gone into.
const maxDepth = 64

func (f *Files) listTool() *tool {
	return newTool("list_files",
		"Lists what is in a folder: folders with a slash at the end, files with their size, symbolic links without following them. "+f.where(),
		listSchema, f.list)
}

func (f *Files) list(ctx context.Context, a listArguments) (string, error) {
	if a.Depth < 0 || a.Depth > maxDepth || a.Limit < 0 {
		return "", refusef("depth must be between 1 and %d, and limit positive", maxDepth)
	}
	if a.Path == "" {
		a.Path = "."
	}
	limit := f.cfg.MaxEntries
	if a.Limit > 0 {
		limit = min(limit, a.Limit)
	}
	var lines []string
	more := false
	err := f.tree(ctx, a.Path, max(a.Depth, 1), func(e entry) error {
		if len(lines) == limit {
			more = true
			return errEnough
		}
		lines = append(lines, e.line())
		return nil
	}, &more)
	if err != nil {
		return "", err
	}
	if len(lines) == 0 {
		return "[the folder is empty]", nil
	}
	if more {
		lines = append(lines, fmt.Sprintf("[there is more than these %d; list a folder below, or with less depth]", len(lines)))
	}
	return strings.Join(lines, "\n"), nil
}

// entry is a name in a tree.
type entry struct {
	dir  level
	path string // for the model
	name string
	info fs.FileInfo
}

// line shows an entry in a list.
func (e entry) line() string {
	switch mode := e.info.Mode(); {
	case mode.IsDir():
		return show(e.path) + "/"
	case mode.IsRegular():
		return fmt.Sprintf("%s (%d bytes)", show(e.path), e.info.Size())
	default:
		return fmt.Sprintf("%s (%s)", show(e.path), kind(mode))
	}
}

// errEnough ends a walk through a tree early.
var errEnough = errors.New("enough")

// maxNamesInFolder is how many names of one folder are looked at.
const maxNamesInFolder = 20_000

// tree calls do for what is below a folder, so many levels deep, in the order of
// names: folders before what is in them. Links are not followed, what is hidden is
// left out, and a repository's own files are not gone into. It ends without an
// error when do gives errEnough; cut is set if a folder had too many names.
func (f *Files) tree(ctx context.Context, path string, depth int, do func(entry) error, cut *bool) error {
	err := f.folder(ctx, path, func(w *walk) error { return w.below(ctx, depth, do, cut) })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// folder walks to a folder and into it, and lets do work there, once.
func (f *Files) folder(ctx context.Context, path string, do func(*walk) error) error {
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, err := f.walk()
		if err != nil {
			return err
		}
		if err = w.enterAll(path); err == nil {
			err = do(w)
			w.close()
			return err
		}
		w.close()
		if !errors.Is(err, errChanged) || try == maxTries {
			return err
		}
	}
}

func (w *walk) below(ctx context.Context, depth int, do func(entry) error, cut *bool) error {
	top := w.top()
	names, all, err := namesIn(top)
	if err != nil {
		return systemError(w.path("."), err)
	}
	*cut = *cut || !all
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := top.root.Lstat(name)
		if err != nil || hides(w.hidden, top.info, name, info) {
			continue // it is gone, or not there for the model
		}
		if err := do(entry{dir: top, path: w.path(name), name: name, info: info}); err != nil {
			return err
		}
		if !info.IsDir() || depth == 1 || isGit(name) || len(w.levels) > maxNames {
			continue
		}
		l, err := open(top.root, name, info)
		if err != nil {
			continue // it is gone, or closed to us; its name was given
		}
		w.levels = append(w.levels, l)
		err = w.below(ctx, depth-1, do, cut)
		w.pop()
		if err != nil {
			return err
		}
	}
	return nil
}

// namesIn gives the names in a folder in order, and whether these are all.
func namesIn(l level) (names []string, all bool, err error) {
	dir, err := l.root.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
	entries, err := dir.ReadDir(maxNamesInFolder)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	_, err = dir.ReadDir(1)
	slices.Sort(names)
	return names, errors.Is(err, io.EOF), nil
}
