package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/parley-run/parley"
)

const (
	maxCalls     = 128
	maxArguments = 256 << 10 // bytes of one call's arguments
)

// calls are the calls of an answer, put together from their pieces.
type calls struct{ list []*call }

type call struct {
	index     int
	id, name  string
	arguments strings.Builder
}

// add takes a piece of a call. It gives what is wrong with it, or nothing.
func (cs *calls) add(d callDelta) (problem string) {
	c := cs.find(d)
	if c == nil {
		if len(cs.list) == maxCalls {
			return "it has too many calls"
		}
		c = &call{index: len(cs.list)}
		if d.Index != nil {
			c.index = *d.Index
		}
		cs.list = append(cs.list, c)
	}
	if c.id == "" {
		c.id = d.ID
	}
	if c.name == "" {
		c.name = strings.Map(printable, d.Function.Name)
	}
	if len(c.name) > parley.MaxNameBytes {
		return "the name of a call is too long"
	}
	c.arguments.WriteString(argumentText(d.Function.Arguments))
	if c.arguments.Len() > maxArguments {
		return "the arguments of a call are too long"
	}
	return ""
}

// printable drops control characters, which no stored name has.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}

// find gives the call that a piece belongs to, or nil if it starts one. Servers
// number calls, name them by id, do both, or neither; and some number all of them
// with 0.
func (cs *calls) find(d callDelta) *call {
	for _, c := range slices.Backward(cs.list) {
		if d.Index != nil && *d.Index != c.index {
			continue
		}
		if d.Index == nil && d.ID != "" && c.id != "" && d.ID != c.id {
			continue
		}
		if c.another(d) {
			return nil
		}
		return c
	}
	return nil
}

// another reports whether a piece with the number of c starts another call.
func (c *call) another(d callDelta) bool {
	switch {
	case d.Function.Name == "" || c.name == "":
		return false // a piece that goes on has no name, or the name comes late
	case d.ID != "" && c.id != "":
		return d.ID != c.id
	case d.Function.Name != c.name:
		return true
	}
	// The same name again, and no ids to tell: a repetition, unless the arguments
	// of the first are whole and others follow.
	have := c.arguments.String()
	return strings.HasSuffix(have, "}") && json.Valid([]byte(have)) && argumentText(d.Function.Arguments) != ""
}

// argumentText gives arguments as text. They are a string that holds JSON; some
// servers send the JSON itself.
func argumentText(raw json.RawMessage) string {
	var text string
	switch {
	case empty(raw):
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// whole gives the calls, in the order in which they were started, and what is
// wrong with them. If the answer was cut off, those that are not whole are left
// out.
func (cs *calls) whole(cut bool) (out []*parley.ToolCall, problem string) {
	for _, c := range cs.list {
		text := c.arguments.String()
		switch {
		case cut && (c.name == "" || !json.Valid([]byte(text))):
			continue
		case c.name == "":
			return nil, "a call has no name"
		}
		out = append(out, &parley.ToolCall{ID: parley.CallID(c.id), Name: c.name, Arguments: arguments(text)})
	}
	return out, ""
}

// arguments gives arguments as JSON: as they are, {} for none, or as a string if
// they are no JSON that could be stored.
func arguments(text string) json.RawMessage {
	switch strings.TrimSpace(text) {
	case "", "null":
		return json.RawMessage(`{}`)
	}
	var out bytes.Buffer
	if json.Compact(&out, []byte(text)) == nil && shallow(out.Bytes()) {
		return out.Bytes()
	}
	out.Reset()
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return json.RawMessage(`""`) // cannot be: a string is always JSON
	}
	return bytes.TrimSpace(out.Bytes())
}

// shallow reports whether JSON is nested no deeper than can be stored.
func shallow(data []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > parley.MaxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}
