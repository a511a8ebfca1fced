package markdown

import (
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inliner makes spans of what is within a block.
type inliner struct {
	palette
	source []byte
	spans  []span
}

// inline gives the text within a block.
func (w *drawer) inline(block ast.Node, source []byte, base look) []span {
	in := inliner{palette: w.palette, source: source}
	in.children(block, base)
	return in.spans
}

// add adds text that is drawn as it is.
func (in *inliner) add(text string, l look) {
	if text = harmlessText(text); text != "" {
		in.spans = append(in.spans, span{text, l})
	}
}

func (in *inliner) addBreak() { in.spans = append(in.spans, span{text: "\n"}) }

func (in *inliner) children(n ast.Node, l look) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		in.node(c, l)
	}
}

func (in *inliner) node(n ast.Node, l look) {
	switch n := n.(type) {
	case *ast.Text:
		in.text(n, l)
	case *ast.String:
		in.add(string(n.Value), l)
	case *ast.CodeSpan:
		in.codeSpan(n, l)
	case *ast.Emphasis:
		if n.Level >= 2 {
			in.marked(n, "**", l.over(in.strong))
		} else {
			in.marked(n, "*", l.over(in.emph))
		}
	case *east.Strikethrough:
		in.marked(n, "~~", l.over(in.strike))
	case *ast.Link:
		before := len(in.spans)
		in.children(n, l.over(in.link))
		in.address(n.Destination, n.Title, textOf(in.spans[before:]))
	case *ast.Image:
		in.add("image: ", in.quiet)
		in.children(n, l)
		in.address(n.Destination, n.Title, "")
	case *ast.AutoLink:
		in.autoLink(n, l)
	case *ast.RawHTML:
		in.html(n)
	case *east.TaskCheckBox:
		if n.IsChecked {
			in.add("[x]", in.done)
		} else {
			in.add("[ ]", in.quiet)
		}
		in.add(" ", l)
	default:
		in.children(n, l)
	}
}

// definition is the start of a line that says where a link leads, or of a footnote.
// Such lines stay lines.
var definition = regexp.MustCompile(`^ {0,3}\[[^\]\n]+\]: `)

func (in *inliner) text(n *ast.Text, l look) {
	value := string(n.Value(in.source))
	if !n.IsRaw() {
		value = unescape(value)
	}
	in.add(value, l)
	switch {
	case n.HardLineBreak():
		in.addBreak()
	case n.SoftLineBreak():
		if definition.Match(in.source[min(n.Segment.Stop+1, len(in.source)):]) || betweenTags(n) {
			in.addBreak()
		} else {
			in.add(" ", l)
		}
	}
}

// betweenTags reports whether a line ends with HTML or the next one starts with it.
// Lines of HTML stay lines.
func betweenTags(n *ast.Text) bool {
	next, previous := n.NextSibling(), n.PreviousSibling()
	return next != nil && next.Kind() == ast.KindRawHTML ||
		previous != nil && previous.Kind() == ast.KindRawHTML && n.Segment.IsEmpty()
}

// marked draws what is within a node; without colours between its marks.
func (in *inliner) marked(n ast.Node, mark string, l look) {
	if !in.marks {
		mark = ""
	}
	in.add(mark, l)
	in.children(n, l)
	in.add(mark, l)
}

func (in *inliner) codeSpan(n *ast.CodeSpan, l look) {
	var code strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			code.Write(t.Value(in.source))
		}
	}
	mark := ""
	if in.marks {
		mark = "`"
		for strings.Contains(code.String(), mark) {
			mark += "`"
		}
	}
	in.add(mark+code.String()+mark, l.over(in.code))
}

// address draws where a link leads, unless its text says so already.
func (in *inliner) address(destination, title []byte, shown string) {
	address, name := unescape(string(destination)), unescape(string(title))
	if name != "" {
		address = strings.TrimSpace(address + ` "` + name + `"`)
	}
	if address == "" || address == shown || address == "mailto:"+shown {
		return
	}
	if shown == "" && endsWithSpace(in.spans) {
		in.add("("+address+")", in.quiet)
		return
	}
	in.add(" ("+address+")", in.quiet)
}

// autoLink draws an address that stands in the text. The brackets around it, if
// there are any, are drawn as well: they are there before the address is whole.
func (in *inliner) autoLink(n *ast.AutoLink, l look) {
	label := string(n.Label(in.source))
	if pos := n.Pos(); pos >= 0 && pos < len(in.source) && in.source[pos] == '<' {
		in.add("<", in.quiet)
		in.add(label, l.over(in.link))
		in.add(">", in.quiet)
		return
	}
	in.add(label, l.over(in.link))
}

var lineBreakTag = regexp.MustCompile(`(?i)^<br\s*/?>$`)

// html draws a tag as it is written, except the one that only breaks the line.
func (in *inliner) html(n *ast.RawHTML) {
	var tag []byte
	for i := range n.Segments.Len() {
		segment := n.Segments.At(i)
		tag = append(tag, segment.Value(in.source)...)
	}
	if lineBreakTag.Match(tag) {
		in.addBreak()
		return
	}
	for i, line := range bytes.Split(tag, []byte("\n")) {
		if i > 0 {
			in.addBreak()
		}
		in.add(string(line), in.quiet)
	}
}

func textOf(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

func endsWithSpace(spans []span) bool {
	return len(spans) > 0 && strings.HasSuffix(spans[len(spans)-1].text, " ")
}

var reference = regexp.MustCompile(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]*);`)

// unescape resolves backslashes before punctuation, and character references.
func unescape(text string) string {
	if !strings.ContainsAny(text, `\&`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\' && i+1 < len(text) && util.IsPunct(text[i+1]):
			b.WriteByte(text[i+1])
			i += 2
		case text[i] == '&' && reference.MatchString(text[i:]):
			whole := reference.FindString(text[i:])
			b.WriteString(html.UnescapeString(whole))
			i += len(whole)
		default:
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String()
}
