package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The limits of what is read. They are far beyond any real script, and keep the
// work on a hostile one small.
const (
	MaxScriptBytes = 1 << 20
	maxNesting     = 32
	maxTokens      = 100_000
	maxKeys        = 10_000
)

// kind is what a node is.
type kind int

const (
	kindNull kind = iota
	kindBool
	kindInt
	kindFloat
	kindText
	kindList
	kindMap
)

func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a whole number", "a number", "text", "a list", "a map"}[k]
}

// place is where something stands; both count from 1.
type place struct{ line, column int }

// node is a value as it was written.
type node struct {
	place
	kind kind
	text string // of a scalar, as written but without quotes and escapes
	raw  string // of a number: its JSON, or "" if there is none
	list []node
	keys []entry
}

// entry is a key of a map and its value.
type entry struct {
	place
	name  string
	value node
}

// read gives the document in data. What it gives is of no use if there are
// problems.
func (r *reader) read(data []byte) node {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		data = untabbed(data)
	}
	if !r.plain(data) {
		return node{}
	}
	tokens := lexer.Tokenize(string(data))
	if !r.bounded(tokens) {
		return node{}
	}
	body := r.parse(tokens)
	if body == nil {
		return node{place: place{1, 1}}
	}
	return r.node(body, 1)
}

// untabbed puts spaces for the tabs before the lines of JSON, where they are
// allowed, and in which no text goes on in the next line.
func untabbed(data []byte) []byte {
	data = bytes.Clone(data)
	for i, indent := 0, true; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n':
			indent = true
		case c == '\t' && indent:
			data[i] = ' '
		case c != ' ':
			indent = false
		}
	}
	return data
}

// plain reports whether data is text that the parser can be given.
func (r *reader) plain(data []byte) bool {
	if len(data) > MaxScriptBytes {
		r.fail(place{1, 1}, "the file has more than %d bytes; is that a script?", MaxScriptBytes)
		return false
	}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if !utf8.Valid(text) {
			r.fail(place{line, 1}, "there is a byte that is not UTF-8; save the file as UTF-8")
			return false
		}
		if i := bytes.IndexFunc(text, func(c rune) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f }); i >= 0 {
			r.fail(place{line, utf8.RuneCount(text[:i]) + 1}, "there is a control character, %U; remove it", text[i])
			return false
		}
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		if i := bytes.IndexByte(indent, '\t'); i >= 0 && len(bytes.TrimSpace(text)) > 0 {
			r.fail(place{line, i + 1}, "the line is indented with a tab; use spaces")
			return false
		}
	}
	return true
}

// bounded refuses documents whose shape is more work than their size.
func (r *reader) bounded(tokens token.Tokens) bool {
	depth, keys, inLine, line := 0, 0, 0, 0
	for i, t := range tokens {
		if t.Position.Line != line {
			line, inLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(0, depth-1)
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			inLine++
		case token.MappingValueType:
			keys++
		default:
		}
		switch {
		case depth > maxNesting || inLine > maxNesting:
			r.fail(at(t), "maps and lists are nested more than %d deep", maxNesting)
		case i > maxTokens || keys > maxKeys:
			r.fail(at(t), "the file has too many words and keys up to here; is that a script?")
		default:
			continue
		}
		return false
	}
	return true
}

// at gives the place of a token.
func at(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{max(1, t.Position.Line), max(1, t.Position.Column)}
}

// parse gives the one document that the tokens make up, or nil. The library's
// faults become problems too: it is handed whatever somebody has in a file.
func (r *reader) parse(tokens token.Tokens) (body ast.Node) {
	defer func() {
		if p := recover(); p != nil {
			r.fail(place{1, 1}, "this is not YAML that can be read; make it simpler, part by part, to find the place")
			body = nil
		}
	}()
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		p, message := place{1, 1}, "it cannot be read"
		if e, ok := errors.AsType[yaml.Error](err); ok {
			p, message = at(e.GetToken()), e.GetMessage()
		}
		r.fail(p, "this is not YAML: %s", message)
		return nil
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			r.fail(at(doc.Body.GetToken()), "a second document begins here; a script is one, so remove the line ---")
			return nil
		}
		body = doc.Body
	}
	return body
}

// node converts a node of the parser and what is in it.
func (r *reader) node(from ast.Node, depth int) node {
	if from == nil {
		return node{place: place{1, 1}}
	}
	n := node{place: at(from.GetToken())}
	if depth > maxNesting {
		r.fail(n.place, "maps and lists are nested more than %d deep", maxNesting)
		return n
	}
	switch from := from.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		n.kind, n.text = kindBool, fmt.Sprint(from.Value)
	case *ast.IntegerNode:
		n.kind, n.text, n.raw = kindInt, from.Token.Value, number(from.Value)
	case *ast.FloatNode:
		n.kind, n.text, n.raw = kindFloat, from.Token.Value, number(from.Value)
	case *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = kindFloat, from.GetToken().Value
	case *ast.StringNode:
		n.kind, n.text = kindText, r.storable(n.place, from.Value)
		// YAML wants a point in 1e3, and JSON does not.
		if from.Token.Type == token.StringType && strings.Trim(n.text, "-+.0123456789eE") == "" && json.Valid([]byte(n.text)) {
			n.kind, n.raw = kindFloat, n.text
		}
	case *ast.LiteralNode:
		n.kind, n.text = kindText, r.storable(n.place, from.Value.Value)
	case *ast.SequenceNode:
		n.kind = kindList
		for _, item := range from.Values {
			n.list = append(n.list, r.node(item, depth+1))
		}
	case *ast.MappingNode:
		n.kind = kindMap
		r.entries(&n, from.Values, depth)
	case *ast.MappingValueNode:
		n.kind = kindMap
		r.entries(&n, []*ast.MappingValueNode{from}, depth)
	default:
		r.fail(n.place, "anchors, aliases, tags and directives have no use here; write the value itself")
	}
	return n
}

func (r *reader) entries(n *node, values []*ast.MappingValueNode, depth int) {
	seen := map[string]int{}
	for i, v := range values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			p := n.place
			if v.Key != nil {
				p = at(v.Key.GetToken())
			}
			r.fail(p, "a key is a single word; put it in quotes if it looks like something else")
			continue
		}
		p := at(key.Token)
		if i == 0 {
			n.place = p
		}
		if line, twice := seen[key.Value]; twice {
			r.fail(p, "%q is there twice, first in line %d; remove one of them", cut(key.Value, 40), line)
			continue
		}
		seen[key.Value] = p.line
		n.keys = append(n.keys, entry{place: p, name: r.storable(p, key.Value), value: r.node(v.Value, depth+1)})
	}
}

// storable refuses text that no store takes. It can be written with escapes.
func (r *reader) storable(p place, text string) string {
	if clean(text) != text {
		r.fail(p, "the text has a NUL, or half of a character; remove it")
	}
	return text
}

// number gives a number as JSON, or "" if it cannot be written so.
func number(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}
