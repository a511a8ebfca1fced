package command_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
)

//go:generate go test -run ^TestDocs$ -update .

var update = flag.Bool("update", false, "write the table of commands in the documentation anew")

var page = filepath.Join("..", "docs", "commands.md")

// between gives what stands between two marks of the page, and what is around it.
func between(t *testing.T, text, name string) (before, inside, after string) {
	t.Helper()
	i := strings.Index(text, "<!-- "+name+":begin")
	if i < 0 {
		t.Fatalf("the page has no beginning of %s", name)
	}
	i += strings.IndexByte(text[i:], '\n') + 1
	j := strings.Index(text, "<!-- "+name+":end -->")
	if j < i {
		t.Fatalf("the page has no end of %s", name)
	}
	return text[:i], text[i:j], text[j:]
}

func readPage(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDocs holds the table of commands in docs/commands.md.
func TestDocs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| command | does | for example |\n| --- | --- | --- |\n")
	var under command.Group
	for _, s := range command.All() {
		if s.Group != under {
			under = s.Group
			b.WriteString("| **" + string(under) + "** | | |\n")
		}
		does := s.Help
		if len(s.Aliases) > 0 {
			does += " (also `/" + strings.Join(s.Aliases, "`, `/") + "`)"
		}
		b.WriteString("| `" + s.Usage + "` | " + does + " | `" + s.Example + "` " + s.ExampleDoes + " |\n")
	}
	before, inside, after := between(t, readPage(t), "commands")
	if inside == b.String() {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is not what the package has; `make generate` writes it", page)
	}
	if err := os.WriteFile(page, []byte(before+b.String()+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDocsReadings holds what the page says about single texts.
func TestDocsReadings(t *testing.T) {
	t.Parallel()
	_, inside, _ := between(t, readPage(t), "readings")
	rows := strings.Split(strings.TrimSpace(inside), "\n")[2:]
	if len(rows) < 10 {
		t.Errorf("the page has %d rows", len(rows))
	}
	for _, row := range rows {
		cells := strings.SplitN(strings.TrimSuffix(strings.TrimPrefix(row, "| `"), " |"), "` | ", 2)
		if len(cells) != 2 {
			t.Fatalf("%s: got %d cells", row, len(cells))
		}
		r := command.Read(cells[0])
		want := map[command.Kind]string{
			command.Known:   "the command `/" + r.Command.Name + "`",
			command.Text:    "a text",
			command.Unknown: "unknown; you are told so",
		}[r.Kind]
		switch {
		case r.Command.Bot != "":
			want += ", for that bot"
		case r.Near != "":
			want = "unknown; you are asked whether you mean `/" + r.Near + "`"
		case r.Kind == command.Text && r.Text != cells[0]:
			want = "the text `" + r.Text + "`"
		}
		if said, _, _ := strings.Cut(cells[1], ":"); said != want {
			t.Errorf("%q: the page says %q, and it is %q", cells[0], said, want)
		}
	}
}

// TestDocsAnswers holds the answer that the page shows.
func TestDocsAnswers(t *testing.T) {
	t.Parallel()
	const old = "cli:20260310_114502_5f0c1a7e"
	asked := command.Read("/new Trip to Rome")
	title, err := command.ParseNew(asked.Command.Args)
	if err != nil {
		t.Fatal(err)
	}
	want := "> " + asked.Command.String() + "\n" + command.NewText(parley.Session{ID: "cli:b", Title: parley.Title{Text: title}}, old, 0) + "\n"
	if !strings.Contains(readPage(t), "```text\n"+want+"```\n") {
		t.Errorf("the page does not show\n%s", want)
	}
}
