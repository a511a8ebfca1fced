package files_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool/files"
)

func TestNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		cfg  files.Config
		code parley.Code
	}{
		"no folder":           {files.Config{}, parley.CodeInvalid},
		"no such scope":       {files.Config{Dir: dir, Scope: "all"}, parley.CodeInvalid},
		"no such project":     {files.Config{Dir: filepath.Join(dir, "none"), Scope: files.Project}, parley.CodeNotFound},
		"no hidden path":      {files.Config{Dir: dir, Hide: []string{""}}, parley.CodeInvalid},
		"a hidden start":      {files.Config{Dir: filepath.Join(dir, "a"), Scope: files.Full, Hide: []string{dir}}, parley.CodeInvalid},
		"a missing start":     {files.Config{Dir: filepath.Join(dir, "none"), Scope: files.Full}, parley.CodeInvalid},
		"a file as a sandbox": {files.Config{Dir: filepath.Join(dir, "file")}, parley.CodeUnavailable},
	} {
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := files.New(c.cfg); parley.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %s", name, err, c.code)
		}
	}
	f, err := files.New(files.Config{Dir: filepath.Join(dir, "new", "box")})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "new", "box"))
	if err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o700) {
		t.Errorf("the sandbox is %v, %v", info, err)
	}
	read := f.Tools()[0]
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	_, err = read.Run(t.Context(), parley.ToolCaller{}, parley.ToolCall{Arguments: []byte(`{"path":"x"}`)})
	if parley.CodeOf(err) != parley.CodeUnavailable {
		t.Errorf("after Close: %v", err)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{})
	for _, name := range []string{"read_file", "write_file", "edit_file", "list_files", "search_files"} {
		spec := r.tools[name].Spec()
		var schema struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
			Additional *bool                      `json:"additionalProperties"`
		}
		if err := json.Unmarshal(spec.Schema, &schema); err != nil || schema.Type != "object" || schema.Additional == nil || *schema.Additional {
			t.Errorf("%s has the schema %s, %v", name, spec.Schema, err)
		}
		for _, field := range schema.Required {
			if schema.Properties[field] == nil {
				t.Errorf("%s requires %s, which it does not describe", name, field)
			}
		}
		for _, bad := range []string{`{"pth":"x"}`, `[]`, `{} {}`, `"x"`, ``, `{"path":7}`} {
			res, err := r.tools[name].Run(t.Context(), parley.ToolCaller{}, parley.ToolCall{Arguments: []byte(bad)})
			if err != nil || !res.IsError || !strings.Contains(res.Text, "arguments") {
				t.Errorf("%s %s: got %q, %v", name, bad, res.Text, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.tools[name].Run(ctx, parley.ToolCaller{}, parley.ToolCall{Arguments: []byte(`{"path":"x"}`)}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{MaxFile: 1000, MaxScan: 20_000})
	r.put("text", "one\ntwo\r\nthree")
	r.put("empty", "")
	r.put("binary", "a\x00b")
	r.put("latin", "caf\xe9")
	r.put("limit", strings.Repeat("x", 1000))
	r.put("large", strings.Repeat("123456789\n", 1000))
	r.put("huge", strings.Repeat("123456789\n", 3000))
	r.put("wide", strings.Repeat("x", 5000)+"\nshort\n")
	r.put("src/main.go", "package main\n")
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"path": "text"}, "one\ntwo\r\nthree"},
		{args{"path": "./text"}, "one\ntwo\r\nthree"},
		{args{"path": "text", "from_line": 1}, "[lines 1 to 3 of text; the file ends there]\none\ntwo\r\nthree"},
		{args{"path": "text", "from_line": 2, "lines": 1}, "[lines 2 to 2 of text]\ntwo\r\n"},
		{args{"path": "text", "from_line": 3, "lines": 1}, "[lines 3 to 3 of text; the file ends there]\nthree"},
		{args{"path": "text", "lines": 2}, "[lines 1 to 2 of text]\none\ntwo\r\n"},
		{args{"path": "empty"}, "[the file is empty]"},
		{args{"path": "limit"}, strings.Repeat("x", 1000)},
		{args{"path": "large", "from_line": 999}, "[lines 999 to 1000 of large; the file ends there]\n123456789\n123456789\n"},
		{args{"path": "large", "from_line": 1, "lines": 900}, "[lines 1 to 100 of large; more would be too much at once]\n" + strings.Repeat("123456789\n", 100)},
		{args{"path": "wide", "from_line": 2}, "[lines 2 to 2 of wide; the file ends there]\nshort\n"},
	} {
		if got := r.does("read_file", c.a); got != c.want {
			t.Errorf("%v: got %q, want %q", c.a, got, c.want)
		}
	}
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"path": "binary"}, "binary file of 3 bytes"},
		{args{"path": "binary", "from_line": 1}, "binary file of 3 bytes"},
		{args{"path": "latin"}, "not UTF-8"},
		{args{"path": "large"}, "has 10000 bytes, more than the 1000"},
		{args{"path": "huge", "from_line": 2500}, "line 2500 of huge lies behind"},
		{args{"path": "wide", "from_line": 1}, "has 5007 bytes"},
		{args{"path": "text", "from_line": 9}, "text has only 3 lines"},
		{args{"path": "empty", "from_line": 1}, "empty is empty"},
		{args{"path": "src"}, "is a folder; list_files"},
		{args{"path": "text/"}, "leave the slash"},
		{args{"path": ""}, "is a folder"},
		{args{"path": "txet"}, "there is no txet; list_files shows"},
		{args{"path": "Text"}, "there is no Text; did you mean text?"},
		{args{"path": "src/mian.go"}, "did you mean src/main.go?"},
		{args{"path": "scr/main.go"}, "there is no scr/main.go: . has no scr; list_files"},
		{args{"path": "srcs/main.go"}, ": . has no srcs; did you mean src?"},
		{args{"path": "text/x"}, "text is not a folder"},
		{args{"path": "text", "from_line": -1}, "must be positive"},
	} {
		r.refuses("read_file", c.a, c.want)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{MaxFile: 1000})
	if got := r.does("write_file", args{"path": "a/b/c.txt", "content": "one"}); got != "wrote 3 bytes to a/b/c.txt; it is a new file" {
		t.Error(got)
	}
	if got := r.does("write_file", args{"path": "a/b/c.txt", "content": ""}); got != "wrote 0 bytes to a/b/c.txt; it had 3" {
		t.Error(got)
	}
	r.does("write_file", args{"path": strings.Repeat("d/", 40) + "x", "content": "deep"})
	r.put("script", "one")
	if err := os.Chmod(filepath.Join(r.dir, "script"), 0o750); err != nil {
		t.Fatal(err)
	}
	r.does("write_file", args{"path": "script", "content": "two"})
	r.does("edit_file", args{"path": "script", "old": "two", "new": "three"})
	if info, err := os.Stat(filepath.Join(r.dir, "script")); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o750) {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	r.put("fixed", "one")
	if err := os.Chmod(filepath.Join(r.dir, "fixed"), 0o444); err != nil {
		t.Fatal(err)
	}
	r.refuses("write_file", args{"path": "fixed", "content": "x"}, "write-protected")
	r.refuses("edit_file", args{"path": "fixed", "old": "one", "new": "x"}, "write-protected")
	r.refuses("write_file", args{"path": "large", "content": strings.Repeat("x", 1001)}, "would have 1001 bytes")
	r.refuses("write_file", args{"path": "zero", "content": "a\x00"}, "zero byte")
	r.refuses("write_file", args{"path": "a/b", "content": "x"}, "is a folder")
	r.refuses("write_file", args{"path": ".", "content": "x"}, "is a folder")
	r.refuses("write_file", args{"path": "a/new/", "content": "x"}, "leave the slash")
	r.refuses("write_file", args{"path": "script/x", "content": "x"}, "script is not a folder")
	if got, want := tree(t, r.dir), "a/b/c.txt "+strings.Repeat("d/", 40)+"x fixed script"; got != want {
		t.Errorf("there is %s", got)
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{MaxFile: 100})
	for _, c := range []struct {
		name, text string
		a          args
		want, left string
	}{
		{"once", "a\nb\nc\n", args{"old": "b", "new": "x"}, "replaced 1 occurrence in f, at line 2", "a\nx\nc\n"},
		{"away", "abc", args{"old": "b", "new": ""}, "replaced 1 occurrence in f, at line 1", "ac"},
		{"all", "a\nb\nb b\n", args{"old": "b", "new": "x", "all": true}, "replaced 3 occurrences in f, the first at line 2", "a\nx\nx x\n"},
		{"all of one", "abc", args{"old": "b", "new": "x", "all": true}, "replaced 1 occurrence in f, at line 1", "axc"},
		{"no pattern", "a.c abc", args{"old": "a.c", "new": "$0"}, "replaced 1 occurrence in f, at line 1", "$0 abc"},
	} {
		r.put("f", c.text)
		c.a["path"] = "f"
		if got := r.does("edit_file", c.a); got != c.want || r.get("f") != c.left {
			t.Errorf("%s: got %q, and %q", c.name, got, r.get("f"))
		}
	}
	for _, c := range []struct {
		name, text string
		a          args
		want       string
	}{
		{"twice", "a\nb\nb\n", args{"old": "b", "new": "x"}, "old occurs 2 times in f, first at lines 2, 3"},
		{"none", "abc", args{"old": "z", "new": "x"}, "old does not occur in f; read"},
		{"line ends", "a\r\nb\r\n", args{"old": "a\nb", "new": "x"}, "line ends"},
		{"white space", "if x {\n\ty()\n}", args{"old": "if x {\n    y()", "new": "x"}, "other white space"},
		{"empty", "abc", args{"old": "", "new": "x"}, "old is empty"},
		{"the same", "abc", args{"old": "b", "new": "b"}, "the same"},
		{"too large", "abc", args{"old": "b", "new": strings.Repeat("x", 99)}, "would have 101 bytes"},
		{"zero byte", "abc", args{"old": "b", "new": "\x00"}, "zero byte"},
		{"binary", "a\x00b", args{"old": "b", "new": "x"}, "binary"},
	} {
		r.put("f", c.text)
		c.a["path"] = "f"
		r.refuses("edit_file", c.a, c.want)
		if got := r.get("f"); got != c.text {
			t.Errorf("%s: changed it: %q", c.name, got)
		}
	}
	r.refuses("edit_file", args{"path": "ff", "old": "a", "new": "b"}, "did you mean f?")
	r.refuses("edit_file", args{"path": ".", "old": "a", "new": "b"}, "is a folder")
	if got := tree(t, r.dir); got != "f" {
		t.Errorf("there is %s", got)
	}
}

// TestEdit_Together: edits that come at once are all kept.
func TestEdit_Together(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{})
	const count = 50
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "<%d>\n", i)
	}
	r.put("f", text.String())
	var wg sync.WaitGroup
	for i := range count {
		wg.Go(func() {
			res := r.call("edit_file", args{"path": "f", "old": fmt.Sprintf("<%d>", i), "new": fmt.Sprintf("[%d]", i)})
			if res.IsError {
				t.Error(res.Text)
			}
		})
	}
	wg.Wait()
	if got, want := r.get("f"), strings.NewReplacer("<", "[", ">", "]").Replace(text.String()); got != want {
		t.Errorf("got %q", got)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{MaxEntries: 8, Hide: []string{"data", "a/key"}})
	if got := r.does("list_files", args{}); got != "[the folder is empty]" {
		t.Error(got)
	}
	for _, path := range []string{"z.txt", "a/b/c/deep.txt", "a/key", "data/parley.db", "a/odd\nname"} {
		r.put(path, "12345")
	}
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{}, "a/\nz.txt (5 bytes)"},
		{args{"path": "."}, "a/\nz.txt (5 bytes)"},
		{args{"path": "a/"}, "a/b/\n\"a/odd\\nname\" (5 bytes)"},
		{args{"depth": 2}, "a/\na/b/\n\"a/odd\\nname\" (5 bytes)\nz.txt (5 bytes)"},
		{args{"depth": 9}, "a/\na/b/\na/b/c/\na/b/c/deep.txt (5 bytes)\n\"a/odd\\nname\" (5 bytes)\nz.txt (5 bytes)"},
		{args{"depth": 9, "limit": 2}, "a/\na/b/\n[there is more than these 2; list a folder below, or with less depth]"},
		{args{"depth": 9, "limit": 6}, "a/\na/b/\na/b/c/\na/b/c/deep.txt (5 bytes)\n\"a/odd\\nname\" (5 bytes)\nz.txt (5 bytes)"},
	} {
		if got := r.does("list_files", c.a); got != c.want {
			t.Errorf("%v: got %q, want %q", c.a, got, c.want)
		}
	}
	for i := range 9 {
		r.put(fmt.Sprintf("many/%d", i), "")
	}
	if got := r.does("list_files", args{"path": "many", "limit": 100}); strings.Count(got, "many/") != 8 || !strings.Contains(got, "more than these 8") {
		t.Error(got)
	}
	r.refuses("list_files", args{"path": "z.txt"}, "is not a folder")
	r.refuses("list_files", args{"path": "b"}, "there is no b; did you mean a?")
	r.refuses("list_files", args{"depth": 65}, "depth must be")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{MaxFile: 2000, MaxMatches: 5, Hide: []string{"data"}})
	r.put("a.go", "package a\nfunc Needle() {}\r\n")
	r.put("src/b.go", "needle (one)\nneedle (two)\n")
	r.put("src/deep/c.ts", "x needle")
	r.put("binary", "needle\x00")
	r.put("latin", "needle \xe9")
	r.put("large", strings.Repeat("needle\n", 300))
	r.put("data/d", "needle")
	r.put(".git/config", "needle")
	r.put("wide", strings.Repeat("ä", 1000)) // fits by its bytes alone
	const left = "\n[files left out: 2 binary or not UTF-8, 1 too large]"
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"text": "needle"}, "src/b.go:1:needle (one)\nsrc/b.go:2:needle (two)\nsrc/deep/c.ts:1:x needle" + left},
		{args{"text": "needle", "ignore_case": true, "glob": "*.go"}, "a.go:2:func Needle() {}\nsrc/b.go:1:needle (one)\nsrc/b.go:2:needle (two)"},
		{args{"text": "needle (o"}, "src/b.go:1:needle (one)" + left},
		{args{"text": `needle \(t.o\)$`, "regexp": true}, "src/b.go:2:needle (two)" + left},
		{args{"text": `{}$`, "regexp": true, "glob": "a.go"}, "a.go:2:func Needle() {}"},
		{args{"text": "NEEDLE (O", "ignore_case": true}, "src/b.go:1:needle (one)" + left},
		{args{"text": "needle", "path": "src", "glob": "deep/*"}, "src/deep/c.ts:1:x needle"},
		{args{"text": "needle", "glob": "src/*"}, "src/b.go:1:needle (one)\nsrc/b.go:2:needle (two)"},
		{args{"text": "needle", "glob": "**/*.{ts,js}"}, "src/deep/c.ts:1:x needle"},
		{args{"text": "needle", "path": ".git"}, ".git/config:1:needle"},
		{args{"text": "needle", "limit": 1, "glob": "*.go"}, "src/b.go:1:needle (one)\n[the search ended early: there are more than these 1 lines; narrow it with path or glob]"},
		{args{"text": "hay", "glob": "*.go"}, "[nothing found in 2 files]"},
		{args{"text": "ä", "glob": "wide"}, "wide:1:" + strings.Repeat("ä", 300) + "…"},
	} {
		if got := r.does("search_files", c.a); got != c.want {
			t.Errorf("%v: got %q, want %q", c.a, got, c.want)
		}
	}
	r.refuses("search_files", args{"text": "(", "regexp": true}, "no regular expression")
	r.refuses("search_files", args{"text": ""}, "text must have")
	r.refuses("search_files", args{"text": "a\nb"}, "one line")
	r.refuses("search_files", args{"text": "a", "glob": "[a"}, "is no glob")
	r.refuses("search_files", args{"text": "a", "glob": "{a"}, "is no glob")
	r.refuses("search_files", args{"text": "a", "path": "a.go"}, "is not a folder")
	r.refuses("search_files", args{"text": "a", "path": "none"}, "there is no none")
	r.refuses("search_files", args{"text": "a", "path": "data"}, "off limits")
}

func TestSearch_Limits(t *testing.T) {
	t.Parallel()
	fill := func(r *rig) {
		for i := range 20 {
			r.put(fmt.Sprintf("%02d", i), strings.Repeat("x", 100)+"\n")
		}
		r.put("99", "needle")
	}
	for name, c := range map[string]struct {
		cfg  files.Config
		want string
	}{
		"none":  {files.Config{}, "99:1:needle"},
		"files": {files.Config{MaxFiles: 10}, "[nothing found in 10 files]\n[the search ended early: it went through 10 files with 1010 bytes"},
		"bytes": {files.Config{MaxScan: 1000}, "[nothing found in 9 files]\n[the search ended early: it went through 9 files with 909 bytes"},
		"time":  {files.Config{MaxTime: time.Nanosecond}, "[nothing found in 0 files]\n[the search ended early: it took longer than 1ns"},
	} {
		r := newRig(t, c.cfg)
		fill(r)
		if got := r.does("search_files", args{"text": "needle"}); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestFull reaches everything but what is hidden.
func TestFull(t *testing.T) {
	t.Parallel()
	r := newRig(t, files.Config{Scope: files.Full, Hide: []string{"data"}})
	r.put("ok.txt", "mine")
	r.put("data/parley.db", canary)
	out := filepath.ToSlash(filepath.Join(r.outside, "secret.txt"))
	for _, path := range []string{out, "../out/secret.txt", "a/../../out/secret.txt"} {
		r.put("a/x", "")
		if got := r.does("read_file", args{"path": path}); got != canary {
			t.Errorf("%s: got %q", path, got)
		}
	}
	if got := r.does("read_file", args{"path": "ok.txt"}); got != "mine" {
		t.Errorf("got %q", got)
	}
	r.does("write_file", args{"path": filepath.ToSlash(filepath.Join(r.outside, "new.txt")), "content": "x"})
	if got := r.get("../out/new.txt"); got != "x" {
		t.Errorf("got %q", got)
	}
	hidden := filepath.ToSlash(filepath.Join(r.dir, "data"))
	for _, path := range []string{"data/parley.db", hidden + "/parley.db", "../in/data/parley.db", hidden + "/new"} {
		r.refuses("read_file", args{"path": path}, "off limits")
		r.refuses("write_file", args{"path": path, "content": "x"}, "off limits")
	}
	if got := r.get("data/parley.db") + tree(t, filepath.Join(r.dir, "data")); got != canary+"parley.db" {
		t.Errorf("what is hidden was changed: %s", got)
	}
	if got := r.does("list_files", args{"path": r.dir, "depth": 3}); strings.Contains(got, "data") || !strings.Contains(got, "ok.txt") {
		t.Error(got)
	}
	if got := r.does("search_files", args{"path": filepath.ToSlash(r.top), "text": "canary", "glob": "out/*"}); got != out+":1:"+canary {
		t.Error(got)
	}
}
