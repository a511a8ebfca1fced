package markdown

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// windowBytes is how much text is parsed at once. A block that is longer is drawn in
// several pieces, which bounds what an append can cost.
const windowBytes = 32 << 10

// settle draws the blocks that no further text can change.
func (d *Document) settle() {
	for {
		window := d.source[d.tail:min(len(d.source), d.tail+windowBytes)]
		whole := bytes.LastIndexByte(window, '\n') + 1
		full := len(window) == windowBytes
		if d.tail+whole <= d.looked && !full {
			return
		}
		d.looked = d.tail + whole

		opening := len(d.state.opening)
		source := slices.Concat(d.state.opening, window[:whole])
		c := lastBoundary(parse(source), source, opening)
		if c.at <= opening {
			if !full {
				return
			}
			source = slices.Concat(d.state.opening, window)
			c = force(source, opening, d.state)
		}
		lines, after := d.drawer.draw(parse(source[:c.at]), source[:c.at], d.width, d.state)
		after.opening, after.inside = c.opening, c.inside
		d.lines = append(d.lines, lines...)
		d.fixed = len(d.lines)
		d.tail += c.at - opening
		d.state = after
	}
}

// cut is a place in the source where drawing may stop and go on later.
type cut struct {
	at      int
	opening []byte // of the block that goes on there, if it needs one
	inside  bool   // a block goes on there
}

// lastBoundary gives where the last block starts that further text may change; for
// lists, their last item, and for code in a fence, its last part. The source has
// whole lines only, and starts with an opening of that many bytes. A table starts
// where its paragraph does: until that ends, the lines before it may become a heading.
func lastBoundary(root ast.Node, source []byte, opening int) cut {
	switch last := root.LastChild().(type) {
	case nil:
		return cut{}
	case *ast.List:
		for item := last.LastChild(); item != nil; item = item.PreviousSibling() {
			if at := ownLine(source, item); at > opening {
				return cut{at: at}
			}
		}
		return cut{}
	case *ast.FencedCodeBlock:
		if at := lastPart(last, source); at > opening {
			return cut{at: at, opening: fenceLine(last, source), inside: true}
		}
		return cut{at: ownLine(source, last)}
	default:
		return cut{at: ownLine(source, last)}
	}
}

// ownLine gives the start of the line a block starts in, or -1 if that line could
// not be the first of a text.
func ownLine(source []byte, n ast.Node) int {
	pos := n.Pos()
	if pos < 0 || pos > len(source) {
		return -1
	}
	start := lineStart(source, pos)
	if indent := source[start:pos]; len(indent) > 3 || len(bytes.Trim(indent, " ")) > 0 {
		return -1
	}
	return start
}

// fenceLine gives the line that opens a fence.
func fenceLine(n *ast.FencedCodeBlock, source []byte) []byte {
	start := lineStart(source, n.Pos())
	line, _, _ := bytes.Cut(source[start:], []byte("\n"))
	return append(bytes.Clone(line), '\n')
}

// lastPart gives where the last part of the code in a fence starts, or -1 if it has
// only one.
func lastPart(n *ast.FencedCodeBlock, source []byte) int {
	code := codeOf(n, source)
	done := 0
	for end := partEnd(code); end < len(code); end = partEnd(code) {
		done += end
		code = code[end:]
	}
	if done == 0 {
		return -1
	}
	lines := n.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		if done <= 0 {
			return lineStart(source, segment.Start)
		}
		done -= len(asWritten(segment.Value(source)))
	}
	return -1
}

// force cuts a block that fills the whole window: a table between two rows, anything
// else where a line ends, or else where a word does.
func force(source []byte, opening int, before state) cut {
	whole := bytes.LastIndexByte(source, '\n') + 1
	if whole <= opening {
		at := bytes.LastIndexByte(source[opening:], ' ') + 1 + opening
		if at == opening {
			for at = len(source) - 1; at > opening+1 && !utf8.RuneStart(source[at]); at-- {
				continue
			}
		}
		c := cut{at: at, opening: before.opening, inside: true}
		if len(c.opening) == 0 {
			c.opening = []byte(string(shallow)) // the rest of a line starts no block
		}
		return c
	}
	c := cut{at: whole, inside: true}
	root := parse(source[:whole])
	switch last := root.LastChild().(type) {
	case *ast.FencedCodeBlock:
		c.opening = fenceLine(last, source)
	case *east.Table:
		if row := last.FirstChild().NextSibling(); row != nil && last == root.FirstChild() {
			c.opening = bytes.Clone(source[:lineStart(source, row.Pos())])
		}
	}
	return c
}
