package markdown_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/chat/markdown"
	"github.com/parley-run/parley/internal/soak"
)

// scraps are what random texts are made of: every mark, whole and by halves, and
// characters that terminals find hard.
var scraps = []string{
	"word", "two words", "7", "2024", "x", " ", "  ", "\n", "\n", "\n\n", "\n\n", "  \n", "\\\n", "\t", "\r\n", "\r",
	"# ", "## ", "#", "###### ", "===\n", "---\n", "***\n", "-", "- ", "* ", "+ ", "1. ", "2) ", "10. ", "\n- ", "\n1. ", "\n  - ", "\n    ",
	"- [ ] ", "- [x] ", "> ", ">", "\n> ", "\n>> ", "*", "**", "***", "_", "__", "~~", "~", "`", "``", "```", "\n```\n", "\n```go\n", "\n~~~\n", "\n````\n",
	"[", "]", "(", ")", "](", "[a](b)", "![a](b \"c\")", "https://example.com/a_b", "<https://a.example>", "<b>", "</b>", "<!-- ", " -->", "<div>\n", "<",
	"|", " | ", "\n| a | b |\n|---|--:|\n| c | d |\n", "|--|--|\n", "\n| a | b | c |\n", ":-:", "\\", "\\*", "\\|", "&amp;", "&#27;", "&", "&#x202e;", "!",
	"func main() {\n\treturn\n}\n", "漢字", "，。", "日本語テキスト", "é", "e\u0301", "\u0301", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "🇩", "☺\ufe0f", "\ufe0f", "\u200d", "नमस्ते", "한국어", "ﷺ",
	"\x1b[31m", "\x1b]0;title\x07", "\x00", "\x7f", "\u009b", "\u202e", "\u200b", "\ufeff", "\xff", "\xe6\xbc", "[1]: https://b.example\n",
}

func randomText(random *rand.Rand, from []string) string {
	var b strings.Builder
	for range 1 + random.IntN(60) {
		b.WriteString(from[random.IntN(len(from))])
	}
	return b.String()
}

// Whatever a text is and however it comes, it ends up as the same lines, which fit.
func TestRandomTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(soak.Seed(t), 1))
	styles := []markdown.Style{plain, dark, light}
	for range soak.Count(200, 20_000) {
		style := styles[random.IntN(len(styles))]
		width := 1 + random.IntN(1+random.IntN(90))
		checkText(t, random, style, randomText(random, scraps), width)
	}
}

func checkText(t *testing.T, random *rand.Rand, style markdown.Style, text string, width int) {
	t.Helper()
	want := append([]string(nil), whole(style, text, width)...)
	checkLines(t, style, want, width)

	d := markdown.New(style)
	for _, piece := range pieces(random, text) {
		d.Append(piece)
		if random.IntN(3) == 0 {
			checkLines(t, style, d.Lines(width), width)
		}
	}
	if d.Text() != text {
		t.Fatalf("the text is %q, not %q", d.Text(), text)
	}
	d.Finish()
	if diff := cmp.Diff(want, d.Lines(width)); diff != "" {
		t.Fatalf("the text %q at width %d is drawn differently when it comes in pieces (-at once +in pieces):\n%s", text, width, diff)
	}
	checkLines(t, style, d.Lines(width+7), width+7)
	if diff := cmp.Diff(want, d.Lines(width)); diff != "" {
		t.Fatalf("the text %q at width %d is drawn differently after another width (-before +after):\n%s", text, width, diff)
	}
}

// Texts in which no letter is part of a mark: each of them has to be there.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(soak.Seed(t), 2))
	// A number may start an item, which is counted from the first one, and a reference
	// stands for another character.
	letters := slices.DeleteFunc(slices.Clone(scraps), func(scrap string) bool {
		return strings.ContainsAny(scrap, "0123456789&")
	})
	for range soak.Count(200, 20_000) {
		text := randomText(random, letters)
		width := 2 + random.IntN(80)
		for _, style := range []markdown.Style{plain, dark} {
			got := count(bareText(whole(style, text, width)))
			for r, n := range count(text) {
				if got[r] < n {
					t.Fatalf("of %d %q in %q only %d are in the lines at width %d:\n%s", n, r, text, got[r], width, strings.Join(whole(style, text, width), "\n"))
				}
			}
		}
	}
}

func FuzzDocument(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		f.Add(randomText(random, scraps), uint64(random.IntN(100)), uint8(random.IntN(90)))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64, width uint8) {
		style := []markdown.Style{plain, dark, light}[seed%3]
		checkText(t, rand.New(rand.NewPCG(seed, 3)), style, text, int(width)+1)
	})
}
