package markdown

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// How much is held back at most, until it is shown as it is.
const (
	maxHeldRow  = 2000
	maxHeldText = 80  // of a link
	maxHeldLink = 400 // text and address
	maxHeldMark = 200 // code and emphasis that may never be closed
)

// foresee gives the text as it will be, as far as one can tell from its first part:
// without a marker at the end that is only half there, and with what is open within
// the last block closed. It leaves an opening of that many bytes alone.
func foresee(root ast.Node, source []byte, opening int) (ast.Node, []byte) {
	if end := heldLine(root, source); end < len(source) && end >= opening {
		source = source[:end]
		root = parse(source)
	}
	text, ok := openText(root, source)
	if !ok {
		return root, source
	}
	open := scanInline(text)
	if open.held == 0 && len(open.closers) == 0 {
		return root, source
	}
	// What is held back is within the last line, which is in the source as it is in
	// the text.
	end := len(source) - trailing(source) - open.held
	end -= trailing(source[:end])
	source = slices.Concat(source[:end], open.closers)
	return parse(source), source
}

func trailing(source []byte) int { return len(source) - len(bytes.TrimRight(source, " \t\n")) }

var (
	// onlyMarkers is a line that says nothing yet: it may become a heading, an item, a
	// rule, a fence, a quote, a row.
	onlyMarkers = regexp.MustCompile("^(?:[-+*=_#~`|: \t>]|[0-9]{1,9}[.)][ \t])*(?:[0-9]{1,9}[.)]?)?$")
	delimiters  = regexp.MustCompile(`^[-|: \t>]*$`)
	tableRow    = regexp.MustCompile(`^[ \t>]*\|`)
)

// heldLine gives where the text ends that is shown: at its end, or where a line starts
// that could still become anything.
func heldLine(root ast.Node, source []byte) int {
	start := lineStart(source, len(source))
	line := source[start:]
	switch leaf := lastLeaf(root).(type) {
	case *ast.CodeBlock:
		return len(source)
	case *ast.FencedCodeBlock:
		return heldFence(leaf, source, start)
	case *east.TableCell:
		// Rows come as a whole, so that the columns do not jump with every word.
		if len(line) == 0 || len(line) > maxHeldRow {
			return len(source)
		}
		if row := leaf.Parent(); row.Kind() == east.KindTableRow || lineStart(source, start-1) > row.Pos() {
			return start
		}
		// Only the line below the header makes it a table, and that may go on.
	}
	if onlyMarkers.Match(line) {
		return heldHeader(source, start)
	}
	return heldHeader(source, len(source))
}

// heldFence holds back a line that opens or closes a fence, or may do so.
func heldFence(n *ast.FencedCodeBlock, source []byte, start int) int {
	line := bytes.Trim(source[start:], " \t>")
	if n.Pos() >= start || len(line) > 0 && len(bytes.Trim(line, "`~")) == 0 {
		return start
	}
	return len(source)
}

// heldHeader holds back the first line of what may become a table, until the line
// below it says whether it does. That line starts at end, or ends there.
func heldHeader(source []byte, end int) int {
	start := lineStart(source, end)
	switch {
	case start == end && end > 0: // the line that may be the header is whole
		if below := source[end:]; !delimiters.Match(below) {
			return end
		}
		start = lineStart(source, end-1)
	case start == end:
		return end
	}
	if line := source[start:end]; tableRow.Match(line) && len(line) <= maxHeldRow {
		return start
	}
	return end
}

// lastLeaf gives the block at the very end.
func lastLeaf(n ast.Node) ast.Node {
	for {
		last := n.LastChild()
		if last == nil || last.Type() == ast.TypeInline {
			return n
		}
		n = last
	}
}

// openText gives the text of the last block if more text would be part of it.
func openText(root ast.Node, source []byte) (text []byte, ok bool) {
	leaf := lastLeaf(root)
	switch leaf.Kind() {
	case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
	default:
		return nil, false
	}
	lines := leaf.Lines()
	if lines.Len() == 0 {
		return nil, false
	}
	last := lines.At(lines.Len() - 1)
	rest := source[last.Stop-trailing(source[last.Start:last.Stop]):]
	ends := 1 // a blank line ends a paragraph, and the end of its line a heading
	if leaf.Kind() == ast.KindHeading {
		ends = 0
	}
	if bytes.Count(rest, []byte("\n")) > ends || len(bytes.TrimSpace(rest)) > 0 {
		return nil, false
	}
	return bytes.TrimRight(linesOf(leaf, source), " \t\n"), true
}
