package chat_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/parley-run/parley/chat"
)

//go:generate go test -run ^TestDocs$ -update .

var update = flag.Bool("update", false, "write the table of keys into docs/chat.md")

// TestDocs: docs/chat.md has all keys that the help shows.
func TestDocs(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../docs/chat.md", "<!-- keys:begin (made from package chat by `make generate`) -->\n", "<!-- keys:end -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(data), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the keys", path)
	}
	want := chat.KeysTable()
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not have the keys as they are; run: make generate", path)
	}
	if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}
