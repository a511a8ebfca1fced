//go:build unix

package command_test

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool/command"
)

// TestMain runs the tests with something in the environment that commands must not
// see, and finds goroutines they left behind.
func TestMain(m *testing.M) {
	if err := os.Setenv("PARLEY_TEST_KEY", "canary-7c1f"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// args are the arguments of a call.
type args map[string]any

// rig is the tool in a folder, with commands of its own beside it.
type rig struct {
	testing.TB
	*command.Command
	dir string // where commands run
	bin string // where commands are, besides those of the system
}

func newRig(t testing.TB, cfg command.Config) *rig {
	t.Helper()
	top := t.TempDir()
	r := &rig{TB: t, dir: filepath.Join(top, "in"), bin: filepath.Join(top, "bin")}
	r.script("bin/show", `for a; do printf '[%s]\n' "$a"; done`)
	r.script("bin/fake", `echo the real one`)
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cfg.Dir = r.dir
	cfg.Path = append(cfg.Path, r.bin, "/usr/local/bin", "/usr/bin", "/bin")
	c, err := command.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	r.Command = c
	return r
}

// script writes a command by its path from the folder above.
func (r *rig) script(path, text string) {
	r.Helper()
	r.file(path, "#!/bin/sh\n"+text+"\n", 0o755)
}

func (r *rig) file(path, text string, mode fs.FileMode) {
	r.Helper()
	path = filepath.Join(filepath.Dir(r.dir), path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) call(ctx context.Context, a args) (parley.ToolResult, error) {
	r.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		r.Fatal(err)
	}
	return r.Tools()[0].Run(ctx, parley.ToolCaller{}, parley.ToolCall{ID: "c", Name: "run_command", Arguments: raw})
}

// does makes a call that has to run to its end, and gives what it wrote before the
// last line.
func (r *rig) does(a args) string {
	r.Helper()
	res, err := r.call(r.Context(), a)
	if err != nil || res.IsError {
		r.Errorf("%v: got %q, %v", a, res.Text, err)
	}
	return res.Text[:strings.LastIndexByte("\n"+res.Text, '\n')]
}

// refuses makes a call that has to be refused, with a text that holds want.
func (r *rig) refuses(a args, want string) {
	r.Helper()
	res, err := r.call(r.Context(), a)
	if err != nil || !res.IsError || !strings.Contains(res.Text, want) {
		r.Errorf("%v: got %v %q, %v, want an error with %q", a, res.IsError, res.Text, err, want)
	}
}

// left gives the names in the folder commands run in.
func (r *rig) left() string {
	r.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		r.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// pulse tells how many processes came to life, and when all of them are dead: they
// have the pipe "alive" open for as long as they live.
type pulse struct {
	testing.TB
	r, w *os.File
}

func (r *rig) pulse() *pulse {
	r.Helper()
	path := filepath.Join(r.dir, "alive")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		r.Fatal(err)
	}
	p := &pulse{TB: r}
	var err error
	if p.r, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		r.Fatal(err)
	}
	if p.w, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { p.r.Close(); p.w.Close() })
	return p
}

// patience is how long something is waited for that has to happen.
const patience = 20 * time.Second

// started waits until so many processes have said that they live.
func (p *pulse) started(count int) {
	p.Helper()
	if err := p.r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		p.Fatal(err)
	}
	if _, err := io.ReadFull(p.r, make([]byte, count)); err != nil {
		p.Errorf("of %d processes not all have started: %v", count, err)
	}
}

// over waits until all of them are dead.
func (p *pulse) over() {
	p.Helper()
	p.w.Close()
	if err := p.r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		p.Fatal(err)
	}
	if _, err := io.ReadAll(p.r); err != nil {
		p.Errorf("something lives on: %v", err)
	}
}
