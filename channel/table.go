package channel

import (
	"bytes"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// maxColumn is how wide a column is made. Longer cells reach beyond it, so that one of
// them does not fill every row with spaces.
const maxColumn = 40

// table gives a table as lines of text in which the columns stand below each other, as
// letters of one width show them.
func (w *writer) table(n *extast.Table) string {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, w.cell(cell))
		}
		if last := row.LastChild(); last != nil {
			cells = append(cells, w.surplus(last)...)
		}
		rows = append(rows, cells)
	}
	var widths []int
	for _, cells := range rows {
		for i, cell := range cells {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], min(displaywidth.String(cell), maxColumn))
		}
	}
	var b strings.Builder
	for i, cells := range rows {
		for c, cell := range cells {
			cells[c] = aligned(cell, widths[c], n.Alignments, c)
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, " │ "), " ") + "\n")
		if i == 0 {
			b.WriteString(rule(widths) + "\n")
		}
	}
	return b.String()
}

// cell gives the text of a cell, in one line.
func (w *writer) cell(n ast.Node) string {
	inner := &writer{source: w.source, links: w.links, plain: true}
	inner.inlines(n)
	return strings.Join(strings.FieldsFunc(inner.text.String(), func(c rune) bool { return strings.ContainsRune(whiteSpace, c) }), " ")
}

// surplus gives what stands in a row behind the last cell that its head has a column
// for. The parser leaves it out.
func (w *writer) surplus(last ast.Node) []string {
	if last.Lines().Len() == 0 {
		return nil
	}
	rest, _, _ := bytes.Cut(w.source[last.Lines().At(0).Stop:], []byte("\n"))
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(string(rest), "| \t"), "|") {
		if cell = strings.TrimSpace(cell); cell != "" {
			cells = append(cells, unescape([]byte(cell)))
		}
	}
	return cells
}

func aligned(cell string, width int, alignments []extast.Alignment, column int) string {
	missing := max(0, width-displaywidth.String(cell))
	left := 0
	if column < len(alignments) {
		switch alignments[column] {
		case extast.AlignRight:
			left = missing
		case extast.AlignCenter:
			left = missing / 2
		case extast.AlignLeft, extast.AlignNone:
		}
	}
	return strings.Repeat(" ", left) + cell + strings.Repeat(" ", missing-left)
}

// rule gives the line below a table's head.
func rule(widths []int) string {
	parts := make([]string, len(widths))
	for i, width := range widths {
		parts[i] = strings.Repeat("─", width)
	}
	return strings.Join(parts, "─┼─")
}
