package channel

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdownParser is CommonMark with tables, strikethrough, task lists and bare links;
// formulas are left alone.
var markdownParser = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify),
	goldmark.WithParserOptions(
		parser.WithBlockParsers(util.Prioritized(mathBlockParser{}, 650)),
		parser.WithInlineParsers(util.Prioritized(mathParser{}, 150)),
	),
).Parser()

// Markdown converts what a model writes. Headings become bold, lists have bullets or
// their numbers as text, tables are aligned in a block of code, images are links; HTML
// and formulas stay as they are. A link that no platform would take shows its address
// behind its text. Nothing that a reader would see is lost.
func Markdown(source string) Rich {
	source = strings.Trim(clean(source), "\n")
	if excessive(source) {
		return Plain(source)
	}
	w := &writer{source: []byte(source)}
	root := markdownParser.Parse(text.NewReader(w.source))
	w.links = usedLabels(root)
	w.blocks(root, "\n\n")
	r := Rich{Text: strings.TrimRight(w.text.String(), whiteSpace), Spans: w.spans}
	for i := range r.Spans {
		r.Spans[i].End = min(r.Spans[i].End, len(r.Text))
	}
	if r = r.Tidy(); r.Blank() {
		return Plain(source) // nothing but marks
	}
	return r
}

// usedLabels gives the labels of definitions that links refer to.
func usedLabels(root ast.Node) map[string]bool {
	used := make(map[string]bool)
	note := func(ref *ast.ReferenceLink) {
		if ref != nil {
			used[util.ToLinkReference(ref.Value)] = true
		}
	}
	for n := range nodes(root) {
		switch n := n.(type) {
		case *ast.Link:
			note(n.Reference)
		case *ast.Image:
			note(n.Reference)
		}
	}
	return used
}

// nodes goes through a tree, parents first.
func nodes(root ast.Node) func(yield func(ast.Node) bool) {
	return func(yield func(ast.Node) bool) {
		_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it fails only as its function does
			if entering && !yield(n) {
				return ast.WalkStop, nil
			}
			return ast.WalkContinue, nil
		})
	}
}

// writer makes rich text of a tree.
type writer struct {
	source []byte
	links  map[string]bool // labels that links refer to
	plain  bool            // spans would not be seen, so addresses are written out

	text   strings.Builder
	spans  []Span
	levels []*level // of lists and quotes that the next line is in
	gap    string   // what separates the next block from the text so far
	broken bool     // the line was just ended by a tag
	quotes int
	linked bool // within a link
}

// level is what the lines of a list item, or of a quote within a quote, begin with.
type level struct {
	marker string // of the first line; empty once it is written
	indent string // of the others
}

// blocks writes the blocks in a container, with so much between them.
func (w *writer) blocks(parent ast.Node, between string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n != parent.FirstChild() {
			w.gap = between
		}
		w.block(n)
	}
}

func (w *writer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		if n.HasChildren() {
			w.span(Span{Kind: Bold}, func() { w.paragraph(n) })
		}
	case *ast.FencedCodeBlock:
		language, rest := infoString(n, w.source)
		w.pre(language, rest+lines(n, w.source))
	case *ast.CodeBlock:
		w.pre("", lines(n, w.source))
	case *ast.Blockquote:
		w.quote(n)
	case *ast.List:
		w.list(n)
	case *ast.ThematicBreak:
		w.begin()
		w.write("———")
	case *ast.HTMLBlock:
		html := lines(n, w.source)
		if n.HasClosure() {
			html += string(n.ClosureLine.Value(w.source))
		}
		w.verbatim(html)
	case *mathBlock:
		w.verbatim(lines(n, w.source))
	case *ast.LinkReferenceDefinition:
		if !w.links[util.ToLinkReference(n.Label)] {
			w.verbatim(definition(n))
		}
	case *extast.Table:
		w.pre("", w.table(n))
	default: // paragraphs, and text in tight lists
		w.paragraph(n)
	}
}

func (w *writer) paragraph(n ast.Node) {
	if n.HasChildren() {
		w.begin()
		w.inlines(n)
	}
}

func (w *writer) verbatim(text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		w.begin()
		w.write(text)
	}
}

// pre writes a block of code, without what its lines would begin with: it is there to
// be copied.
func (w *writer) pre(language, code string) {
	code = strings.TrimRight(code, "\n")
	if strings.TrimSpace(code) == "" {
		return
	}
	w.flushMarkers()
	w.separate()
	w.span(Span{Kind: Pre, Language: language}, func() { w.text.WriteString(code) })
}

func (w *writer) quote(n ast.Node) {
	w.quotes++
	defer func() { w.quotes-- }()
	if w.quotes == 1 {
		w.span(Span{Kind: Quote}, func() { w.blocks(n, "\n\n") })
		return
	}
	w.nested(level{marker: "> ", indent: "> "}, func() { w.blocks(n, "\n\n") }) // platforms do not nest quotes
}

var bullets = []string{"• ", "◦ ", "▪ "}

func (w *writer) list(n *ast.List) {
	between := "\n"
	if !n.IsTight {
		between = "\n\n"
	}
	depth := 0
	for p := n.Parent(); p != nil; p = p.Parent() {
		if l, ok := p.(*ast.List); ok && !l.IsOrdered() {
			depth++
		}
	}
	numbers := w.numbers(n)
	i := 0
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := bullets[depth%len(bullets)]
		if n.IsOrdered() {
			marker = numbers[i] + string(n.Marker) + " "
		}
		if box := checkBox(item); box != nil && n.IsOrdered() {
			marker += boxMark(box)
		} else if box != nil {
			marker = boxMark(box)
		}
		if i > 0 {
			w.gap = between
		}
		indent := strings.Repeat(" ", min(len([]rune(marker)), 4))
		w.nested(level{marker: marker, indent: indent}, func() { w.blocks(item, between) })
		i++
	}
}

// numbers gives the numbers of a list's items: as they were written, be it years or a
// countdown; counted where two are the same, as a list of ones is meant.
func (w *writer) numbers(n *ast.List) []string {
	var written, counted []string
	differ := true
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		number := ""
		if at := item.Pos(); at >= 0 && at < len(w.source) {
			rest := w.source[at:]
			number = string(rest[:len(rest)-len(bytes.TrimLeft(rest, "0123456789"))])
		}
		differ = differ && number != "" && !slices.Contains(written[max(0, len(written)-1):], number)
		written = append(written, number)
		counted = append(counted, strconv.Itoa(n.Start+len(counted)))
	}
	if differ {
		return written
	}
	return counted
}

func checkBox(item ast.Node) *extast.TaskCheckBox {
	if item.FirstChild() == nil {
		return nil
	}
	box, _ := item.FirstChild().FirstChild().(*extast.TaskCheckBox)
	return box
}

func boxMark(box *extast.TaskCheckBox) string {
	if box.IsChecked {
		return "☑ "
	}
	return "☐ "
}
