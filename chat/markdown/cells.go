package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// span is text that looks the same. A \n in it is a line break that has to be.
type span struct {
	text string
	look look
}

// cell is what a terminal draws as one: a grapheme cluster.
type cell struct {
	text  string
	width int
	look  look
}

func (c cell) space() bool { return c.text == " " }
func (c cell) brk() bool   { return c.text == "\n" }

// cells cuts spans into what is drawn. Clusters may reach over the end of a span:
// they look as their start does.
func cells(spans []span) []cell {
	var all strings.Builder
	for _, s := range spans {
		all.WriteString(s.text)
	}
	text := all.String()
	out := make([]cell, 0, len(text))
	at, end := 0, 0 // the span that the position is in, and where that ends
	for pos := 0; pos < len(text); {
		for at < len(spans) && pos >= end {
			end += len(spans[at].text)
			at++
		}
		c := firstCell(text[pos:])
		pos += len(c.text)
		c.look = spans[at-1].look
		out = append(out, onBase(c))
	}
	return out
}

func firstCell(text string) cell {
	// Most text is ASCII, where each character stands for itself.
	if text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return cell{text: text[:1], width: 1}
	}
	cluster, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	return cell{text: cluster, width: width}
}

// onBase puts a mark that has nothing to stand on onto a dotted circle. Otherwise it
// would join whatever is drawn before it, and change how wide that is.
func onBase(c cell) cell {
	r, _ := utf8.DecodeRuneInString(c.text)
	if r == joiner || r == nonJoiner || unicode.Is(unicode.M, r) {
		c.text = "\u25cc" + c.text
		c.width = ansi.StringWidth(c.text)
	}
	return c
}

// widthOf gives how many cells of the terminal the text takes.
func widthOf(row []cell) int {
	n := 0
	for _, c := range row {
		n += c.width
	}
	return n
}

// paint makes a line of cells.
func paint(row []cell) string {
	var b strings.Builder
	var now look
	for _, c := range row {
		if c.look != now {
			if now != (look{}) {
				b.WriteString(sgrReset)
			}
			if c.look != (look{}) {
				b.WriteString(c.look.sgr())
			}
			now = c.look
		}
		b.WriteString(c.text)
	}
	if now != (look{}) {
		b.WriteString(sgrReset)
	}
	return b.String()
}

// paintAll makes lines of rows of cells.
func paintAll(rows [][]cell) []string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = paint(row)
	}
	return lines
}
