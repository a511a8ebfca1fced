package layout_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-run/parley/internal/layout"
)

//go:generate go test -run ^TestRendered$ -update .

var update = flag.Bool("update", false, "write the texts that are made from the table anew")

// root is the folder of the module, seen from this package's tests.
const root = "../.."

func TestTree(t *testing.T) {
	t.Parallel()
	packages, err := layout.Load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 2 {
		t.Fatalf("found only %d packages", len(packages))
	}
	for _, wrong := range layout.Check(layout.Table, packages) {
		t.Error(wrong)
	}
}

func TestRendered(t *testing.T) {
	t.Parallel()
	for _, text := range []struct{ file, begin, end, block string }{
		{".golangci.yml", "# layers:begin", "# layers:end", layout.Depguard(layout.Table)},
		{"AGENTS.md", "<!-- layers:begin", "<!-- layers:end", layout.Markdown(layout.Table)},
		{"docs/architecture.md", "<!-- layers:begin", "<!-- layers:end", layout.Markdown(layout.Table)},
	} {
		t.Run(text.file, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(root, filepath.FromSlash(text.file))
			have, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := layout.Splice(string(have), text.begin, text.end, text.block)
			if err != nil {
				t.Fatal(err)
			}
			if string(have) == want {
				return
			}
			if !*update {
				t.Fatalf("%s does not show the table of packages as it is; run: make generate", text.file)
			}
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
