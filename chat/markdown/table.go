package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

const (
	columnGap = 3 // " │ "
	// A table whose columns would have to be narrower is drawn as a list of its rows.
	narrowColumn = 6
)

// grid is the cells of a table as text.
type grid struct {
	header []([]cell)
	rows   [][]([]cell)
	aligns []east.Alignment
}

// table draws a table, with its header or only its rows.
func (w *drawer) table(n *east.Table, source []byte, width int, header bool) []string {
	g := w.grid(n, source)
	widths, fits := columnWidths(g, width)
	if !fits {
		return w.records(g, width, header)
	}
	var lines []string
	if header {
		lines = append(w.row(g.header, widths, g.aligns), w.underline(widths))
	}
	for _, row := range g.rows {
		lines = append(lines, w.row(row, widths, g.aligns)...)
	}
	return lines
}

func (w *drawer) grid(n *east.Table, source []byte) grid {
	g := grid{aligns: n.Alignments}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		_, isHeader := row.(*east.TableHeader)
		base := look{}
		if isHeader {
			base = w.strong
		}
		texts := make([][]cell, 0, len(g.aligns))
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			spans := w.inline(c, source, base)
			if c.NextSibling() == nil {
				spans = append(spans, surplus(c, source)...)
			}
			texts = append(texts, trimEnd(cells(spans)))
		}
		if isHeader {
			g.header = texts
		} else {
			g.rows = append(g.rows, texts)
		}
	}
	return g
}

// surplus gives what a row has after its last column.
func surplus(last ast.Node, source []byte) []span {
	if last.Lines().Len() == 0 {
		return nil
	}
	rest, _, _ := bytes.Cut(source[last.Lines().At(0).Stop:], []byte("\n"))
	text := strings.TrimSpace(string(rest))
	if strings.Trim(text, "| \t") == "" {
		return nil
	}
	return []span{{text: harmlessText(" " + unescape(text))}}
}

// columnWidths gives each column the width of its widest cell, or shrinks the widest
// columns until the table fits.
func columnWidths(g grid, width int) (widths []int, fits bool) {
	widths = make([]int, len(g.aligns))
	for _, row := range append([][][]cell{g.header}, g.rows...) {
		for i, text := range row {
			if i < len(widths) {
				widths[i] = max(widths[i], widestLine(text), 1)
			}
		}
	}
	room := width - columnGap*(len(widths)-1)
	limit := 1
	for _, w := range widths {
		limit = max(limit, w)
	}
	for sum(widths, limit) > room {
		limit--
		if limit < narrowColumn {
			return nil, false
		}
	}
	left := room - sum(widths, limit) // less than there are columns to be cut
	for i, w := range widths {
		widths[i] = min(w, limit)
		if w > limit && left > 0 {
			widths[i]++
			left--
		}
	}
	return widths, true
}

func sum(widths []int, limit int) int {
	n := 0
	for _, w := range widths {
		n += min(w, limit)
	}
	return n
}

func widestLine(text []cell) int {
	widest := 0
	for {
		line, rest, more := cutBreak(text)
		widest = max(widest, widthOf(line))
		if !more {
			return widest
		}
		text = rest
	}
}

// row draws one row, which takes as many lines as its highest cell.
func (w *drawer) row(texts [][]cell, widths []int, aligns []east.Alignment) []string {
	wrapped := make([][][]cell, len(widths))
	height := 1
	for i := range widths {
		if i < len(texts) {
			wrapped[i] = wrap(texts[i], widths[i])
		}
		height = max(height, len(wrapped[i]))
	}
	bar := cell{text: "│", width: 1, look: w.quiet}
	blank := cell{text: " ", width: 1}
	lines := make([]string, height)
	for y := range lines {
		var line []cell
		for i, column := range wrapped {
			if i > 0 {
				line = append(line, blank, bar, blank)
			}
			var text []cell
			if y < len(column) {
				text = column[y]
			}
			line = append(line, pad(text, widths[i], aligns[i])...)
		}
		lines[y] = paint(trimEnd(line))
	}
	return lines
}

// pad fills a cell up to the width of its column.
func pad(text []cell, width int, align east.Alignment) []cell {
	free := max(width-widthOf(text), 0)
	left := 0
	switch align {
	case east.AlignRight:
		left = free
	case east.AlignCenter:
		left = free / 2
	}
	blank := []cell{{text: " ", width: 1}}
	return slices.Concat(slices.Repeat(blank, left), text, slices.Repeat(blank, free-left))
}

// underline is the line between the header and the rows.
func (w *drawer) underline(widths []int) string {
	parts := make([]string, len(widths))
	for i, width := range widths {
		parts[i] = strings.Repeat("─", width)
	}
	return paint(cells([]span{{strings.Join(parts, "─┼─"), w.quiet}}))
}

// records draws a table that is too wide for columns: each row as a list of what its
// columns hold.
func (w *drawer) records(g grid, width int, header bool) []string {
	var lines []string
	if len(g.rows) == 0 && header {
		for _, text := range g.header {
			lines = append(lines, paintAll(wrap(text, width))...)
		}
		return lines
	}
	for i, row := range g.rows {
		if i > 0 || !header {
			lines = append(lines, "")
		}
		for column, text := range row {
			var entry []cell
			if column < len(g.header) && len(g.header[column]) > 0 {
				entry = append(slices.Clone(g.header[column]), cells([]span{{": ", w.quiet}})...)
			}
			lines = append(lines, paintAll(wrap(append(entry, text...), width))...)
		}
	}
	return lines
}
