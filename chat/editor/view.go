package editor

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// mostChoices is how many choices are shown at once.
const mostChoices = 8

// leastText is how many columns the text has beside the prompt; in a narrower
// terminal there is no prompt.
const leastText = 4

// View gives the lines to draw, at least one and at most maxHeight, each at most so
// many cells wide, and the cell of the cursor in them. What is offered stands above
// the text.
func (e *Editor) View(width, maxHeight int) (lines []string, x, y int) {
	width, maxHeight = max(width, 1), max(maxHeight, 1)
	e.width = width
	l := e.layout()
	above := e.above(width, max(maxHeight-l.rows, maxHeight/2))
	height := min(l.rows, maxHeight-len(above))
	row, col := l.place(e.cursor)
	e.top = max(min(e.top, row, l.rows-height), row-height+1)
	lines = above
	for r := e.top; r < e.top+height; r++ {
		lines = append(lines, e.margin(r)+e.row(r))
	}
	return lines, min(e.indent()+col, width-1), len(above) + row - e.top
}

// indent is how many columns the prompt takes.
func (e *Editor) indent() int {
	if n := ansi.StringWidth(e.cfg.Prompt); n+leastText <= e.width {
		return n
	}
	return 0
}

// textWidth is how many columns the text may take. One is left for the cursor.
func (e *Editor) textWidth() int { return max(e.width-e.indent()-1, 1) }

// margin is what stands before a row.
func (e *Editor) margin(row int) string {
	switch indent := e.indent(); {
	case indent == 0:
		return ""
	case row == 0:
		return e.colors.prompt.paint(e.cfg.Prompt)
	default:
		return strings.Repeat(" ", indent)
	}
}

// row draws a row of the text.
func (e *Editor) row(row int) string {
	l := &e.laid
	if e.text == "" {
		return e.colors.quiet.paint(ansi.Truncate(e.cfg.Placeholder, l.width, "…"))
	}
	ln, r := l.find(row)
	from, to := ln.bounds(r)
	var b strings.Builder
	taken := 0
	for from < to {
		c := l.cell(ln.text[from:], taken)
		if c.paste {
			c.show = e.colors.paste.paint(c.show)
		}
		b.WriteString(c.show)
		taken += c.width
		from += c.bytes
	}
	return b.String()
}

// above draws what stands above the text, a search or what is offered, in so many
// lines at most.
func (e *Editor) above(width, height int) []string {
	if e.search != nil && height > 0 {
		return []string{e.searching(width)}
	}
	p := &e.popup
	n := len(p.choices)
	height = min(n, height, mostChoices)
	from := min(max(p.chosen-height/2, 0), n-height)
	column := 0
	for _, choice := range p.choices {
		column = max(column, ansi.StringWidth(choice.Show))
	}
	column = min(column, max(width/2, 10))
	var lines []string
	for i, choice := range p.choices[from : from+height] {
		mark, style := "  ", e.colors.choice
		if from+i == p.chosen {
			mark, style = "> ", e.colors.chosen
		}
		name := ansi.Truncate(choice.Show, column, "…")
		text := mark + name
		if choice.Help != "" {
			text += strings.Repeat(" ", column-ansi.StringWidth(name)+2) + choice.Help
		}
		lines = append(lines, style.paint(ansi.Truncate(text, width, "…")))
	}
	return lines
}

// searching draws what is searched for. The end of it is what is being typed, so
// the start gives way.
func (e *Editor) searching(width int) string {
	text := "search history: " + e.search.query
	if e.search.failed {
		text = "not in history: " + e.search.query
	}
	if over := ansi.StringWidth(text) - width; over > 0 {
		text = ansi.TruncateLeft(text, over, "")
	}
	return e.colors.quiet.paint(text)
}
