package channel

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Formulas are full of characters that mean something else in Markdown. What stands
// between their marks is left as it is, marks included.

// maxMath is how far the end of a formula is looked for.
const maxMath = 4000

// formulas are what formulas begin and end with.
var formulas = []struct{ begin, end string }{{`$$`, `$$`}, {`\[`, `\]`}, {`\(`, `\)`}, {`$`, `$`}}

var (
	mathKind      = ast.NewNodeKind("Math")
	mathBlockKind = ast.NewNodeKind("MathBlock")
)

// math is a formula in a line.
type math struct {
	ast.BaseInline
	value []byte
}

func (*math) Kind() ast.NodeKind              { return mathKind }
func (n *math) Dump(source []byte, depth int) { ast.DumpHelper(n, source, depth, nil, nil) }

// mathBlock is a formula in lines of its own.
type mathBlock struct {
	ast.BaseBlock
	end   []byte // what ends it
	ended bool   // its last line was taken
}

func (*mathBlock) Kind() ast.NodeKind              { return mathBlockKind }
func (*mathBlock) IsRaw() bool                     { return true }
func (n *mathBlock) Dump(source []byte, depth int) { ast.DumpHelper(n, source, depth, nil, nil) }

type mathParser struct{}

func (mathParser) Trigger() []byte { return []byte{'$', '\\'} }

// Parse takes a formula. Formulas with single dollars are held to one line and to the
// forms that prices do not have.
func (mathParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	for _, f := range formulas {
		if !bytes.HasPrefix(line, []byte(f.begin)) {
			continue
		}
		if f.begin == "$" {
			if end := dollarEnd(line); end > 0 {
				block.Advance(end)
				return &math{value: line[:end]}
			}
			return nil
		}
		return untilEnd(block, f.begin, f.end)
	}
	return nil
}

// dollarEnd gives how long a formula between single dollars is; 0: it is none.
func dollarEnd(line []byte) int {
	if len(line) < 3 || isSpace(line[1]) {
		return 0
	}
	for i := 2; i < min(len(line), maxMath); i++ {
		if line[i] != '$' || line[i-1] == '\\' {
			continue
		}
		if isSpace(line[i-1]) || i+1 < len(line) && line[i+1] >= '0' && line[i+1] <= '9' {
			return 0
		}
		return i + 1
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// untilEnd takes what comes up to an end, over lines if need be.
func untilEnd(block text.Reader, begin, end string) ast.Node {
	startLine, start := block.Position()
	var value []byte
	skip := len(begin)
	for len(value) < maxMath {
		line, _ := block.PeekLine()
		if line == nil {
			break
		}
		near := line[:min(len(line), maxMath)]
		if i := bytes.Index(near[min(skip, len(near)):], []byte(end)); i >= 0 {
			length := skip + i + len(end)
			block.Advance(length)
			return &math{value: append(value, line[:length]...)}
		}
		if len(line) > maxMath {
			break
		}
		value = append(value, line...)
		skip = 0
		block.AdvanceLine()
	}
	block.SetPosition(startLine, start)
	return nil
}

type mathBlockParser struct{}

func (mathBlockParser) Trigger() []byte { return []byte{'$', '\\'} }

// Open takes a line that a formula begins and does not end in, if its end comes before
// the next blank line.
func (mathBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 || at >= len(line) {
		return nil, parser.NoChildren
	}
	begin, end := blockEnds(line[at:])
	if begin == 0 || bytes.Contains(line[at+begin:], end) {
		return nil, parser.NoChildren
	}
	rest := reader.Source()[segment.Stop:]
	rest = rest[:min(len(rest), maxMath)]
	if i := bytes.Index(rest, []byte("\n\n")); i >= 0 {
		rest = rest[:i]
	}
	if !bytes.Contains(rest, end) {
		return nil, parser.NoChildren
	}
	n := &mathBlock{end: end}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	return n, parser.NoChildren
}

// blockEnds gives how long the mark is that a formula in lines of its own begins with,
// and what ends it.
func blockEnds(line []byte) (begin int, end []byte) {
	for _, f := range formulas[:2] {
		if bytes.HasPrefix(line, []byte(f.begin)) {
			return len(f.begin), []byte(f.end)
		}
	}
	if name, ok := bytes.CutPrefix(line, []byte(`\begin{`)); ok {
		if i := bytes.IndexByte(name, '}'); i > 0 {
			return len(line) - len(name), append([]byte(`\end{`), name[:i+1]...)
		}
	}
	return 0, nil
}

// Continue takes lines up to the one with the end.
func (mathBlockParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n, ok := node.(*mathBlock)
	line, segment := reader.PeekLine()
	if !ok || n.ended || len(bytes.TrimSpace(line)) == 0 {
		return parser.Close
	}
	n.Lines().Append(segment)
	n.ended = bytes.Contains(line, n.end)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (mathBlockParser) Close(ast.Node, text.Reader, parser.Context) {}
func (mathBlockParser) CanInterruptParagraph() bool                 { return true }
func (mathBlockParser) CanAcceptIndentedLine() bool                 { return false }
