package files_test

import (
	"path"
	"strings"
	"testing"

	"github.com/parley-run/parley/tool/files"
)

func TestGlob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "src/a.go", true},
		{"*.go", "a.got", false},
		{"src/*.go", "src/a.go", true},
		{"src/*.go", "src/x/a.go", false},
		{"src/**/*.go", "src/a.go", true},
		{"src/**/*.go", "src/x/y/a.go", true},
		{"src/**", "src/x/y/a.go", true},
		{"src/**", "srcs/a.go", false},
		{"**/a.go", "a.go", true},
		{"**/a.go", "x/ba.go", false},
		{"./src/*", "src/a", true},
		{"*.{js,ts}", "a.ts", true},
		{"*.{js,ts}", "a.cs", false},
		{"{a,b/**}/c", "b/x/c", true},
		{"[a-c]?.txt", "bx.txt", true},
		{"[!a-c]x", "dx", true},
		{"[^a-c]x", "ax", false},
		{"a[^b]c", "a/c", false},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{"a.b", "axb", false},
		{"(a|b)+", "(a|b)+", true},
		{"(a|b)+", "a", false},
		{"ä?", "äö", true},
		{"a,b}", "a,b}", true},
		{"x\ny", "x\ny", true},
	} {
		fits, err := files.NewGlob(c.glob)
		if err != nil {
			t.Errorf("%s: %v", c.glob, err)
		} else if got := fits(c.path); got != c.want {
			t.Errorf("%s and %s: got %v", c.glob, c.path, got)
		}
	}
}

// FuzzGlob compares globs that have nothing of their own with those of the standard
// library.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{{"/a*b", "/axb"}, {"/[a-z]?", "/q1"}, {"/[^x]/*", "/y/zz"}, {"a/?.*", "a/b.c"}, {"/ä[ö-ü]", "/äü"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		fits, err := files.NewGlob(glob)
		if err != nil {
			return
		}
		got := fits(name)
		if !strings.Contains(glob, "/") {
			if got != fits("x/"+path.Base(name)) && !strings.ContainsAny(name, "/") && name != "" {
				t.Errorf("%q: %q fits only with or without a folder", glob, name)
			}
			return
		}
		if strings.Contains(glob, "**") || strings.ContainsAny(glob, `{}\!&`) || strings.HasPrefix(glob, "./") {
			return
		}
		want, err := path.Match(glob, name)
		if err == nil && got != want {
			t.Errorf("%q and %q: got %v, want %v", glob, name, got, want)
		}
	})
}
