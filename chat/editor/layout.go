package editor

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/text/unicode/norm"
)

// tab is how a tab is shown.
const tab = "    "

// layout is the text cut into rows of a width. Rows end after a space where there
// is one.
type layout struct {
	text   string
	width  int
	lines  []line
	rows   int // all of them together
	editor *Editor
}

// line is what stands between two newlines.
type line struct {
	text   string
	start  int   // in the whole text
	row    int   // which row is its first one
	breaks []int // where its other rows start, in the line
}

// layout lays the text out for the width of the last view. Only lines that have
// changed are cut again, so that a key in a long text costs little.
func (e *Editor) layout() *layout {
	l := &e.laid
	width := e.textWidth()
	if l.width == width && l.text == e.text {
		return l
	}
	old := l.lines
	if l.width != width {
		old = nil
	}
	*l = layout{text: e.text, width: width, editor: e}
	texts := strings.Split(e.text, "\n")
	same := 0 // lines at the start that are as they were
	for same < min(len(old), len(texts)) && old[same].text == texts[same] {
		same++
	}
	l.lines = make([]line, len(texts))
	start := 0
	for i, text := range texts {
		fresh := line{text: text, start: start, row: l.rows}
		fromEnd := i - len(texts) + len(old)
		switch {
		case i < same:
			fresh.breaks = old[i].breaks
		case fromEnd >= 0 && old[fromEnd].text == text:
			fresh.breaks = old[fromEnd].breaks
		default:
			fresh.breaks = l.wrap(text)
		}
		l.lines[i] = fresh
		l.rows += 1 + len(fresh.breaks)
		start += len(text) + 1
	}
	return l
}

// cell is a grapheme as it is shown.
type cell struct {
	bytes int // in the text
	show  string
	width int
	paste bool
}

// cell gives the first cell of a text, in a row where so many columns are taken.
func (l *layout) cell(text string, taken int) cell {
	cluster, width := grapheme(text)
	c := cell{bytes: len(cluster), show: cluster, width: width}
	r, _ := utf8.DecodeRuneInString(cluster)
	switch {
	case isPaste(r):
		c.show, c.paste = ansi.Truncate(l.editor.label(r), l.width, "…"), true
		c.width = ansi.StringWidth(c.show)
	case cluster == "\t":
		c.show = tab[:min(len(tab), l.width)]
		c.width = len(c.show)
	case cluster == " " && taken >= l.width:
		c.show, c.width = "", 0 // it hangs over the edge
	case width > l.width:
		c.show, c.width = "·", 1
	case r < utf8.RuneSelf && len(cluster) > 1:
		// Bubble Tea drops a mark after an ASCII letter, and not the two as one
		// character, which most have that are in use.
		if composed := norm.NFC.String(cluster); ansi.StringWidth(composed) == width {
			c.show = composed
		}
	}
	return c
}

// wrap gives where the rows of a line start, but for the first.
func (l *layout) wrap(text string) []int {
	if len(text) <= l.width && plain(text) && !strings.Contains(text, "\t") {
		return nil
	}
	var breaks []int
	taken, start, space := 0, 0, 0 // where the row starts, and the place after its last space
	for i := 0; i < len(text); {
		c := l.cell(text[i:], taken)
		for taken+c.width > l.width && i > start {
			if space > start {
				start = space
			} else {
				start = i
			}
			breaks = append(breaks, start)
			taken = l.measure(text[start:i])
		}
		taken += c.width
		if isSpace(text[i:]) {
			space = i + c.bytes
		}
		i += c.bytes
	}
	return breaks
}

// measure is how many columns a part of a row takes.
func (l *layout) measure(text string) int {
	taken := 0
	for text != "" {
		c := l.cell(text, taken)
		taken += c.width
		text = text[c.bytes:]
	}
	return taken
}

// place gives the row and the column of an offset in the text.
func (l *layout) place(offset int) (row, col int) {
	i := sort.Search(len(l.lines), func(i int) bool { return l.lines[i].start > offset }) - 1
	ln := l.lines[i]
	offset -= ln.start
	r := sort.SearchInts(ln.breaks, offset+1)
	from, _ := ln.bounds(r)
	return ln.row + r, l.measure(ln.text[from:offset])
}

// bounds are where a row of the line starts and ends.
func (ln *line) bounds(row int) (from, to int) {
	to = len(ln.text)
	if row > 0 {
		from = ln.breaks[row-1]
	}
	if row < len(ln.breaks) {
		to = ln.breaks[row]
	}
	return from, to
}

// find gives the line of a row, and which of the line's rows it is.
func (l *layout) find(row int) (ln *line, r int) {
	i := sort.Search(len(l.lines), func(i int) bool { return l.lines[i].row > row }) - 1
	return &l.lines[i], row - l.lines[i].row
}

// offset gives the place in the text that is in a row, at a column or before it.
func (l *layout) offset(row, col int) int {
	ln, r := l.find(row)
	from, to := ln.bounds(r)
	at, taken := from, 0
	for at < to {
		c := l.cell(ln.text[at:], taken)
		if taken+c.width > col {
			break
		}
		if at+c.bytes == to && r < len(ln.breaks) {
			break // what comes next is the start of the next row
		}
		taken += c.width
		at += c.bytes
	}
	return ln.start + at
}
