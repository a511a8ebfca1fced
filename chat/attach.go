package chat

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// mostText is how large a file may be that goes along as text; others are media.
const mostText = 256 << 10

// attachedMark is how a text part begins that is a file; its name follows, and attachedEnd.
const attachedMark, attachedEnd = "Attached file ", ":\n\n"

// attachment gives the name and the content of the file that a part is; ok: it is one.
func attachment(p *parley.Part) (name, content string, ok bool) {
	if p.Kind != parley.PartText || p.Note {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(p.Text, attachedMark)
	if !ok {
		return "", "", false
	}
	name, content, ok = strings.Cut(rest, attachedEnd)
	return name, content, ok && !strings.Contains(name, "\n")
}

// attach has a file go with the next message, and reports whether it can.
func (m *model) attach(name string) bool {
	if name == "" {
		m.say("/attach needs the name of a file")
		return false
	}
	path := m.cfg.path(name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		m.notice = notice{"cannot attach " + line(name) + ": " + reason(err), true}
		return false
	case !info.Mode().IsRegular():
		m.notice = notice{line(name) + " is not a file", true}
		return false
	}
	if !slices.Contains(m.attached, name) {
		m.attached = append(m.attached, name)
	}
	return true
}

// path gives where a file is that somebody named.
func (c *Config) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Dir, name)
}

// mentioned gives the files that a text names with an @.
func (c *Config) mentioned(text string) []string {
	var names []string
	for word := range strings.FieldsSeq(text) {
		name, ok := strings.CutPrefix(word, "@")
		if !ok || name == "" {
			continue
		}
		// The name may stand at the end of a sentence.
		for _, name := range []string{name, strings.TrimRight(name, ".,;:!?)")} {
			if info, err := os.Stat(c.path(name)); err == nil && info.Mode().IsRegular() && !slices.Contains(names, name) {
				names = append(names, name)
				break
			}
		}
	}
	return names
}

// read makes the parts of a message: its text, then the files that go with it.
func (c *Config) read(ctx context.Context, b Backend, text string, files []string) ([]parley.Part, error) {
	var parts []parley.Part
	if strings.TrimSpace(text) != "" {
		parts = append(parts, parley.TextPart(text))
	}
	if !strings.HasPrefix(text, "/") {
		for _, name := range c.mentioned(text) {
			if !slices.Contains(files, name) {
				files = append(slices.Clip(files), name)
			}
		}
	}
	for _, name := range files {
		part, err := c.file(ctx, b, name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// file makes a part of a file: text if it is some and not long, else media.
func (c *Config) file(ctx context.Context, b Backend, name string) (part parley.Part, err error) {
	f, err := os.Open(c.path(name))
	if err != nil {
		return part, parley.Errorf(parley.CodeInvalid, "cannot attach %s: %s", line(name), reason(err))
	}
	defer func() { _ = f.Close() }() // it was only read
	begin, err := io.ReadAll(io.LimitReader(f, mostText+1))
	if err != nil {
		return part, parley.Errorf(parley.CodeInvalid, "cannot attach %s: %s", line(name), reason(err))
	}
	if len(begin) <= mostText && isText(begin) {
		return parley.TextPart(attachedMark + line(name) + attachedEnd + string(begin)), nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return part, parley.Errorf(parley.CodeInvalid, "cannot attach %s: %s", line(name), reason(err))
	}
	media, err := b.PutBlob(ctx, f)
	if err != nil {
		return part, fmt.Errorf("attach %s: %w", line(name), err)
	}
	media.Name = filepath.Base(name)
	return parley.Part{Kind: parley.PartMedia, Media: &media}, nil
}

// isText reports whether bytes can be read as they are.
func isText(data []byte) bool {
	return utf8.Valid(data) && !slices.ContainsFunc(data, func(b byte) bool {
		return b < ' ' && b != '\n' && b != '\t' && b != '\r' && b != '\f'
	})
}

// reason gives what is wrong with a file, without its path again.
func reason(err error) string {
	if e, ok := err.(*os.PathError); ok { //nolint:errorlint // what os gives is not wrapped
		return e.Err.Error()
	}
	return err.Error()
}
