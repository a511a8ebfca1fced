package files

import (
	"context"
	"fmt"
	"strings"
)

const editSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "the file"},
    "old": {"type": "string", "minLength": 1, "description": "the text to replace, exactly as it stands in the file, with enough around it to occur once"},
    "new": {"type": "string", "description": "the text to put there"},
    "all": {"type": "boolean", "description": "replace every occurrence"}
  },
  "required": ["path", "old", "new"],
  "additionalProperties": false
}`

type editArguments struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all"`
}

func (f *Files) editTool() *tool {
	return newTool("edit_file",
		"Replaces a text in a file by another. The old text has to occur exactly once, unless all is set. "+f.where(),
		editSchema, f.edit)
}

func (f *Files) edit(ctx context.Context, a editArguments) (text string, err error) {
	switch a.Old {
	case "":
		return "", refusef("old is empty; give the text to replace, or use write_file")
	case a.New:
		return "", refusef("old and new are the same")
	}
	// Two edits of one file at a time would lose one.
	f.writing.Lock()
	defer f.writing.Unlock()
	err = f.at(ctx, a.Path, false, func(s *spot) error {
		if s.info == nil {
			return s.missing(s.given, s.name)
		}
		if err := s.mayReplace(); err != nil {
			return err
		}
		was, is, err := s.text(ctx)
		if err != nil {
			return err
		}
		s.info = is // what was read is what may be replaced
		count := strings.Count(was, a.Old)
		if err := s.occurs(was, a, count); err != nil {
			return err
		}
		became := strings.ReplaceAll(was, a.Old, a.New)
		if err := f.writable(a.Path, became); err != nil {
			return err
		}
		if err := s.replace(became); err != nil {
			return err
		}
		before, _, _ := strings.Cut(was, a.Old)
		line := 1 + strings.Count(before, "\n")
		text = fmt.Sprintf("replaced 1 occurrence in %s, at line %d", show(s.path(s.name)), line)
		if count > 1 {
			text = fmt.Sprintf("replaced %d occurrences in %s, the first at line %d", count, show(s.path(s.name)), line)
		}
		return nil
	})
	return text, err
}

// occurs refuses a text that does not occur as often as it should, and says how to
// find the right one.
func (s *spot) occurs(was string, a editArguments, count int) error {
	path := show(s.given)
	switch {
	case count == 1 || (count > 1 && a.All):
		return nil
	case count > 1:
		return refusef("old occurs %d times in %s, first at lines %s; give more of the text around it, or set all",
			count, path, firstLines(was, a.Old))
	case strings.Contains(was, strings.ReplaceAll(a.Old, "\n", "\r\n")):
		return refusef("old does not occur in %s, but it does with line ends of \\r\\n, which the file has", path)
	case strings.Contains(squeeze(was), squeeze(a.Old)):
		return refusef("old does not occur in %s exactly, but it does with other white space; read the file and copy the text as it is", path)
	}
	return refusef("old does not occur in %s; read the file and copy the text as it is", path)
}

// firstLines gives the lines in which a text begins, up to five of them.
func firstLines(text, old string) string {
	var lines []string
	for at := 0; len(lines) < 5; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		lines = append(lines, fmt.Sprint(1+strings.Count(text[:at+i], "\n")))
		at += i + len(old)
	}
	return strings.Join(lines, ", ")
}

// squeeze makes white space alike.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }
