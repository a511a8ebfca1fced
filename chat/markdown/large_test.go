package markdown_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/chat/markdown"
)

// numbered repeats a line with a number in it.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Blocks that are longer than what is parsed at once, and such as parsers find hard.
func TestLongBlocks(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"code":             "```go\n" + numbered("func f%d() string { return `x` }\n\n", 500) + "```\n\nAfter.",
		"deep code":        "```\n" + numbered(strings.Repeat("> ", 60)+"%d\n", 500),
		"open code":        "~~~\n" + numbered("line %d\n", 10_000),
		"code in one line": "```js\n" + numbered("f(%d);", 30000) + "\n```\n",
		"table":            "| n | text |\n|---|---|\n" + numbered("| %d | some text |\n", 4000) + "\nAfter.",
		"list":             numbered("- item %d\n", 5000),
		"paragraph":        numbered("word%d ", 30000),
		"lines":            numbered("word%d\n", 8000),
		"no spaces":        numbered("x%d", 40000),
		"wide":             strings.Repeat("漢字", 50000),
		"quote":            numbered("> line %d\n", 6000),
		"item":             "- item\n\n" + numbered("  text %d\n\n", 4000),
		"deep quotes":      strings.Repeat(">", 40_000) + "x",
		"deep lists":       strings.Repeat("- ", 50_000) + "x",
		"open brackets":    strings.Repeat("[", 20_000),
		"links":            strings.Repeat("[a](", 2_000),
		"emphasis":         strings.Repeat("*a **b ", 6_000),
		"stars":            strings.Repeat("*", 100_000) + "x",
		"underscores":      strings.Repeat("a_b__", 20_000),
		"backticks":        numbered("`%d``", 20_000),
		"angles":           strings.Repeat("<a ", 12_000),
		"references":       strings.Repeat("&", 100_000),
		"backslashes":      strings.Repeat("\\", 100_000),
		"combining":        "a" + strings.Repeat("\u0301", 100_000),
		"blank lines":      strings.Repeat("\n", 100_000) + "x",
		"columns":          strings.Repeat("|a", 5000) + "|\n" + strings.Repeat("|-", 5000) + "|\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := slices.Clone(whole(dark, text, 50))
			checkLines(t, dark, want, 50)
			d := markdown.New(dark)
			for piece := range slices.Chunk([]byte(text), 15_001) {
				d.Append(string(piece))
				d.Lines(50)
			}
			d.Finish()
			if diff := cmp.Diff(want, d.Lines(50)); diff != "" {
				t.Errorf("drawn differently when it comes in pieces (-at once +in pieces):\n%.2000s", diff)
			}
			got := count(bareText(want))
			for r, n := range count(text) {
				if got[r] < n {
					t.Errorf("of %d %q only %d are in the lines", n, r, got[r])
				}
			}
		})
	}
}

// Items are counted from the first one, however many there are before.
func TestLongOrderedList(t *testing.T) {
	t.Parallel()
	d := markdown.New(plain)
	for range 5000 {
		d.Append("1. item\n")
		d.Lines(30)
	}
	d.Append("\n1. item\n\ntext\n\n1) item\n2) item\n\n   text")
	d.Finish()
	lines := d.Lines(30)
	want := []string{"5000. item", "", "5001. item", "", "text", "", "1) item", "2) item", "", "   text"}
	if diff := cmp.Diff(want, lines[len(lines)-len(want):]); diff != "" {
		t.Errorf("the last lines (-want +got):\n%s", diff)
	}
}
