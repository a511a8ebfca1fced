package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// repeated is what a message of the parser has from the file, single signs aside.
// It may be a part of a secret.
var repeated = regexp.MustCompile(`"[^"]{4,}"?`)

// reader turns a file into nodes.
type reader struct {
	place    Place // the file
	problems Problems
	anchors  map[string]ast.Node
	open     map[string]bool // anchors that are being followed
	values   int
	full     bool // too many values; said once
}

// readYAML gives the document in data. It is one of nothing if data holds none,
// or none that can be read.
func readYAML(file string, data []byte) (node, Problems) {
	r := &reader{place: Place{File: file, Line: 1, Column: 1}, anchors: map[string]ast.Node{}, open: map[string]bool{}}
	nothing := node{place: r.place}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	tokens, ok := r.scan(data)
	if !ok {
		return nothing, r.problems
	}
	body, ok := r.parse(tokens)
	if !ok || body == nil {
		return nothing, r.problems
	}
	n := r.node(body, 1)
	return n, r.problems
}

func (r *reader) fail(p Place, format string, args ...any) {
	r.problems = append(r.problems, Problem{p, fmt.Sprintf(format, args...)})
}

// scan refuses what the parser could not be trusted with.
func (r *reader) scan(data []byte) (token.Tokens, bool) {
	if len(data) > MaxFileBytes {
		r.fail(r.place, "the file has more than %s; is that a configuration?", Size(MaxFileBytes))
		return nil, false
	}
	line := 1
	for text := range bytes.Lines(data) {
		p := Place{File: r.place.File, Line: line, Column: 1}
		line++
		if !utf8.Valid(text) {
			p.Column = utf8.RuneCount(validPrefix(text)) + 1
			r.fail(p, "there is a byte that is not UTF-8; save the file as UTF-8")
			continue
		}
		if i := bytes.IndexFunc(text, func(c rune) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f }); i >= 0 {
			p.Column = utf8.RuneCount(text[:i]) + 1
			r.fail(p, "there is a control character, %U; remove it", text[i])
			continue
		}
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		if i := bytes.IndexByte(indent, '\t'); i >= 0 && len(bytes.TrimSpace(text)) > 0 {
			p.Column = i + 1
			r.fail(p, "the line is indented with a tab; use spaces")
		}
	}
	if len(r.problems) > 0 {
		return nil, false
	}
	tokens := lexer.Tokenize(string(data))
	return tokens, r.bounded(tokens)
}

func validPrefix(text []byte) []byte {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size <= 1 {
			return text[:i]
		}
		i += size
	}
	return text
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
		case depth > MaxNesting || inLine > MaxNesting:
			r.fail(r.at(t), "maps and lists are nested more than %d deep", MaxNesting)
		case keys > MaxKeys:
			r.fail(r.at(t), "the file has more than %d keys; is that a configuration?", MaxKeys)
		case i > maxTokens:
			r.fail(r.at(t), "the file has more than %d words and signs; is that a configuration?", maxTokens)
		default:
			continue
		}
		return false
	}
	return true
}

// at gives the place of a token.
func (r *reader) at(t *token.Token) Place {
	p := r.place
	if t != nil && t.Position != nil {
		p.Line, p.Column = max(1, t.Position.Line), max(1, t.Position.Column)
	}
	return p
}

// parse gives the one document that the tokens make up. The library's faults
// become errors too: it is handed whatever somebody has in a file.
func (r *reader) parse(tokens token.Tokens) (body ast.Node, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			r.fail(r.place, "this is not YAML that can be read; make it simpler, part by part, to find the place")
			body, ok = nil, false
		}
	}()
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		p, message := r.place, "it cannot be read"
		if e, ok := errors.AsType[yaml.Error](err); ok {
			p, message = r.at(e.GetToken()), e.GetMessage()
		}
		r.fail(p, "this is not YAML: %s", repeated.ReplaceAllString(message, "…"))
		return nil, false
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if _, directive := doc.Body.(*ast.DirectiveNode); directive {
			continue
		}
		if body != nil {
			p := r.at(doc.Body.GetToken())
			if doc.Start != nil {
				p = r.at(doc.Start)
			}
			r.fail(p, "a second document begins here; a configuration is one, so remove the line ---, or what is before it")
			return nil, false
		}
		body = doc.Body
	}
	return body, true
}

// node converts a node of the parser and what is in it.
func (r *reader) node(from ast.Node, depth int) node {
	if from == nil {
		return node{place: r.place}
	}
	n := node{place: r.at(from.GetToken())}
	if r.values++; r.values > MaxValues {
		if !r.full {
			r.fail(n.place, "there are more than %d values, as aliases repeat others; write less", MaxValues)
		}
		r.full = true
		return n
	}
	if depth > MaxNesting {
		r.fail(n.place, "maps and lists are nested more than %d deep", MaxNesting)
		return n
	}
	switch from := from.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		n.kind, n.text = kindBool, fmt.Sprint(from.Value)
	case *ast.IntegerNode:
		n.kind, n.text = kindInt, from.Token.Value
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = kindFloat, from.GetToken().Value
	case *ast.StringNode:
		n.kind, n.text = kindText, from.Value
		n.quoted = from.Token.Type == token.SingleQuoteType || from.Token.Type == token.DoubleQuoteType
	case *ast.LiteralNode:
		n.kind, n.text, n.quoted = kindText, from.Value.Value, true
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
	case *ast.AnchorNode:
		name := ""
		if from.Name != nil {
			name = from.Name.GetToken().Value
		}
		r.anchors[name] = from.Value
		return r.within(name, from.Value, depth)
	case *ast.AliasNode:
		return r.follow(from, n.place, depth)
	case *ast.TagNode:
		r.fail(n.place, "tags have no use here; remove %s", quote(from.GetToken().Value))
	default:
		r.fail(n.place, "this has no use here; write a plain value")
	}
	return n
}

// follow gives what an alias stands for.
func (r *reader) follow(alias *ast.AliasNode, p Place, depth int) node {
	name := ""
	if alias.Value != nil {
		name = alias.Value.GetToken().Value
	}
	to, ok := r.anchors[name]
	switch {
	case !ok:
		r.fail(p, "there is no anchor %s before this", quote(name))
		return node{place: p}
	case r.open[name]:
		r.fail(p, "the alias %s stands inside what it repeats", quote(name))
		return node{place: p}
	}
	return r.within(name, to, depth)
}

// within converts what an anchor names, in which it must not be repeated.
func (r *reader) within(name string, from ast.Node, depth int) node {
	r.open[name] = true
	defer delete(r.open, name)
	return r.node(from, depth)
}

func (r *reader) entries(n *node, values []*ast.MappingValueNode, depth int) {
	for i, v := range values {
		if v.Key == nil {
			r.fail(n.place, "a key is missing here")
			continue
		}
		p := r.at(v.Key.GetToken())
		if i == 0 && n.place.compare(p) > 0 {
			n.place = p
		}
		name, ok := keyName(v.Key)
		if !ok {
			r.fail(p, "a key is a single word; lists, maps, merges and aliases cannot be keys")
			continue
		}
		n.keys = append(n.keys, entry{name: name, place: p, value: r.node(v.Value, depth+1)})
	}
}

// keyName gives the text of a key.
func keyName(key ast.MapKeyNode) (string, bool) {
	switch k := key.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.BoolNode, *ast.NullNode, *ast.FloatNode:
		return k.GetToken().Value, true
	}
	return "", false
}
