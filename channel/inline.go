package channel

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// maxAddress is the longest address that is made into a link.
const maxAddress = 2000

func (w *writer) inlines(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.inline(n)
	}
}

func (w *writer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.words(n)
	case *ast.String:
		w.write(string(n.Value))
	case *math:
		w.write(string(n.value))
	case *ast.CodeSpan:
		w.span(Span{Kind: Code}, func() { w.write(codeText(n, w.source)) })
	case *ast.Emphasis:
		w.emphasis(n)
	case *extast.Strikethrough:
		w.span(Span{Kind: Strike}, func() { w.inlines(n) })
	case *ast.Link:
		w.link(n, n.Destination)
	case *ast.Image:
		w.link(n, n.Destination)
	case *ast.AutoLink:
		w.write(string(n.Label(w.source)))
	case *ast.RawHTML:
		w.html(string(n.Segments.Value(w.source)))
	case *extast.TaskCheckBox:
		// Its mark takes the place of the item's bullet.
	default:
		w.inlines(n)
	}
}

func (w *writer) words(n *ast.Text) {
	value := n.Segment.Value(w.source)
	if w.broken {
		value = bytes.TrimLeft(value, " \n")
		w.broken = false
	}
	if n.IsRaw() {
		w.write(string(value))
	} else {
		w.write(unescape(value))
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		w.newline()
	}
}

func (w *writer) emphasis(n *ast.Emphasis) {
	switch {
	case n.Level > 1:
		w.span(Span{Kind: Bold}, func() { w.inlines(n) })
	case w.product(n):
		w.write("*")
		w.inlines(n)
		w.write("*")
	default:
		w.span(Span{Kind: Italic}, func() { w.inlines(n) })
	}
}

// product reports whether two asterisks are signs of multiplication, as in 2*3*4: there
// are no spaces in or around what is between them.
func (w *writer) product(n *ast.Emphasis) bool {
	inner, ok := n.FirstChild().(*ast.Text)
	if !ok || inner != n.LastChild() {
		return false
	}
	before, after := inner.Segment.Start-2, inner.Segment.Stop+1
	return before >= 0 && after < len(w.source) && w.source[before+1] == '*' &&
		util.IsAlphaNumeric(w.source[before]) && util.IsAlphaNumeric(w.source[after]) &&
		!bytes.ContainsAny(inner.Segment.Value(w.source), " \n")
}

// codeText gives the text of code in a line. Line ends in it are spaces.
func codeText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(source))
		case *ast.String:
			b.Write(c.Value)
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// html writes a tag as it is, except for the one that is nothing but a line break.
func (w *writer) html(tag string) {
	switch strings.ToLower(strings.ReplaceAll(tag, " ", "")) {
	case "<br>", "<br/>":
		w.newline()
		w.broken = true
	default:
		w.write(tag)
	}
}

// link writes a link, or an image, which is one to its file. Where it cannot be a link
// the address stands behind the text, in parentheses, unless it is the text.
func (w *writer) link(n ast.Node, destination []byte) {
	start := w.text.Len()
	if w.linked { // an image in a link: it leads where the link does
		if w.inlines(n); w.text.Len() == start {
			w.write(shown(destination))
		}
		return
	}
	w.linked = true
	defer func() { w.linked = false }()
	address, ok := linkable(destination)
	w.span(Span{Kind: Link, URL: address}, func() {
		w.inlines(n)
		if strings.TrimSpace(w.text.String()[start:]) == "" {
			w.write(shown(destination))
		}
	})
	if ok && !w.plain {
		return
	}
	if len(w.spans) > 0 && w.spans[len(w.spans)-1].Kind == Link && w.spans[len(w.spans)-1].Start == start {
		w.spans = w.spans[:len(w.spans)-1]
	}
	said, address := strings.TrimSpace(w.text.String()[start:]), shown(destination)
	if address != "" && said != address {
		w.write(" (" + address + ")")
	}
}

// linkable gives the address of a link as platforms take it, and whether they do: one of
// the web, with a host that others can reach by its name.
func linkable(destination []byte) (string, bool) {
	address := string(util.URLEscape(destination, true))
	u, err := url.Parse(address)
	if err != nil || len(address) > maxAddress {
		return "", false
	}
	host := u.Hostname()
	web := strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")
	named := strings.Contains(strings.Trim(host, "."), ".") && u.User == nil && !strings.ContainsAny(host, "%_ ")
	return address, web && named
}

// shown gives an address for people: of mail without its scheme, and of data written
// into the address only what kind they are.
func shown(destination []byte) string {
	address := strings.TrimSpace(unescape(destination))
	if kind, _, ok := strings.Cut(address, ","); ok && strings.HasPrefix(strings.ToLower(kind), "data:") {
		return kind + ",…"
	}
	return strings.TrimPrefix(address, "mailto:")
}
