package markdown

import (
	"regexp"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"
)

const (
	codeIndent = 2
	tabWidth   = 4
	// Code is highlighted in parts, so that an append to a long block costs no more
	// than one to a short block: lexers take 10 ms and more for this much. Each part
	// starts anew, which may be wrong within a long comment.
	partBytes = 4 << 10
	// Longer lines are made by programs. They are not highlighted, as some rules take
	// forever on them.
	maxColoredLine = 2000
)

// fence draws code in a fence, with what the fence says about it or without.
func (w *drawer) fence(n *ast.FencedCodeBlock, source []byte, width int, label bool) []string {
	info := ""
	if n.Info != nil {
		info = strings.TrimSpace(unescape(string(n.Info.Value(source))))
	}
	lines := w.code(info, codeOf(n, source), width)
	if !label {
		return lines
	}
	return append(w.label(info, width), lines...)
}

// codeOf gives the code of a block.
func codeOf(n ast.Node, source []byte) string { return asWritten(linesOf(n, source)) }

// asWritten takes out what was put into the text for the parser.
func asWritten(code []byte) string {
	return strings.ReplaceAll(string(code), string(shallow), "")
}

// label draws what a fence says about its code.
func (w *drawer) label(info string, width int) []string {
	if info == "" {
		return nil
	}
	indent, room := codeRoom(width)
	lines := w.paragraph([]span{{harmlessText(info), w.quiet}}, room)
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// code draws code. Lines that are too long go on in the next one, after a mark.
func (w *drawer) code(info, code string, width int) []string {
	if code == "" {
		return nil
	}
	indent, room := codeRoom(width)
	goesOn := indent
	if indent != "" {
		goesOn = paint(cells([]span{{"↳ ", w.quiet}}))
	}
	language, _, _ := strings.Cut(info, " ")
	var lines []string
	for len(code) > 0 {
		part := code[:partEnd(code)]
		code = code[len(part):]
		for _, line := range codeLines(w.highlight(language, part)) {
			for i, row := range fold(line, room) {
				switch {
				case len(row) == 0:
					lines = append(lines, "")
				case i == 0:
					lines = append(lines, indent+paint(row))
				default:
					lines = append(lines, goesOn+paint(row))
				}
			}
		}
	}
	return lines
}

func codeRoom(width int) (indent string, room int) {
	if width-codeIndent < narrowest {
		return "", width
	}
	return strings.Repeat(" ", codeIndent), width - codeIndent
}

var topOfCode = regexp.MustCompile(`\n\n\S`)

// partEnd gives where the first part of code ends: all of it, if it is short, else
// in its second half before a line that is not indented and follows an empty one,
// else at the last line that fits. Where that is does not depend on what comes after
// the part.
func partEnd(code string) int {
	if len(code) <= partBytes {
		return len(code)
	}
	if at := topOfCode.FindAllStringIndex(code[partBytes/2:partBytes], -1); len(at) > 0 {
		return partBytes/2 + at[len(at)-1][0] + 2
	}
	if i := strings.LastIndexByte(code[:partBytes], '\n'); i >= 0 {
		return i + 1
	}
	if i := strings.IndexByte(code[partBytes:], '\n'); i >= 0 {
		return partBytes + i + 1
	}
	return len(code)
}

// codeLines cuts highlighted code into its lines, with tabs made spaces.
func codeLines(spans []span) [][]cell {
	lines := [][]span{nil}
	for _, s := range spans {
		for i, text := range strings.Split(s.text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if text != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], span{text, s.look})
			}
		}
	}
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1] // after the last line end there is no line
	}
	out := make([][]cell, len(lines))
	for i, line := range lines {
		out[i] = expandTabs(cells(line))
	}
	return out
}

func expandTabs(line []cell) []cell {
	out := make([]cell, 0, len(line))
	column := 0
	for _, c := range line {
		if c.text == "\t" {
			for range tabWidth - column%tabWidth {
				out = append(out, cell{text: " ", width: 1, look: c.look})
				column++
			}
			continue
		}
		out = append(out, c)
		column += c.width
	}
	return out
}

// codePart is a part of code, by which its highlighting is found again.
type codePart struct{ language, code string }

func (w *drawer) highlight(language, code string) []span {
	if w.marks || language == "" {
		return []span{{text: code}}
	}
	key := codePart{language, code}
	spans, ok := w.recent[key]
	if !ok {
		spans = w.lex(language, code)
	}
	if w.keep != nil {
		w.keep[key] = spans
	}
	return spans
}

// lex highlights code; code that cannot be is plain.
func (w *drawer) lex(language, code string) (spans []span) {
	plain := []span{{text: code}}
	lexer := lexers.Get(language)
	if lexer == nil || longestLine(code) > maxColoredLine {
		return plain
	}
	// Lexers report what goes wrong within them by a panic.
	defer func() {
		if recover() != nil {
			spans = plain
		}
	}()
	tokens, err := lexer.Tokenise(nil, code)
	if err != nil {
		return plain
	}
	rest := code
	for token := tokens(); token != chroma.EOF; token = tokens() {
		text := token.Value
		if !strings.HasPrefix(rest, text) {
			// Some lexers end the code with a line end of their own; anything else
			// would not be the code that was written.
			text = rest
		}
		rest = rest[len(text):]
		l := w.tokenLook(token.Type)
		if n := len(spans); n > 0 && spans[n-1].look == l {
			spans[n-1].text += text
		} else if text != "" {
			spans = append(spans, span{text, l})
		}
	}
	if rest != "" {
		return plain
	}
	return spans
}

func longestLine(code string) int {
	longest := 0
	for line := range strings.SplitSeq(code, "\n") {
		longest = max(longest, len(line))
	}
	return longest
}

func (w *drawer) tokenLook(t chroma.TokenType) look {
	switch {
	case t == chroma.GenericInserted:
		return w.inserted
	case t == chroma.GenericDeleted:
		return w.deleted
	case t == chroma.GenericHeading, t == chroma.GenericSubheading, t == chroma.GenericStrong:
		return w.strong
	case t == chroma.GenericEmph:
		return w.emph
	case t.InCategory(chroma.Comment) && t != chroma.CommentPreproc:
		return w.comment
	case t == chroma.KeywordType, t.InSubCategory(chroma.NameBuiltin), t == chroma.NameClass, t == chroma.NameTag:
		return w.kind
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord, t == chroma.CommentPreproc:
		return w.keyword
	case t.InSubCategory(chroma.LiteralString):
		return w.literal
	case t.InSubCategory(chroma.LiteralNumber):
		return w.number
	case t.InSubCategory(chroma.NameFunction), t == chroma.NameDecorator, t == chroma.NameAttribute:
		return w.name
	}
	return look{}
}
