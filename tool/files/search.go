package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

const searchSchema = `{
  "type": "object",
  "properties": {
    "text": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "the text to look for, in single lines"},
    "regexp": {"type": "boolean", "description": "text is a regular expression (RE2)"},
    "ignore_case": {"type": "boolean", "description": "upper and lower case are the same"},
    "path": {"type": "string", "description": "the folder to search; default: the one you work in"},
    "glob": {"type": "string", "maxLength": 1000, "description": "which files, such as *.go, src/**/*.ts or *.{js,ts}; with a slash it is about the path below the folder, without one about the name"},
    "limit": {"type": "integer", "minimum": 1, "description": "how many lines to give at most"}
  },
  "required": ["text"],
  "additionalProperties": false
}`

type searchArguments struct {
	Text       string `json:"text"`
	Regexp     bool   `json:"regexp"`
	IgnoreCase bool   `json:"ignore_case"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	Limit      int    `json:"limit"`
}

const (
	maxPattern = 1000 // bytes of a pattern
	lineRunes  = 300  // of a line that is shown
)

func (f *Files) searchTool() *tool {
	return newTool("search_files",
		"Searches the text files below a folder, line by line, and gives path:line:text. Binary files, large ones and .git are left out. "+f.where(),
		searchSchema, f.search)
}

func (f *Files) search(ctx context.Context, a searchArguments) (string, error) {
	s, err := f.newSearch(a)
	if err != nil {
		return "", err
	}
	if a.Path == "" {
		a.Path = "."
	}
	limited, cancel := context.WithTimeout(ctx, f.cfg.MaxTime)
	defer cancel()
	var cut bool
	err = f.folder(limited, a.Path, func(w *walk) error {
		if start := w.path("."); start != "." {
			s.start = strings.TrimSuffix(start, "/") + "/"
		}
		return w.below(limited, maxDepth, func(e entry) error { return s.visit(limited, e) }, &cut)
	})
	if cut {
		s.stop = "a folder has too many names to look at all"
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		s.stop = fmt.Sprintf("it took longer than %v", f.cfg.MaxTime)
	case err != nil && !errors.Is(err, errEnough):
		return "", err
	}
	return s.report(), nil
}

// search is one search under way.
type search struct {
	cfg   Config
	match func(line []byte) bool
	glob  func(path string) bool
	start string // what paths of the model begin with, before what the glob is about
	limit int

	lines  []string
	files  int
	bytes  int64
	binary int
	large  int
	closed int    // files that could not be opened
	stop   string // why it ended early
}

func (f *Files) newSearch(a searchArguments) (*search, error) {
	switch {
	case a.Text == "" || len(a.Text) > maxPattern:
		return nil, refusef("text must have 1 to %d bytes", maxPattern)
	case strings.ContainsAny(a.Text, "\n\x00") && !a.Regexp:
		return nil, refusef("text must be in one line: files are searched line by line")
	case a.Limit < 0:
		return nil, refusef("limit must be positive")
	}
	s := &search{cfg: f.cfg, limit: f.cfg.MaxMatches, glob: func(string) bool { return true }}
	if a.Limit > 0 {
		s.limit = min(s.limit, a.Limit)
	}
	if a.Glob != "" {
		glob, err := newGlob(a.Glob)
		if err != nil {
			return nil, err
		}
		s.glob = glob
	}
	if !a.Regexp && !a.IgnoreCase {
		text := []byte(a.Text)
		s.match = func(line []byte) bool { return bytes.Contains(line, text) }
		return s, nil
	}
	pattern := a.Text
	if !a.Regexp {
		pattern = regexp.QuoteMeta(pattern)
	}
	if a.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, refusef("text is no regular expression: %v", err)
	}
	s.match = re.Match
	return s, nil
}

// visit searches one file of the tree.
func (s *search) visit(ctx context.Context, e entry) error {
	if !e.info.Mode().IsRegular() || !s.glob(strings.TrimPrefix(e.path, s.start)) {
		return nil
	}
	if e.info.Size() > s.cfg.MaxFile {
		s.large++
		return nil
	}
	if s.files == s.cfg.MaxFiles || s.bytes+e.info.Size() > s.cfg.MaxScan {
		s.stop = fmt.Sprintf("it went through %d files with %d bytes, which is the limit", s.files, s.bytes)
		return errEnough
	}
	s.files++
	f, err := openRegular(e.dir.root, e.name, e.info)
	if err != nil {
		s.closed++
		return nil // the others are searched all the same
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := readAll(ctx, f, s.cfg.MaxFile)
	s.bytes += int64(len(data))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errLarge):
		s.large++
		return nil
	case err != nil:
		s.closed++
		return nil
	case checkText(data) != nil:
		s.binary++
		return nil
	}
	return s.scan(ctx, e.path, data)
}

// scan looks at the lines of a text.
func (s *search) scan(ctx context.Context, path string, data []byte) error {
	for number := 1; len(data) > 0; number++ {
		if number%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if !s.match(line) {
			continue
		}
		if len(s.lines) == s.limit {
			s.stop = fmt.Sprintf("there are more than these %d lines", s.limit)
			return errEnough
		}
		s.lines = append(s.lines, fmt.Sprintf("%s:%d:%s", show(path), number, cutLine(string(line))))
	}
	return nil
}

// cutLine shortens a line that is too long to show.
func cutLine(line string) string {
	if len(line) <= lineRunes || utf8.RuneCountInString(line) <= lineRunes {
		return line
	}
	return string([]rune(line)[:lineRunes]) + "…"
}

// report gives what was found, and what was left out.
func (s *search) report() string {
	lines := s.lines
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("[nothing found in %d files]", s.files))
	}
	var left []string
	for _, c := range []struct {
		count int
		what  string
	}{{s.binary, "binary or not UTF-8"}, {s.large, "too large"}, {s.closed, "not to be opened"}} {
		if c.count > 0 {
			left = append(left, fmt.Sprintf("%d %s", c.count, c.what))
		}
	}
	if len(left) > 0 {
		lines = append(lines, "[files left out: "+strings.Join(left, ", ")+"]")
	}
	if s.stop != "" {
		lines = append(lines, "[the search ended early: "+s.stop+"; narrow it with path or glob]")
	}
	return strings.Join(lines, "\n")
}
