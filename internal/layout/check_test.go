package layout_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley/internal/layout"
)

const module = layout.Module

// small is a table with one layer of each kind, and tree a source tree that
// obeys it.
var small = []layout.Layer{
	{Path: layout.Root, Core: true},
	{Path: "blob", Imports: []string{layout.Root}},
	{Path: "keep", Imports: []string{layout.Root, "blob"}},
	{Path: "sqlite", Imports: []string{layout.Root}, Core: true, Modules: []string{"example.com/driver/*", "example.com/sys"}},
	{Path: "model/*", Imports: []string{layout.Root}},
	{Path: "hub", Imports: []string{"model/*"}},
	{Path: "web"},
	{Path: "bench", Any: true},
	{Path: "cmd/tool", Any: true},
	{Path: "cmd/tool/internal/text"},
	{Path: "later", Imports: []string{layout.Root}, Planned: true},
}

func tree() []layout.Package {
	return []layout.Package{
		{Path: layout.Root, Name: "parley", Doc: "Package parley is.", Imports: []string{"time", "encoding/json"}, TestImports: []string{"example.com/cmp", module + "/bench"}},
		{Path: "blob", Name: "blob", Doc: "Package blob is.", Imports: []string{module, "example.com/anything"}, Modules: []string{"example.com/anything"}},
		{Path: "keep", Name: "keep", Doc: "Package keep is.", Imports: []string{module, module + "/blob"}},
		{Path: "sqlite", Name: "sqlite", Doc: "Package sqlite is.", Imports: []string{module}, Modules: []string{"example.com/driver/v2", "example.com/sys"}},
		{Path: "model/one", Name: "one", Doc: "Package one is.", Imports: []string{module}},
		{Path: "hub", Name: "hub", Doc: "Package hub is.", Imports: []string{module + "/model/one"}},
		{Path: "web", Name: "web", Doc: "Package web is.", Imports: []string{"embed"}},
		{Path: "bench", Name: "bench", Doc: "Package bench is.", Imports: []string{module, module + "/sqlite", module + "/keep"}},
		{Path: "cmd/tool", Name: "main", Doc: "Command tool is.", Imports: []string{module + "/sqlite", module + "/cmd/tool/internal/text"}},
		{Path: "cmd/tool/internal/text", Name: "text", Doc: "Package text is."},
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	edit := func(path string, f func(*layout.Package)) func([]layout.Package) []layout.Package {
		return func(tree []layout.Package) []layout.Package {
			i := slices.IndexFunc(tree, func(p layout.Package) bool { return p.Path == path })
			f(&tree[i])
			return tree
		}
	}
	add := func(p layout.Package) func([]layout.Package) []layout.Package {
		return func(tree []layout.Package) []layout.Package { return append(tree, p) }
	}
	imports := func(path, imp string) func([]layout.Package) []layout.Package {
		return edit(path, func(p *layout.Package) { p.Imports = append(p.Imports, imp) })
	}
	tests := []struct {
		name   string
		change func([]layout.Package) []layout.Package
		want   string // the one line, or "" for none
	}{
		{name: "obeyed", change: func(tree []layout.Package) []layout.Package { return tree }},
		{
			name:   "unknown package",
			change: add(layout.Package{Path: "util", Name: "util", Doc: "Package util is."}),
			want:   "util: is not in the table of packages",
		},
		{
			name:   "a pattern is one level",
			change: add(layout.Package{Path: "model/one/deep", Name: "deep", Doc: "Package deep is."}),
			want:   "model/one/deep: is not in the table of packages",
		},
		{
			name: "an internal package must be listed",
			change: add(layout.Package{
				Path: "internal/other", Name: "other", Doc: "Package other is.",
			}),
			want: "internal/other: is not in the table of packages",
		},
		{name: "sideways", change: imports("blob", module+"/keep"), want: "blob: imports keep, which its layer does not allow"},
		{name: "root imports a package", change: imports(".", module+"/blob"), want: ".: imports blob, which its layer does not allow"},
		{name: "not even root", change: imports("web", module), want: "web: imports ., which its layer does not allow"},
		{name: "leaf imports leaf", change: imports("model/one", module+"/model/two"), want: "model/one: imports model/two, which its layer does not allow"},
		{name: "root imports a library", change: imports(".", "example.com/uuid"), want: ".: imports example.com/uuid; the root package takes only the standard library"},
		{name: "anything but a command", change: imports("bench", module+"/cmd/tool"), want: "bench: imports the command cmd/tool"},
		{
			name:   "a test imports a command",
			change: edit("keep", func(p *layout.Package) { p.TestImports = []string{module + "/cmd/tool/internal/text"} }),
			want:   "keep: its tests import the command cmd/tool/internal/text",
		},
		{
			name:   "a test imports what its package may not",
			change: edit("blob", func(p *layout.Package) { p.TestImports = []string{module + "/keep"} }),
		},
		{
			name:   "a command's tests import the command",
			change: edit("cmd/tool", func(p *layout.Package) { p.TestImports = []string{module + "/cmd/tool"} }),
		},
		{
			name:   "no doc comment",
			change: edit("keep", func(p *layout.Package) { p.Doc = "" }),
			want:   `keep: needs a doc comment that starts with "Package keep "`,
		},
		{
			name:   "a doc comment of another name",
			change: edit("keep", func(p *layout.Package) { p.Doc = "Package keeper is." }),
			want:   `keep: needs a doc comment that starts with "Package keep "`,
		},
		{
			name:   "a command without its doc comment",
			change: edit("cmd/tool", func(p *layout.Package) { p.Doc = "Package main is." }),
			want:   `cmd/tool: needs a doc comment that starts with "Command tool "`,
		},
		{
			name:   "root depends on a module",
			change: edit(".", func(p *layout.Package) { p.Modules = []string{"example.com/sys"} }),
			want:   ".: depends on the module example.com/sys, which is not on its list",
		},
		{
			name:   "a module that is not on the list",
			change: edit("sqlite", func(p *layout.Package) { p.Modules = append(p.Modules, "example.com/sdk") }),
			want:   "sqlite: depends on the module example.com/sdk, which is not on its list",
		},
		{
			name:   "a module whose name only starts alike",
			change: edit("sqlite", func(p *layout.Package) { p.Modules = append(p.Modules, "example.com/sysx") }),
			want:   "sqlite: depends on the module example.com/sysx, which is not on its list",
		},
		{
			name:   "planned, but there",
			change: add(layout.Package{Path: "later", Name: "later", Doc: "Package later is."}),
			want:   "later: exists, but the table says that it is planned",
		},
		{
			name: "not planned, and not there",
			change: func(tree []layout.Package) []layout.Package {
				return slices.DeleteFunc(tree, func(p layout.Package) bool { return p.Path == "web" })
			},
			want: "web: is in the table, but does not exist",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			if got := layout.Check(small, test.change(tree())); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestTableIsSound looks for rows that could never match, or contradict each
// other.
func TestTableIsSound(t *testing.T) {
	t.Parallel()
	known := make(map[string]int)
	for i, layer := range layout.Table {
		if _, twice := known[layer.Path]; twice {
			t.Errorf("%s is in the table twice", layer.Path)
		}
		known[layer.Path] = i
		if layer.Holds == "" {
			t.Errorf("%s does not say what it holds", layer.Path)
		}
		if layer.Any && (layer.Core || len(layer.Imports) > 0) {
			t.Errorf("%s may import anything and has a list as well", layer.Path)
		}
		for _, imp := range layer.Imports {
			if j, ok := known[imp]; !ok || j >= i {
				t.Errorf("%s may import %s, which does not stand above it", layer.Path, imp)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":               "module " + module + "\n\ngo 1.26\n",
		"parley.go":            "// Package parley is.\npackage parley\n\nimport _ \"time\"\n",
		"parley_test.go":       "// Package parley_test has a comment of its own.\npackage parley_test\n\nimport _ \"testing\"\n",
		"script.go":            "//go:build ignore\n\n// Command script is no part of the package.\npackage main\n\nimport _ \"os/exec\"\n",
		"sqlite/a.go":          "package sqlite\n",
		"sqlite/z_plan9.go":    "// Package sqlite is.\npackage sqlite\n\nimport _ \"" + module + "\"\n",
		"only/only_test.go":    "// Package only tests.\npackage only_test\n",
		"only/testdata/x.go":   "this is not Go",
		".hidden/x.go":         "this is not Go",
		"_ignored/x.go":        "this is not Go",
		"node_modules/x/x.go":  "this is not Go",
		"cmd/tool/main.go":     "// Command tool is.\npackage main\n\nimport _ \"" + module + "/sqlite\"\n\nfunc main() {}\n",
		"sqlite/notes.md":      "# Notes",
		"cmd/tool/main_win.go": "package main\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := layout.Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range packages {
		got = append(got, strings.Join([]string{p.Path, p.Name, strings.TrimSpace(p.Doc), strings.Join(p.Imports, ","), strings.Join(p.TestImports, ",")}, "|"))
	}
	want := []string{
		".|parley|Package parley is.|time|testing",
		"cmd/tool|main|Command tool is.|" + module + "/sqlite|",
		"only|only|Package only tests.||",
		"sqlite|sqlite|Package sqlite is.|" + module + "|",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	if _, err := layout.Load(t.Context(), filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that is missing gives no error")
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.go"), []byte("this is not Go"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := layout.Load(t.Context(), dir); err == nil {
		t.Error("a file that cannot be parsed gives no error")
	}
}

func TestSplice(t *testing.T) {
	t.Parallel()
	const text = "a\n  # begin (made)\nold\nold\n  # end\nb\n"
	got, err := layout.Splice(text, "# begin", "# end", "new\n")
	if want := "a\n  # begin (made)\nnew\n  # end\nb\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"", "# begin", "# begin\n", "# end\n# begin\n"} {
		if got, err := layout.Splice(bad, "# begin", "# end", "new\n"); err == nil {
			t.Errorf("%q gives %q and no error", bad, got)
		}
	}
}
