package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const writeSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "the file; folders that are missing are made"},
    "content": {"type": "string", "description": "all of its text"}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}`

type writeArguments struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (f *Files) writeTool() *tool {
	return newTool("write_file",
		"Writes a text file: makes it, or replaces all that is in it. To change a part of a file use edit_file. "+f.where(),
		writeSchema, f.write)
}

func (f *Files) write(ctx context.Context, a writeArguments) (text string, err error) {
	if err := f.writable(a.Path, a.Content); err != nil {
		return "", err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	err = f.at(ctx, a.Path, true, func(s *spot) error {
		if err := s.mayReplace(); err != nil {
			return err
		}
		if err := s.replace(a.Content); err != nil {
			return err
		}
		was := "it is a new file"
		if s.info != nil {
			was = fmt.Sprintf("it had %d", s.info.Size())
		}
		text = fmt.Sprintf("wrote %d bytes to %s; %s", len(a.Content), show(s.path(s.name)), was)
		return nil
	})
	return text, err
}

// writable refuses content that is not text, or too much of it.
func (f *Files) writable(path, content string) error {
	if int64(len(content)) > f.cfg.MaxFile {
		return refusef("%s would have %d bytes; at most %d can be written", show(path), len(content), f.cfg.MaxFile)
	}
	if strings.ContainsRune(content, 0) {
		return refusef("the text for %s holds a zero byte; only text can be written", show(path))
	}
	return nil
}

// mayReplace reports whether a file may be put at the spot.
func (s *spot) mayReplace() error {
	switch {
	case s.name == "." || (s.info != nil && s.info.IsDir()):
		return refusef("%s is a folder", show(s.given))
	case s.info != nil && !s.info.Mode().IsRegular():
		return refusef("%s is not a regular file but %s", show(s.given), kind(s.info.Mode()))
	case s.info != nil && s.info.Mode().Perm()&0o222 == 0:
		return refusef("%s is write-protected", show(s.given))
	}
	return s.mayWrite(s.given, s.name)
}

// replace puts a file at the spot, all of it or nothing: it is written beside and
// renamed. The name alone is exchanged, so that nothing behind a link that has
// come there is touched.
func (s *spot) replace(content string) (err error) {
	dir := s.top().root
	mode := fs.FileMode(0o666) // less what the process masks
	if s.info != nil {
		mode = 0o600 // until it gets what the other had
	}
	draft := ".parley-" + rand.Text() + ".tmp"
	f, err := dir.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return systemError(s.given, err)
	}
	defer func() {
		if err != nil {
			_, _ = f.Close(), dir.Remove(draft) // closed or renamed already: then there is nothing to do
		}
	}()
	if _, err := f.WriteString(content); err != nil {
		return systemError(s.given, err)
	}
	if s.info != nil {
		keepOwner(f, s.info)
		if err := f.Chmod(s.info.Mode().Perm()); err != nil {
			return systemError(s.given, err)
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return systemError(s.given, err)
	}
	if err := s.unchanged(); err != nil {
		return err
	}
	if err := dir.Rename(draft, s.name); err != nil {
		return systemError(s.given, err)
	}
	return nil
}

// unchanged looks whether the file is still the one that was found, as it was.
func (s *spot) unchanged() error {
	is, err := s.top().root.Lstat(s.name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.info == nil:
		return nil
	case err != nil || s.info == nil:
		return errChanged
	case !os.SameFile(is, s.info) || is.Size() != s.info.Size() || !is.ModTime().Equal(s.info.ModTime()):
		return errChanged
	}
	return nil
}
