package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/parley-run/parley/internal/soak"
)

// TestModules runs the tests of the page's modules that need no browser.
func TestModules(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		soak.SkipOrFail(t, "there is no Node.js to test with: make node")
	}
	files, err := filepath.Glob("testdata/*.test.mjs")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	for _, name := range files {
		// A test that was run before is run again if one of its files has changed,
		// of those that it reads itself.
		if _, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), node, append([]string{"--test"}, files...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
