package markdown_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/chat/markdown"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Samples as they are drawn. Escape characters are written as \e in the files.
func TestGolden(t *testing.T) {
	t.Parallel()
	views := []struct {
		name  string
		style markdown.Style
		width int
	}{
		{"plain", plain, 72},
		{"plain", plain, 30},
		{"plain", plain, 9},
		{"dark", dark, 60},
		{"light", light, 100},
	}
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, v := range views {
				lines := whole(v.style, string(text), v.width)
				checkLines(t, v.style, lines, v.width)
				fmt.Fprintf(&b, "%s, %d cells\n%s\n", v.name, v.width, strings.Repeat("=", v.width))
				b.WriteString(strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", `\e`))
				b.WriteString("\n\n")
			}
			golden := strings.TrimSuffix(file, ".md") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
				t.Errorf("drawn differently (-golden +now); if that is right, run with -update:\n%s", diff)
			}
		})
	}
}
