package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// grammar is Markdown as it is drawn here. Two things of it are left out, so that a
// block never changes once the next one has started, and so that no text is lost:
// references to links that are defined elsewhere, and blocks of HTML. Both are text.
var grammar = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
		util.Prioritized(parser.NewEmphasisParser(), 500),
		util.Prioritized(extension.NewStrikethroughParser(), 500),
		util.Prioritized(extension.NewLinkifyParser(), 999),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(extension.NewTableParagraphTransformer(), 200),
	),
	parser.WithASTTransformers(
		util.Prioritized(extension.NewTableASTTransformer(), 0),
	),
)

func parse(source []byte) ast.Node {
	return grammar.Parse(text.NewReader(source))
}

// lineStart gives where the line of a position starts.
func lineStart(source []byte, pos int) int {
	return bytes.LastIndexByte(source[:pos], '\n') + 1
}

// blankBefore reports whether the line before that of a position is blank, apart
// from marks of quotes.
func blankBefore(source []byte, pos int) bool {
	end := lineStart(source, pos)
	if end == 0 {
		return false
	}
	line := source[lineStart(source, end-1) : end-1]
	return len(bytes.Trim(line, " \t>")) == 0
}

// linesOf gives the text of a block as it is in the source, without the marks of
// the blocks around it.
func linesOf(block ast.Node, source []byte) []byte {
	var text []byte
	lines := block.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		text = append(text, segment.Value(source)...)
	}
	return text
}
