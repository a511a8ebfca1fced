package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

const schema = `{
  "type": "object",
  "properties": {
    "argv": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "string"}, "description": "the command and its arguments, one element each; there is no shell, so no quotes, pipes, variables or wildcards"},
    "dir": {"type": "string", "description": "the folder to run in, below the one you work in; default: that one"},
    "stdin": {"type": "string", "description": "what the command reads; default: nothing"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "description": "after which the command is killed"}
  },
  "required": ["argv"],
  "additionalProperties": false
}`

type arguments struct {
	Argv    []string `json:"argv"`
	Dir     string   `json:"dir"`
	Stdin   string   `json:"stdin"`
	Timeout int64    `json:"timeout_seconds"`
}

// refusal is an answer to the model that says why a command did not run.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusef(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// Tools gives run_command.
func (c *Command) Tools() []parley.Tool { return []parley.Tool{c} }

// Spec describes the tool, with the commands it runs.
func (c *Command) Spec() parley.ToolSpec {
	return parley.ToolSpec{
		Name:        "run_command",
		Description: "Runs a command and gives its output and exit code. " + c.list(),
		Schema:      json.RawMessage(schema),
	}
}

// listed is how many commands a description names.
const listed = 50

// list tells the model which commands there are.
func (c *Command) list() string {
	if len(c.cfg.Allowed) == 0 {
		return "No command is allowed."
	}
	var b strings.Builder
	b.WriteString("Allowed are these commands, where … stands for any further arguments: ")
	for i, entry := range c.cfg.Allowed {
		if i == listed {
			b.WriteString(", and others")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if n := len(entry) - 1; entry[n] == exact {
			b.WriteString(vector(entry[:n]))
		} else {
			b.WriteString(vector(entry) + " …")
		}
	}
	return b.String() + "."
}

// vector shows an argument vector: as words where they are plain.
func vector(argv []string) string {
	for _, a := range argv {
		if a == "" || strings.ContainsFunc(a, func(r rune) bool { return r <= ' ' || r == '"' || r == ',' || r > '~' }) {
			return fmt.Sprintf("%q", argv)
		}
	}
	return strings.Join(argv, " ")
}

// Run runs one command. What came out of it is a result, whatever its exit code
// is; it is one with IsError if the command was not run, or killed. When ctx ends,
// the command and what it started are killed before Run returns the error of ctx.
func (c *Command) Run(ctx context.Context, _ parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return parley.ToolResult{}, err
	}
	p, err := c.plan(call.Arguments)
	if err == nil {
		defer p.close()
		var o *outcome
		if o, err = p.run(ctx); err == nil {
			return parley.ToolResult{Text: o.text(), IsError: o.why != ""}, nil
		}
	}
	if no, ok := errors.AsType[refusal](err); ok {
		return parley.ToolResult{Text: string(no), IsError: true}, nil
	}
	return parley.ToolResult{}, err
}

// plan is a command that is about to run.
type plan struct {
	cfg     *Config
	path    string // of its file
	argv    []string
	env     []string
	dir     *os.File // to run in
	stdin   string
	timeout time.Duration
}

func (p *plan) close() { _ = p.dir.Close() } // it was only opened

// plan checks what a call asks for.
func (c *Command) plan(raw json.RawMessage) (*plan, error) {
	a, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if err := checkVector(a); err != nil {
		return nil, err
	}
	if !c.cfg.allows(a.Argv) {
		return nil, refusef("the command is not allowed. %s", c.list())
	}
	p := &plan{cfg: &c.cfg, argv: a.Argv, stdin: a.Stdin, timeout: c.cfg.Timeout}
	var ok bool
	if p.path, ok = c.cfg.find(a.Argv[0]); !ok {
		return nil, refusef("there is no command %q on this machine", a.Argv[0])
	}
	if a.Timeout > 0 {
		if p.timeout = time.Duration(a.Timeout) * time.Second; a.Timeout > int64(c.cfg.MaxTimeout/time.Second) {
			return nil, refusef("timeout_seconds must be at most %d", int64(c.cfg.MaxTimeout/time.Second))
		}
	}
	p.env = append(slices.Clone(c.env), mark+"="+newMark()) // the last one: see start
	p.dir, err = c.open(a.Dir)
	return p, err
}

func decode(raw json.RawMessage) (arguments, error) {
	var a arguments
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return a, refusef("the arguments do not fit: %v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return a, refusef("the arguments do not fit: something follows after them")
	}
	return a, nil
}

func checkVector(a arguments) error {
	size := 0
	for _, arg := range a.Argv {
		if strings.ContainsRune(arg, 0) {
			return refusef("argv holds a zero byte")
		}
		size += len(arg)
	}
	switch {
	case len(a.Argv) == 0:
		return refusef("argv is empty; it needs a command, such as [\"git\", \"status\"]")
	case len(a.Argv) > maxArguments || size > maxVector:
		return refusef("argv has %d elements with %d bytes; at most %d with %d are allowed", len(a.Argv), size, maxArguments, maxVector)
	case len(a.Stdin) > maxStdin:
		return refusef("stdin has %d bytes; at most %d are allowed", len(a.Stdin), maxStdin)
	case a.Timeout < 0:
		return refusef("timeout_seconds must be positive")
	}
	return nil
}

// open opens the folder to run in, which cannot lie outside.
func (c *Command) open(dir string) (*os.File, error) {
	if dir == "" {
		dir = "."
	}
	// The dot makes sure that it is opened as a folder: opening a pipe would wait.
	root, err := c.base.OpenRoot(dir + "/.")
	if err == nil {
		defer root.Close() //nolint:errcheck // it was only opened
		var f *os.File
		if f, err = root.Open("."); err == nil {
			return f, nil
		}
	}
	switch {
	case errors.Is(err, os.ErrClosed):
		return nil, parley.Errorf(parley.CodeUnavailable, "run_command: the folder was closed")
	case errors.Is(err, fs.ErrNotExist):
		return nil, refusef("dir: there is no folder %q", dir)
	}
	return nil, refusef("dir: %q is not a folder below the one you work in", dir)
}
