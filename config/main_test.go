package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
)

// write makes a file and gives its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), config.FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load loads a file and variables, which must be right.
func load(t *testing.T, text string, environ ...string) *config.Loaded {
	t.Helper()
	l, err := config.Load(config.Options{File: write(t, text), Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// problems loads a file and variables and gives what is wrong, a line each,
// without the file's folder; then the warnings, marked.
func problems(t *testing.T, text string, environ ...string) []string {
	t.Helper()
	path := write(t, text)
	l, err := config.Load(config.Options{File: path, Environ: environ})
	var lines []string
	for _, p := range problemsOf(t, err) {
		lines = append(lines, p.String())
	}
	for _, p := range l.Warnings {
		lines = append(lines, "warning: "+p.String())
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], path, "f")
	}
	return lines
}

// problemsOf gives the problems in an error, which must be of no other kind.
func problemsOf(t *testing.T, err error) config.Problems {
	t.Helper()
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*config.InvalidError](err)
	if !ok || len(invalid.Problems) == 0 || parley.CodeOf(err) != parley.CodeInvalid {
		t.Fatalf("the error has no problems: %v", err)
	}
	return invalid.Problems
}
