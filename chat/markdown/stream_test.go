package markdown_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-run/parley/chat/markdown"
)

// shown gives what is seen of lines, without what depends on how wide things are.
func shown(lines []string) string {
	return strings.NewReplacer(" ", "", "\n", "", "─", "", "┼", "").Replace(bareText(lines))
}

// While a text comes, what is seen is only ever added to: no mark shows up that goes
// again, and nothing takes another shape.
func TestStreamOnlyAdds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			sample, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(sample)
			final := shown(whole(dark, text, 500))
			d := markdown.New(dark)
			for end := range len(text) {
				got := shown(d.Lines(500))
				d.Append(text[end : end+1])
				if !strings.HasPrefix(final, got) {
					common := 0
					for common < len(got) && common < len(final) && got[common] == final[common] {
						common++
					}
					for common > 0 && !utf8.RuneStart(got[common]) {
						common--
					}
					t.Fatalf("after %q there is %q, which is not in the end:\n%.60q", text[max(0, end-40):end], got[common:], final[common:])
				}
			}
		})
	}
}

// What is drawn of a text that is not whole.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a **bold":                      "a \x1b[1mbold\x1b[m",
		"a **bold*":                     "a \x1b[1mbold\x1b[m",
		"a **bold** ":                   "a \x1b[1mbold\x1b[m",
		"a **":                          "a",
		"a *":                           "a",
		"***both":                       "\x1b[1;3mboth\x1b[m",
		"**bold *and":                   "\x1b[1mbold \x1b[m\x1b[1;3mand\x1b[m",
		"~~gone":                        "\x1b[9mgone\x1b[m",
		"a `code":                       "a \x1b[38;5;180mcode\x1b[m",
		"2 * 3 = 6":                     "2 * 3 = 6",
		"2*3":                           "2*3",
		"snake_case":                    "snake_case",
		"see [the te":                   "see",
		"see [text]":                    "see",
		"see [text](http://exa":         "see",
		"see ![alt](p.pn":               "see",
		"a [note] b":                    "a [note] b",
		"Hello!":                        "Hello!",
		"see !":                         "see",
		"AT&am":                         "AT",
		"a \\":                          "a",
		"text\n#":                       "text",
		"text\n\n-":                     "text",
		"text\n\n12.":                   "text",
		"text\n``":                      "text",
		"text\n```g":                    "text",
		"```\ncode\n``":                 "  code",
		"```\ncode\n```":                "  code",
		"```\na `` b":                   "  a `` b",
		"text\n| a | b":                 "text",
		"text\n\n| a | b |\n":           "text",
		"| a | b |\n|---":               "",
		"| a | b |\n|---|---|":          "",
		"| a | b |\n|---|---|\n":        "\x1b[1ma\x1b[m \x1b[38;5;246m│\x1b[m \x1b[1mb\x1b[m\n\x1b[38;5;246m──┼──\x1b[m",
		"| a | b |\n|---|---|\n| c":     "\x1b[1ma\x1b[m \x1b[38;5;246m│\x1b[m \x1b[1mb\x1b[m\n\x1b[38;5;246m──┼──\x1b[m",
		"| not | a |\n| table | here |": "| not | a |",
		"> **quo":                       "\x1b[38;5;246m│ \x1b[m\x1b[1mquo\x1b[m",
		"# **hea":                       "\x1b[1;4;38;5;111mhea\x1b[m",
		"bad \xe6\xbc":                  "bad",
		"**closed by its end\n\n":       "**closed by its end",
	}
	for text, want := range tests {
		if got := strings.Join(partly(dark, text, 60), "\n"); got != want {
			t.Errorf("%q is drawn as %q, not %q", text, got, want)
		}
	}
}

// What is held back is there when the text is finished, or too long to hold back.
func TestHeldBackIsShown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a **", "see [the te", "see [t](http://exa", "AT&am", "text #", "``", "| a | b", "| a | b |\n|--", "12.", "-", "x <br"} {
		got := count(bareText(whole(dark, text, 60)))
		for r, n := range count(text) {
			if got[r] < n {
				t.Errorf("%q is drawn as %q", text, whole(dark, text, 60))
			}
		}
	}
	for _, start := range []string{"see [", "see [a](", "| a"} {
		if got := shown(partly(dark, start+strings.Repeat("x", 3000), 60)); !strings.Contains(got, "xxx") {
			t.Errorf("%q and 3000 more characters are drawn as %q", start, got)
		}
	}
}
