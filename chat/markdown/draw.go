package markdown

import (
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// state is what the blocks before a place in the text mean for those after it.
type state struct {
	last   ast.NodeKind // the kind of the last block that shows something; 0 for none
	marker byte         // of the last block, if it is a list
	next   int          // the number of that list's next item

	// opening is the lines that a block began with that is drawn in several pieces.
	// They are put before the next piece to parse it.
	opening []byte
	inside  bool // the next piece goes on with a block that was cut
	blank   bool // there is a blank line before the next piece
}

// draw draws blocks of the top level, as they are after others. The source starts with
// the opening of the state.
func (w *drawer) draw(root ast.Node, source []byte, width int, before state) ([]string, state) {
	t := topLevel{drawer: w, source: source, width: width, state: before}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if list, ok := n.(*ast.List); ok {
			t.list(list)
		} else {
			t.block(n)
		}
		t.state.inside = false
	}
	t.state.opening = nil
	t.state.blank = len(source) > 0 && blankBefore(source, len(source))
	return t.lines, t.state
}

// topLevel draws the blocks of the top level one after the other.
type topLevel struct {
	*drawer
	source []byte
	width  int
	lines  []string
	state  state
}

// add adds the lines of a block, after an empty line if there is to be one.
func (t *topLevel) add(lines []string, n ast.Node, apart bool) {
	t.drawer.blocks++
	if len(lines) == 0 {
		return
	}
	if apart && t.state.last != 0 && !t.state.inside {
		t.lines = append(t.lines, "")
	}
	t.lines = append(t.lines, lines...)
	t.state.last = n.Kind()
}

// blankBefore reports whether there is a blank line before a block.
func (t *topLevel) blankBefore(n ast.Node) bool {
	pos := n.Pos()
	if pos < 0 {
		return false
	}
	if lineStart(t.source, pos) == 0 {
		return t.state.blank
	}
	return blankBefore(t.source, pos)
}

func (t *topLevel) block(n ast.Node) {
	var lines []string
	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		lines = t.fence(n, t.source, t.width, !t.state.inside)
	case *east.Table:
		lines = t.table(n, t.source, t.width, !t.state.inside)
	default:
		lines = t.drawer.block(n, t.source, t.width)
	}
	t.add(lines, n, apart(t.state.last, n.Kind(), t.blankBefore(n)))
}

// list draws the items of a list, which may go on with the one before.
func (t *topLevel) list(n *ast.List) {
	goesOn := t.state.last == ast.KindList && t.state.marker == n.Marker
	number := n.Start
	if goesOn {
		number = t.state.next
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		blank := t.blankBefore(item)
		if item == n.FirstChild() && !goesOn {
			blank = apart(t.state.last, n.Kind(), blank)
		}
		t.add(t.item(item, n, number, t.source, t.width), n, blank)
		number++
	}
	t.state.marker, t.state.next = n.Marker, number
}
