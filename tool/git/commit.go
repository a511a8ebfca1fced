package git

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

const schema = `{
  "type": "object",
  "properties": {
    "message": {"type": "string", "minLength": 1, "maxLength": 65536, "description": "the commit message: a short first line, and more behind an empty line"},
    "paths": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "string"}, "description": "commit exactly these files and folders as they are, whether they were staged or not, relative to the top of the repository"},
    "all": {"type": "boolean", "description": "commit every change, with files that are not known to git yet, except ignored ones"}
  },
  "required": ["message"],
  "additionalProperties": false
}`

type arguments struct {
	Message string   `json:"message"`
	Paths   []string `json:"paths"`
	All     bool     `json:"all"`
}

const (
	maxMessage = 64 << 10
	maxPaths   = 1000
	maxBytes   = 96 << 10 // of all paths
	maxShown   = 200      // files in a result
)

// refusal is an answer to the model that says why nothing was committed.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusef(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// Tools gives git_commit.
func (g *Git) Tools() []parley.Tool { return []parley.Tool{g} }

// Spec describes the tool.
func (g *Git) Spec() parley.ToolSpec {
	return parley.ToolSpec{
		Name:        "git_commit",
		Description: "Commits to the git repository: what is staged, or the given paths, or everything that changed. It does not push.",
		Schema:      json.RawMessage(schema),
	}
}

// Run makes one commit. Calls wait for each other. When ctx ends, git is ended and
// nothing was committed, unless it ends in the very moment the commit is made; what
// was staged for it may stay staged.
func (g *Git) Run(ctx context.Context, _ parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	a, err := decode(call.Arguments)
	var text string
	if err == nil {
		text, err = g.commit(ctx, a)
	}
	no, refused := errors.AsType[refusal](err)
	switch {
	case err == nil:
		return parley.ToolResult{Text: text}, nil
	case ctx.Err() != nil:
		return parley.ToolResult{}, ctx.Err()
	case refused:
		return parley.ToolResult{Text: string(no), IsError: true}, nil
	case errors.Is(err, context.DeadlineExceeded):
		return parley.ToolResult{Text: fmt.Sprintf("git took longer than %v and was ended", g.cfg.Timeout), IsError: true}, nil
	}
	return parley.ToolResult{}, &parley.Error{Code: parley.CodeUnavailable, Op: "git_commit", Message: "git cannot be run", Err: err}
}

func decode(raw json.RawMessage) (a arguments, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return a, refusef("the arguments do not fit: %v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return a, refusef("the arguments do not fit: something follows after them")
	}
	switch {
	case strings.TrimSpace(a.Message) == "":
		return a, refusef("message is empty")
	case len(a.Message) > maxMessage:
		return a, refusef("message has %d bytes; at most %d are allowed", len(a.Message), maxMessage)
	case strings.ContainsRune(a.Message, 0):
		return a, refusef("message holds a zero byte")
	case a.All && len(a.Paths) > 0:
		return a, refusef("give either paths or all")
	}
	a.Paths, err = checkPaths(a.Paths)
	return a, err
}

// checkPaths refuses paths that leave the repository, or go into what git keeps
// there. Git itself refuses those that go through a symbolic link.
func checkPaths(paths []string) ([]string, error) {
	if len(paths) > maxPaths {
		return nil, refusef("there are %d paths; at most %d are allowed", len(paths), maxPaths)
	}
	size := 0
	var clean []string
	for _, p := range paths {
		names := strings.Split(filepath.ToSlash(p), "/")
		switch {
		case p == "" || strings.ContainsRune(p, 0):
			return nil, refusef("%q is no path", p)
		case path.IsAbs(filepath.ToSlash(p)) || filepath.IsAbs(p) || slices.Contains(names, ".."):
			return nil, refusef("%q leads out of the repository; paths start at its top and have no ..", p)
		case slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, ".git") }):
			return nil, refusef("%q belongs to git and cannot be committed", p)
		}
		size += len(p)
		clean = append(clean, path.Clean(filepath.ToSlash(p)))
	}
	if size > maxBytes {
		return nil, refusef("the paths have %d bytes; at most %d are allowed", size, maxBytes)
	}
	return clean, nil
}

func (g *Git) commit(ctx context.Context, a arguments) (string, error) {
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	if err := g.check(ctx); err != nil {
		return "", err
	}
	var behind []string
	switch {
	case len(a.Paths) > 0:
		behind = append([]string{"--"}, a.Paths...)
	case a.All:
		behind = []string{"--", "."}
	}
	if behind != nil {
		added, err := g.git(ctx, "", append([]string{"add", "-A"}, behind...)...)
		if err != nil {
			return "", err
		}
		if added.code != 0 {
			return "", refusef("git could not stage it: %s", added.said())
		}
	}
	args := []string{"commit", "--file=-", "--cleanup=whitespace", "--no-gpg-sign", "--no-status"}
	if !g.cfg.Hooks {
		args = append(args, "--no-verify")
	}
	if len(a.Paths) > 0 {
		args = append(append(args, "--only"), behind...)
	}
	done, err := g.git(ctx, a.Message, args...)
	if err != nil {
		return "", err
	}
	if done.code != 0 {
		return "", g.failed(ctx, done, a)
	}
	return g.report(ctx, done)
}

// check makes sure that the folder is the top of a repository.
func (g *Git) check(ctx context.Context) error {
	top, err := g.git(ctx, "", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if top.code != 0 {
		if strings.Contains(top.errors, "not a git repository") {
			return refusef("the folder is not a git repository")
		}
		return refusef("git cannot use the repository: %s", top.said())
	}
	want, err := os.Stat(g.cfg.Dir)
	if err != nil {
		return refusef("the folder of the repository is not there")
	}
	if is, err := os.Stat(strings.TrimSuffix(top.out, "\n")); err != nil || !os.SameFile(is, want) {
		return refusef("the folder is not the top of a git repository")
	}
	return nil
}

// failed says why git did not commit.
func (g *Git) failed(ctx context.Context, done answer, a arguments) error {
	args := []string{"diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv"}
	if len(a.Paths) > 0 {
		args = append(append(args, "--"), a.Paths...)
	}
	diff, err := g.git(ctx, "", args...)
	switch {
	case err != nil:
		return err
	case diff.code != 0:
		return refusef("git did not commit: %s", done.said())
	case len(a.Paths) > 0:
		return refusef("there is nothing to commit: nothing has changed in these paths")
	case a.All:
		return refusef("there is nothing to commit: nothing has changed")
	}
	return refusef("there is nothing to commit: nothing is staged; give paths, or set all")
}

// said gives what git said, for the model.
func (a answer) said() string {
	text := strings.TrimSpace(a.errors)
	if text == "" {
		text = strings.TrimSpace(a.out)
	}
	if len(text) > 2000 {
		text = strings.ToValidUTF8(text[:2000], "") + "…"
	}
	return text
}

// committed is how git tells that it has committed: [main (root-commit) <id>] title.
var committed = regexp.MustCompile(`(?m)^\[(.*?) ?([0-9a-f]{40}|[0-9a-f]{64})\] `)

// report gives the commit's id, and the files it changed.
func (g *Git) report(ctx context.Context, done answer) (string, error) {
	m := committed.FindStringSubmatch(done.out)
	if m == nil {
		return "committed", nil
	}
	text := fmt.Sprintf("committed %s on %s", m[2], strings.TrimSuffix(m[1], " (root-commit)"))
	files, err := g.git(ctx, "", "diff-tree", "--root", "--no-commit-id", "-r", "--no-renames", "--no-ext-diff", "--name-status", "-z", m[2])
	if err != nil || files.code != 0 {
		// It is committed, whatever becomes of the rest.
		return text, nil //nolint:nilerr // see above
	}
	fields := strings.Split(strings.TrimSuffix(files.out, "\x00"), "\x00")
	var lines []string
	for i := 0; i+1 < len(fields); i += 2 {
		lines = append(lines, fields[i]+" "+show(fields[i+1]))
	}
	text += fmt.Sprintf(", %d files:", len(lines))
	for i, line := range lines {
		if i == maxShown {
			text += fmt.Sprintf("\n[%d more]", len(lines)-maxShown)
			break
		}
		text += "\n" + line
	}
	return text, nil
}

// show quotes a path that does not fit on a line.
func show(p string) string {
	if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Sprintf("%q", p)
	}
	return p
}
