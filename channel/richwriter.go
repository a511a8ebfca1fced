package channel

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// nested writes what is in a list item, or in a quote within a quote. Its marker is
// written even if nothing else is.
func (w *writer) nested(l level, write func()) {
	w.levels = append(w.levels, &l)
	write()
	w.flushMarkers()
	w.levels = w.levels[:len(w.levels)-1]
}

// flushMarkers writes a line with the markers that wait for one.
func (w *writer) flushMarkers() {
	for _, l := range w.levels {
		if l.marker != "" {
			w.begin()
			return
		}
	}
}

// begin begins the first line of a block.
func (w *writer) begin() {
	w.separate()
	for _, l := range w.levels {
		if l.marker != "" {
			w.text.WriteString(l.marker)
			l.marker = ""
		} else {
			w.text.WriteString(l.indent)
		}
	}
}

// separate writes what is between two blocks.
func (w *writer) separate() {
	if w.text.Len() > 0 {
		if w.gap == "" {
			w.gap = "\n"
		}
		w.text.WriteString(w.gap)
	}
	w.gap = ""
}

// write writes text within a block; its lines are indented as the block is.
func (w *writer) write(text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			w.newline()
		}
		w.text.WriteString(line)
	}
}

func (w *writer) newline() {
	w.text.WriteString("\n")
	for _, l := range w.levels {
		w.text.WriteString(l.indent)
	}
}

// span has what is written look so.
func (w *writer) span(s Span, write func()) {
	s.Start = w.text.Len()
	write()
	s.End = w.text.Len()
	if s.Start < s.End {
		w.spans = append(w.spans, s)
	}
}

// lines gives the lines of a block of code or HTML.
func lines(n ast.Node, source []byte) string {
	return string(n.Lines().Value(source))
}

// infoString gives the language that a fence names, and what else stands there if that
// does not look like a setting of some other program: it is the first line of the code
// then, as somebody began to write right behind the fence.
func infoString(n *ast.FencedCodeBlock, source []byte) (language, rest string) {
	if n.Info == nil {
		return "", ""
	}
	info := strings.TrimSpace(unescape(n.Info.Segment.Value(source)))
	first, others, _ := strings.Cut(info, " ")
	name := strings.Trim(first, "{}.")
	if !languageName(name) || others != "" && !strings.ContainsAny(others, "=:{[") {
		return "", info + "\n"
	}
	return name, ""
}

func languageName(name string) bool {
	return name != "" && len(name) <= 32 && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("+#-_./", c)
	})
}

// definition writes a definition of a link that nothing refers to: it was meant as text.
func definition(n *ast.LinkReferenceDefinition) string {
	line := "[" + unescape(n.Label) + "]: " + unescape(n.Destination)
	if len(n.Title) > 0 {
		line += " " + unescape(n.Title)
	}
	return line
}

// unescape gives what a reader sees of text: without the backslashes of escapes, and
// with the characters that entities stand for.
func unescape(raw []byte) string {
	if !bytes.ContainsAny(raw, `\&`) {
		return string(raw)
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		switch {
		case raw[i] == '\\' && i+1 < len(raw) && util.IsPunct(raw[i+1]):
			b.WriteByte(raw[i+1])
			i += 2
		case raw[i] == '&':
			entity := raw[i:min(len(raw), i+40)]
			entity = entity[:bytes.IndexByte(entity, ';')+1]
			b.WriteString(resolve(entity))
			i += max(1, len(entity))
		default:
			b.WriteByte(raw[i])
			i++
		}
	}
	return clean(b.String())
}

// resolve gives what an entity stands for, or the entity if that is nothing. Without
// one, it is an ampersand.
func resolve(entity []byte) string {
	if len(entity) == 0 {
		return "&"
	}
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(entity)))
}
