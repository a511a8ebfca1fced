package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

const (
	narrowest = 6  // no indentation leaves less than this for text
	ruleWidth = 60 // a rule is as wide as a line of text that reads well
)

// drawer draws blocks.
type drawer struct {
	palette
	recent map[codePart][]span // code that was highlighted for the tail before
	keep   map[codePart][]span // code that is highlighted for the tail now; nil elsewhere
	blocks int                 // how many blocks and items of the top level it has drawn
}

// block draws one block. A block that shows nothing
// has no lines.
func (w *drawer) block(n ast.Node, source []byte, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return w.heading(n, source, width)
	case *ast.ThematicBreak:
		return []string{paint(cells([]span{{strings.Repeat("─", min(width, ruleWidth)), w.quiet}}))}
	case *ast.Blockquote:
		mark := span{"│ ", w.quiet}
		if w.marks {
			mark.text = "> "
		}
		return w.nest(mark, mark, width, func(width int) []string { return w.children(n, source, width) })
	case *ast.List:
		return w.list(n, source, width)
	case *ast.CodeBlock:
		return w.code("", codeOf(n, source), width)
	case *ast.FencedCodeBlock:
		return w.fence(n, source, width, true)
	case *east.Table:
		return w.table(n, source, width, true)
	}
	return w.paragraph(w.inline(n, source, look{}), width)
}

// paragraph draws text that flows.
func (w *drawer) paragraph(spans []span, width int) []string {
	text := cells(spans)
	if len(trimStart(text)) == 0 {
		return nil
	}
	return paintAll(wrap(text, width))
}

func (w *drawer) heading(n *ast.Heading, source []byte, width int) []string {
	l := w.palette.heading[min(max(n.Level, 1), 6)-1]
	spans := w.inline(n, source, l)
	if w.marks {
		spans = append([]span{{text: strings.Repeat("#", n.Level) + " "}}, spans...)
	}
	return w.paragraph(spans, width)
}

// children draws the blocks within another one.
func (w *drawer) children(parent ast.Node, source []byte, width int) []string {
	var lines []string
	var before ast.Node
	for c := parent.FirstChild(); c != nil; c = c.NextSibling() {
		drawn := w.block(c, source, width)
		if len(drawn) == 0 {
			continue
		}
		if before != nil && apart(before.Kind(), c.Kind(), blockBlankBefore(c, source)) {
			lines = append(lines, "")
		}
		lines = append(lines, drawn...)
		before = c
	}
	return lines
}

func blockBlankBefore(n ast.Node, source []byte) bool {
	pos := n.Pos()
	return pos >= 0 && blankBefore(source, pos)
}

// apart reports whether there is an empty line between two blocks: where the text
// has one, and around what is not text.
func apart(before, after ast.NodeKind, blank bool) bool {
	return blank || !flows(before) || !flows(after)
}

func flows(kind ast.NodeKind) bool {
	return kind == ast.KindParagraph || kind == ast.KindTextBlock || kind == ast.KindHeading || kind == ast.KindList
}

func (w *drawer) list(n *ast.List, source []byte, width int) []string {
	var lines []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if item != n.FirstChild() && blockBlankBefore(item, source) {
			lines = append(lines, "")
		}
		lines = append(lines, w.item(item, n, number, source, width)...)
		number++
	}
	return lines
}

// item draws one item of a list.
func (w *drawer) item(item ast.Node, list *ast.List, number int, source []byte, width int) []string {
	mark := "•"
	switch {
	case list.IsOrdered():
		mark = strconv.Itoa(number) + string(rune(list.Marker))
	case w.marks:
		mark = "-"
	}
	first := span{mark + " ", w.quiet}
	rest := span{text: strings.Repeat(" ", len([]rune(mark))+1)}
	return w.nest(first, rest, width, func(width int) []string {
		if lines := w.children(item, source, width); len(lines) > 0 {
			return lines
		}
		return []string{""}
	})
}

// nest draws what is within a quote or an item, after a mark in the first line and
// another one in the rest. Where there is no room for that, the mark has its own line.
func (w *drawer) nest(first, rest span, width int, body func(width int) []string) []string {
	mark := cells([]span{first})
	if width-widthOf(mark) < narrowest {
		var lines []string
		if first != rest {
			lines = paintAll(fold(trimEnd(mark), width))
		}
		return append(lines, body(width)...)
	}
	lines := body(width - widthOf(mark))
	firstText, restText := paint(mark), paint(cells([]span{rest}))
	for i, line := range lines {
		before := restText
		if i == 0 {
			before = firstText
		}
		if line == "" {
			before = paint(trimEnd(cells([]span{rest})))
			if i == 0 {
				before = paint(trimEnd(mark))
			}
		}
		lines[i] = before + line
	}
	return lines
}
