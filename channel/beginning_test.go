package channel_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/channel"
)

// replies are what models write, with everything that could flicker while it comes.
var replies = []string{
	"Here is **the bold answer**, with *some* stress, `code`, and ~~what is wrong~~.\n\nA second paragraph.",
	"# The plan\n\nFirst, a list:\n\n- eggs\n- **milk** for the *cake*\n  - nested `thing`\n- flour\n\n1. one\n2. two\n10. ten\n\nDone.",
	"See [the manual](https://example.org/a_b/c) and ![a picture](https://example.org/p.png), then [again](https://example.org).",
	"Run this:\n\n```go\nfunc main() {\n\tfmt.Println(\"**not bold**\")\n}\n```\n\nand that: ``a ` b``.",
	"> A quote with **bold**\n> and a second line\n\nAnswer: 5 * 3 = 15, snake_case_name, 2*3*4, ~5 minutes.",
	"***Both at once*** and **bold with *italic* inside** and __other__ _marks_.\n\n---\n\n## Next\n\nText",
	"- [ ] to do\n- [x] done\n- [a link](https://example.org) in an item\n\nTilde fence:\n\n~~~python\nprint(1)\n~~~",
	"Emoji 👨‍👩‍👧 and **שלום עולם** and **日本語**です。\n\n1. **First**: text\n2. **Second**: [x](https://example.org/x)",
	"An array a[0] and [brackets] and a note [1], \\*escaped\\*, AT&amp;T, a < b, wow!",
}

// TestBeginning_Stable shows each reply growing by a character at a time: what was shown
// stays, and only a little is held back.
func TestBeginning_Stable(t *testing.T) {
	t.Parallel()
	for _, reply := range replies {
		whole := channel.Markdown(reply)
		for end := range reply {
			got := channel.Beginning(reply[:end])
			if err := got.Check(); err != nil {
				t.Errorf("%q: %v", reply[:end], err)
			}
			shown := strings.TrimRight(got.Text, " \n")
			if !strings.HasPrefix(whole.Text, shown) && !bracketed(reply[:end]) {
				t.Errorf("after %q\n    shows %q\n which is no beginning of %q", reply[:end], shown, whole.Text)
			}
		}
		if diff := cmp.Diff(whole, channel.Beginning(reply+"\n\n")); diff != "" {
			t.Errorf("%q: at its end (-whole +beginning):\n%s", reply, diff)
		}
	}
}

// bracketed reports whether a text ends in a bracket that may become a link: it is shown
// as one, and if it is none, its brackets come later.
func bracketed(text string) bool {
	open := strings.LastIndexByte(text, '[')
	rest := text[open+1:]
	return open >= 0 && (!strings.Contains(rest, "]") || strings.HasSuffix(rest, "]"))
}

func TestBeginning_HoldsBackLittle(t *testing.T) {
	t.Parallel()
	for _, reply := range replies {
		for end := range reply {
			shown := channel.Beginning(reply[:end]).Text
			visible := channel.Markdown(reply[:end]).Text
			if held := utf8.RuneCountInString(visible) - utf8.RuneCountInString(shown); held > 35 {
				t.Errorf("after %q only %q is shown", reply[:end], shown)
			}
		}
	}
}

func TestBeginning(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                               "",
		"**":                             "",
		"a **b":                          "a [bold:b]",
		"a **b*":                         "a [bold:b]",
		"a **b *c":                       "a [bold:b [italic:c]]",
		"a `b":                           "a [code:b]",
		"a [b":                           "a b",
		"a [b](http":                     "a b",
		"a [**b":                         "a [bold:b]",
		"a ![b](http://x":                "a b",
		"```go\nx := `":                  "[pre go:x := `]",
		"```go\nx\n``":                   "[pre go:x]",
		"```g":                           "",
		"text\n-":                        "text",
		"text\n==":                       "text",
		"- a\n- ":                        "• a",
		"1. a\n2":                        "1. a",
		"text\n\n| a | b":                "text",
		"| a | b |\n|---|":               "",
		"| a | b |\n|---|---|\n| 1 | 2 ": "[pre:a │ b\n──┼──\n1 │ 2]",
		"> quo**te":                      "[quote:quo[bold:te]]",
		"- **a**\n- **b":                 "• [bold:a]\n• [bold:b]",
		"a \\":                           "a",
		"## Half a **hea":                "[bold:Half a hea]",
	} {
		if got := marked(channel.Beginning(source)); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}
