package files_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool/files"
)

// TestMain runs the tests and finds goroutines they left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// args are the arguments of a call.
type args map[string]any

// rig is the tools in a folder, beside which there is something to be kept from
// them.
type rig struct {
	testing.TB
	tools   map[string]parley.Tool
	top     string // everything
	dir     string // what the tools reach
	outside string // what they do not
	full    bool   // paths of the host may be named
}

// canary is what stands outside, and must not be seen or changed.
const canary = "canary-7c1f"

func newRig(t testing.TB, cfg files.Config) *rig {
	t.Helper()
	top := t.TempDir()
	r := &rig{TB: t, tools: map[string]parley.Tool{}, top: top, dir: filepath.Join(top, "in"), outside: filepath.Join(top, "out")}
	for _, dir := range []string{r.dir, r.outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.put("../out/secret.txt", canary)
	for i, path := range cfg.Hide {
		cfg.Hide[i] = filepath.Join(r.dir, path)
	}
	cfg.Dir = r.dir
	r.full = cfg.Scope == files.Full
	f, err := files.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tool := range f.Tools() {
		r.tools[tool.Spec().Name] = tool
	}
	return r
}

// put writes a file by its path from the folder.
func (r *rig) put(path, text string) {
	r.Helper()
	path = filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// link makes a symbolic link by its path from the folder.
func (r *rig) link(target, path string) {
	r.Helper()
	if err := os.Symlink(target, filepath.Join(r.dir, path)); err != nil {
		r.Fatal(err)
	}
}

// get reads a file by its path from the folder.
func (r *rig) get(path string) string {
	r.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, path))
	if err != nil {
		r.Error(err)
	}
	return string(data)
}

func (r *rig) call(name string, a args) parley.ToolResult {
	r.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		r.Fatal(err)
	}
	res, err := r.tools[name].Run(r.Context(), parley.ToolCaller{}, parley.ToolCall{ID: "c", Name: name, Arguments: raw})
	if err != nil {
		r.Fatalf("%s %s: %v", name, raw, err)
	}
	if strings.Contains(res.Text, r.top) && !r.full {
		r.Errorf("%s %s names a path of the host: %s", name, raw, res.Text)
	}
	return res
}

// does makes a call that has to work.
func (r *rig) does(name string, a args) string {
	r.Helper()
	res := r.call(name, a)
	if res.IsError {
		r.Errorf("%s %v: %s", name, a, res.Text)
	}
	return res.Text
}

// refuses makes a call that has to be refused, with a text that holds want.
func (r *rig) refuses(name string, a args, want string) {
	r.Helper()
	res := r.call(name, a)
	if !res.IsError || !strings.Contains(res.Text, want) {
		r.Errorf("%s %v: got %v %q, want an error with %q", name, a, res.IsError, res.Text, want)
	}
}

// untouched makes sure that what is outside is as it was.
func (r *rig) untouched() {
	r.Helper()
	if got := r.get("../out/secret.txt"); got != canary {
		r.Errorf("the file outside was changed: %q", got)
	}
	if got := tree(r, r.outside); got != "secret.txt" {
		r.Errorf("outside there is %q", got)
	}
}

// tree gives the paths of all files in a folder.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			path, err = filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}
