package markdown_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley/chat/markdown"
)

var (
	plain = markdown.Style{}
	dark  = markdown.Style{Color: true, Dark: true}
	light = markdown.Style{Color: true}
)

// whole draws a text that is there at once.
func whole(style markdown.Style, text string, width int) []string {
	d := markdown.New(style)
	d.Append(text)
	d.Finish()
	return d.Lines(width)
}

// partly draws a text of which more is to come.
func partly(style markdown.Style, text string, width int) []string {
	d := markdown.New(style)
	d.Append(text)
	return d.Lines(width)
}

// pieces cuts a text anywhere, also within characters.
func pieces(random *rand.Rand, text string) []string {
	var out []string
	longest := 1 + random.IntN(40)
	for len(text) > 0 {
		n := min(1+random.IntN(longest), len(text))
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// bare takes the colours from a line.
func bare(line string) string { return sgr.ReplaceAllString(line, "") }

func bareText(lines []string) string { return bare(strings.Join(lines, "\n")) }

// checkLines holds what is true of every line, whatever the text is.
func checkLines(t *testing.T, style markdown.Style, lines []string, width int) {
	t.Helper()
	for i, line := range lines {
		if got := ansi.StringWidth(line); got > width {
			t.Fatalf("line %d is %d cells wide, more than %d: %q", i, got, width, line)
		}
		text := line
		if style.Color {
			text = bare(line)
			if strings.Contains(line, "\x1b") && !strings.HasSuffix(line, "\x1b[m") && strings.LastIndex(line, "\x1b[m") < strings.LastIndex(line, "\x1b[") {
				t.Fatalf("line %d leaves its colours on: %q", i, line)
			}
		}
		if !utf8.ValidString(text) {
			t.Fatalf("line %d is not valid UTF-8: %q", i, line)
		}
		for _, r := range text {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
				t.Fatalf("line %d has the control character %q: %q", i, r, line)
			}
		}
	}
}

// count gives how often each letter and digit is in a text.
func count(text string) map[rune]int {
	n := make(map[rune]int)
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n[r]++
		}
	}
	return n
}
