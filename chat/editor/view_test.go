package editor_test

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/text/unicode/norm"

	"github.com/parley-run/parley/chat/editor"
)

func TestView(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, keys    string
		width, height int
		want          string
	}{
		{"empty", "", 20, 5, "> |say something"},
		{"empty and narrow", "", 10, 5, "> |say so…"},
		{"a line", "hello", 20, 5, "> hello|"},
		{"lines", "one<ctrl+j>two<left>", 20, 5, "> one\n  tw|o"},
		{"wrapped at a space", "hello big world", 13, 5, "> hello big\n  world|"},
		{"wrapped in a word", "abcdefghijklmno", 10, 5, "> abcdefg\n  hijklmn\n  o|"},
		{"a full row", "abcdefg", 10, 5, "> abcdefg|"},
		{"a space over the edge", "abcdefg ", 10, 5, "> abcdefg|"},
		{"a word after it", "abcdefg x", 10, 5, "> abcdefg\n  x|"},
		{"at the start of a row", "abcdefgh<left>", 10, 5, "> abcdefg\n  |h"},
		{"wide at the edge", "abcdef世", 10, 5, "> abcdef\n  世|"},
		{"wide after a long word", " abcdef世", 10, 5, ">\n  abcdef\n  世|"},
		{"up through rows", "abcdefghijkl<up>", 10, 5, "> abcde|fg\n  hijkl"},
		{"up into a row", "one two three<up>", 10, 5, "> one t|wo\n  three"},
		{"up to the end of a row", "one twothre<up>", 10, 5, "> one|\n  twothre"},
		{"down from a row", "abcdefghijkl<home><down>", 10, 5, "> abcdefg\n  |hijkl"},
		{"scrolled to the end", "1<ctrl+j>2<ctrl+j>3<ctrl+j>4", 20, 2, "  3\n  4|"},
		{"scrolled to the start", "1<ctrl+j>2<ctrl+j>3<ctrl+j>4<ctrl+home>", 20, 2, "> |1\n  2"},
		{"no room for the prompt", "abc", 5, 3, "abc|"},
		{"one column", "a世", 1, 9, "a\n|·"},
		{"one column is enough", "ab<left>", 1, 9, "a\n|b"},
		{"no room at all", "ab", 0, 0, "|b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := editor.New(editor.Config{Placeholder: "say something"})
			view(t, e, test.width, test.height)
			enter(t, e, test.keys)
			if got := shown(t, e, test.width, test.height); got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

// TestScrolling goes up and down in a text that is higher than the view, which
// moves only when it has to.
func TestScrolling(t *testing.T) {
	t.Parallel()
	e := editor.New(editor.Config{})
	enter(t, e, "1<ctrl+j>2<ctrl+j>3<ctrl+j>4<ctrl+j>5")
	for _, step := range []struct{ keys, want string }{
		{"", "  3\n  4\n  5|"},
		{"<up><up>", "  3|\n  4\n  5"},
		{"<up>", "  2|\n  3\n  4"},
		{"<down><down>", "  2\n  3\n  4|"},
		{"<down>", "  3\n  4\n  5|"},
		{"<ctrl+u><ctrl+u><ctrl+u><ctrl+u>", "> 1\n  2\n  3|"},
	} {
		enter(t, e, step.keys)
		if got := shown(t, e, 20, 3); got != step.want {
			t.Errorf("after %q:\n%s\nwant:\n%s", step.keys, got, step.want)
		}
	}
}

// TestEverySize draws at every width from 1, and at some heights, whatever there is
// to draw. The checks are in view.
func TestEverySize(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "word", strings.Repeat("many words ", 20), strings.Repeat("世界", 30) + " 世", strings.Repeat("e\u0301", 50),
		"👩‍👩‍👧‍👦👩‍👩‍👧‍👦 🇩🇪🇫🇷 \t tab\ttab", "\u0301\u200b\u0301", strings.Repeat(" ", 90), "a\n\n\nb\n", "\t\t\t",
	}
	for _, keys := range []string{"", "<ctrl+home>", "<up><up>", "<ctrl+r>many words and more than that", "<ctrl+e><ctrl+j><ctrl+home><ctrl+k><ctrl+k>/", " @file"} {
		for _, text := range texts {
			e := editor.New(editor.Config{Placeholder: "a placeholder 世界", History: []string{"many words", text}, CompleteFunc: many})
			e.Update(tea.PasteMsg{Content: text})
			e.Update(tea.PasteMsg{Content: strings.Repeat("line\n", 11)})
			enter(t, e, keys)
			for width := range 90 {
				for _, height := range []int{0, 1, 2, 3, 7, 100} {
					view(t, e, width, height)
				}
			}
		}
	}
}

// TestRowsAreTheText puts the rows together again.
func TestRowsAreTheText(t *testing.T) {
	t.Parallel()
	const text = "The quick 狐狸 jumps over  the lazy\u0301 dog,\nwhich is a very-long-word-without-any-space in it. 世界世界世界世界"
	for width := 3; width < 70; width++ {
		e := editor.New(editor.Config{})
		e.SetValue(text)
		lines, _, _ := view(t, e, width, 1000)
		for i, line := range lines {
			if width >= 6 {
				line = line[2:]
			}
			lines[i] = line
		}
		// Spaces at the end of rows may hang over the edge, and newlines end rows.
		squeeze := strings.NewReplacer(" ", "", "\n", "").Replace
		if got, want := squeeze(strings.Join(lines, "")), squeeze(norm.NFC.String(text)); got != want {
			t.Errorf("at width %d the rows have %q, want %q", width, got, want)
		}
	}
}

// TestEveryPlaceHasItsCell goes through a text and looks that the cursor stands
// before the grapheme that a deletion takes.
func TestEveryPlaceHasItsCell(t *testing.T) {
	t.Parallel()
	const text = "abc 世界 e\u0301f\nghi jklmnop qrs"
	for width := 6; width < 40; width++ {
		e := editor.New(editor.Config{})
		e.SetValue(text)
		enter(t, e, "<ctrl+home>")
		for range 27 {
			lines, x, y := view(t, e, width, 100)
			under := ansi.TruncateLeft(lines[y], x, "")
			all := e.Value()
			enter(t, e, "<delete>")
			gone := strings.TrimSuffix(all, e.Value()[len(commonPrefix(all, e.Value())):])[len(commonPrefix(all, e.Value())):]
			enter(t, e, "<ctrl+z><right>")
			if !strings.HasPrefix(under, norm.NFC.String(strings.TrimSpace(gone))) {
				t.Fatalf("at width %d the cursor is before %q, and delete takes %q", width, under, gone)
			}
		}
	}
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

func TestColors(t *testing.T) {
	t.Parallel()
	draw := func(color, dark bool) string {
		e := editor.New(editor.Config{Color: color, Dark: dark, CompleteFunc: many})
		e.Update(tea.PasteMsg{Content: strings.Repeat("line\n", 11)})
		enter(t, e, " @")
		lines, _, _ := e.View(60, 20)
		return strings.Join(lines, "\n")
	}
	none, light, dark := draw(false, false), draw(true, false), draw(true, true)
	if strings.Contains(none, "\x1b") {
		t.Errorf("without colours there are sequences: %q", none)
	}
	if light == dark || ansi.Strip(light) != none || ansi.Strip(dark) != none {
		t.Errorf("colours change more than colours:\n%q\n%q\n%q", none, light, dark)
	}
	e := editor.New(editor.Config{})
	e.SetColors(true, true)
	if lines, _, _ := e.View(20, 2); !strings.Contains(lines[0], "\x1b[") {
		t.Errorf("SetColors gives no colours: %q", lines)
	}
}

// many offers many choices.
func many(word editor.Word) []editor.Choice {
	var choices []editor.Choice
	for i := range 30 {
		choices = append(choices, editor.Choice{Insert: fmt.Sprintf("%schoice-%d ", word.Text[:1], i), Help: "what it does, 世界"})
	}
	return choices
}
