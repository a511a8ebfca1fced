package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-run/parley/config"
)

// TestChannelsPages: the commands and configurations that the pages about chat apps
// show are understood.
func TestChannelsPages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"channels.md", "telegram.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkPage(t, filepath.Join("..", "..", "docs", name))
		})
	}
}

func checkPage(t *testing.T, path string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?m)(?:^\\$ |`)parley ([^`\n]*)").FindAllStringSubmatch(string(page), -1)
	if len(shown) < 10 {
		t.Errorf("there are %d commands", len(shown))
	}
	for _, m := range shown {
		words := strings.Fields(m[1])
		path := "parley " + words[0]
		if len(words) > 1 && !strings.HasPrefix(words[1], "-") {
			path += " " + words[1]
		}
		// Flags are read before help is given, and the help is that of the command.
		parleyRun(t, t.TempDir(), append(words, "--help")...).says(t, 0, path)
	}
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		file := filepath.Join(t.TempDir(), config.FileName)
		if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := config.Load(config.Options{File: file}); err != nil || len(l.Warnings) > 0 {
			t.Errorf("%v, %v:\n%s", err, l, m[1])
		}
	}
}
