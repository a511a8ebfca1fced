package config

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// readJSON gives the value that a variable holds as JSON.
func readJSON(variable, text string) (node, Problems) {
	r := &jsonReader{variable: variable, text: text, dec: json.NewDecoder(strings.NewReader(text))}
	r.dec.UseNumber()
	n, ok := r.value(1)
	if ok {
		p := r.place(r.dec.InputOffset())
		if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
			r.fail(p, "more follows after the end of the JSON; remove it")
		}
	}
	return n, r.problems
}

type jsonReader struct {
	variable, text string
	dec            *json.Decoder
	values         int
	problems       Problems
}

func (r *jsonReader) fail(p Place, message string) (node, bool) {
	r.problems = append(r.problems, Problem{p, message})
	return node{place: p}, false
}

// place gives the place of what follows after offset bytes.
func (r *jsonReader) place(offset int64) Place {
	rest := r.text[offset:]
	before := r.text[:len(r.text)-len(strings.TrimLeft(rest, " \t\r\n,:"))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return Place{Variable: r.variable, Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line)}
}

// value reads the next value, and reports whether what follows can be read.
func (r *jsonReader) value(depth int) (node, bool) {
	p := r.place(r.dec.InputOffset())
	t, err := r.dec.Token()
	if err != nil {
		return r.fail(p, `this is not JSON; lists and maps in variables are written as JSON, such as ["a","b"] or {"a":1}`)
	}
	if r.values++; r.values > MaxValues {
		return r.fail(p, "there are too many values")
	}
	if depth > MaxNesting {
		return r.fail(p, "maps and lists are nested too deep")
	}
	n := node{place: p}
	switch t := t.(type) {
	case nil:
	case bool:
		n.kind, n.text = kindBool, map[bool]string{true: "true", false: "false"}[t]
	case json.Number:
		n.kind, n.text = kindInt, t.String()
		if strings.ContainsAny(n.text, ".eE") {
			n.kind = kindFloat
		}
	case string:
		n.kind, n.text, n.quoted = kindText, t, true
	case json.Delim:
		if t == '[' {
			return r.items(n, depth)
		}
		return r.entries(n, depth)
	}
	return n, true
}

func (r *jsonReader) items(n node, depth int) (node, bool) {
	n.kind = kindList
	for r.dec.More() {
		item, ok := r.value(depth + 1)
		if !ok {
			return n, false
		}
		n.list = append(n.list, item)
	}
	return r.end(n)
}

func (r *jsonReader) entries(n node, depth int) (node, bool) {
	n.kind = kindMap
	for r.dec.More() {
		key, ok := r.value(depth + 1)
		if !ok {
			return n, false
		}
		value, ok := r.value(depth + 1)
		if !ok {
			return n, false
		}
		n.keys = append(n.keys, entry{name: key.text, place: key.place, value: value})
	}
	return r.end(n)
}

// end reads the bracket that closes a list or a map.
func (r *jsonReader) end(n node) (node, bool) {
	p := r.place(r.dec.InputOffset())
	if _, err := r.dec.Token(); err != nil {
		_, _ = r.fail(p, "this is not JSON: a list or a map is not closed")
		return n, false
	}
	return n, true
}
