package termsvg

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// cell is a character of the screen.
type cell struct {
	text  string
	width int
	style style
}

type row []cell

// read takes text with ANSI sequences apart. A style holds until the next one, also
// in the lines below. Sequences that are not about style are left out.
func read(screen string) []row {
	rows := []row{nil}
	var now style
	for screen != "" {
		last := len(rows) - 1
		switch c := screen[0]; {
		case c == '\x1b':
			sequence, rest := splitSequence(screen)
			if params, ok := strings.CutPrefix(sequence, "\x1b["); ok && strings.HasSuffix(params, "m") {
				now.apply(strings.TrimSuffix(params, "m"))
			}
			screen = rest
		case c == '\n':
			rows = append(rows, nil)
			screen = screen[1:]
		case c == '\t':
			for range 8 - rows[last].width()%8 {
				rows[last] = append(rows[last], cell{text: " ", width: 1, style: now})
			}
			screen = screen[1:]
		case c < ' ' || c == 0x7f:
			screen = screen[1:]
		default:
			cluster, width := ansi.FirstGraphemeCluster(screen, ansi.GraphemeWidth)
			screen = screen[len(cluster):]
			switch {
			case width > 0:
				rows[last] = append(rows[last], cell{text: cluster, width: width, style: now})
			case len(rows[last]) > 0 && utf8.ValidString(cluster):
				rows[last][len(rows[last])-1].text += cluster
			}
		}
	}
	// The line that an end of line opens is none.
	if len(rows) > 1 && len(rows[len(rows)-1]) == 0 {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// splitSequence cuts the sequence off that the text starts with. One that does not
// end is only its escape character.
func splitSequence(text string) (sequence, rest string) {
	if len(text) < 2 {
		return text, ""
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text) && text[i] >= 0x20 && text[i] < 0x7f; i++ {
			if text[i] >= 0x40 {
				return text[:i+1], text[i+1:]
			}
		}
		return text[:1], text[1:]
	case ']':
		for i := 2; i < len(text) && text[i] != '\n'; i++ {
			if text[i] == '\a' {
				return text[:i+1], text[i+1:]
			}
			if strings.HasPrefix(text[i:], "\x1b\\") {
				return text[:i+2], text[i+2:]
			}
		}
		return text[:1], text[1:]
	case '(', ')':
		n := min(3, len(text))
		return text[:n], text[n:]
	default:
		return text[:1], text[1:]
	}
}

func (r row) width() int {
	n := 0
	for _, c := range r {
		n += c.width
	}
	return n
}

// cut gives what is in the first columns.
func (r row) cut(cols int) row {
	n := 0
	for i, c := range r {
		if n += c.width; n > cols {
			return r[:i]
		}
	}
	return r
}

// run is a part of a row that is drawn at once.
type run struct {
	col, width int
	text       string
	style      style
}

// runs puts cells of one style together. Whatever is not ASCII joins only its like,
// as in a rule, since fonts do not agree about its width.
func (r row) runs() []run {
	var runs []run
	col := 0
	for i, c := range r {
		if i > 0 && c.joins(r[i-1]) {
			last := &runs[len(runs)-1]
			last.text += c.text
			last.width++
		} else {
			runs = append(runs, run{col: col, width: c.width, text: c.text, style: c.style})
		}
		col += c.width
	}
	return runs
}

func (c cell) joins(before cell) bool {
	if c.style != before.style || c.width != 1 || before.width != 1 {
		return false
	}
	return c.text == before.text || len(c.text) == 1 && len(before.text) == 1
}

// trimmed is the run without the blanks around it, which not every program keeps.
// Where a line goes through them they stay, and so does a blank with a mark on it.
func (r run) trimmed() run {
	if r.style.underline || r.style.strike || len(r.text) != r.width {
		return r
	}
	text := strings.TrimLeft(r.text, " ")
	r.col += len(r.text) - len(text)
	r.text = strings.TrimRight(text, " ")
	r.width = len(r.text)
	return r
}
