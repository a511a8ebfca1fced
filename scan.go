package parley

import (
	"strings"
	"unicode/utf8"
)

// Windows are made of messages, which are stored as this package encodes them, without
// spaces: reading them as such takes a fifth of the time that encoding/json takes,
// which was a sixth of all that a busy daemon did. What looks different in any way,
// and what has more than text, is left to encoding/json.

// scanMessage decodes a message of text. It reports false if it is anything else.
func scanMessage(data []byte, m *Message) bool {
	s := scanner{rest: string(data), ok: utf8.Valid(data)}
	s.object(func(key string) {
		switch key {
		case "id":
			m.ID = s.text()
		case "role":
			m.Role = MessageRole(s.text())
		case "parts":
			s.array(func() { m.Parts = append(m.Parts, s.part()) })
		case "inputs":
			s.array(func() { m.Inputs = append(m.Inputs, s.inputRef()) })
		case "model":
			m.Model = s.text()
		case "undirected":
			m.Undirected = s.bool()
		case "hidden":
			m.Hidden = s.bool()
		default:
			s.ok = false
		}
	})
	return s.ok && s.rest == ""
}

func (s *scanner) part() (p Part) {
	s.object(func(key string) {
		switch key {
		case "type":
			p.Kind = PartKind(s.text())
		case "text":
			p.Text = s.text()
		case "note":
			p.Note = s.bool()
		default:
			s.ok = false
		}
	})
	return p
}

func (s *scanner) inputRef() (r InputRef) {
	s.object(func(key string) {
		switch key {
		case "origin":
			r.Origin = s.text()
		case "id":
			r.ID = s.text()
		default:
			s.ok = false
		}
	})
	return r
}

// scanner reads JSON from the front. Once it meets something that it does not know, it
// is not ok, and all else that it gives means nothing.
type scanner struct {
	rest string
	ok   bool
}

// takes reports whether s begins with c, and takes it.
func (s *scanner) takes(c byte) bool {
	if !s.ok || s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) expect(c byte) {
	if !s.takes(c) {
		s.ok = false
	}
}

// object calls field for each name, which reads its value. A name that comes twice is
// not known: encoding/json has rules for that.
func (s *scanner) object(field func(name string)) {
	s.expect('{')
	if s.takes('}') {
		return
	}
	var names [8]string
	for i := 0; s.ok; i++ {
		name := s.text()
		for _, before := range names[:min(i, len(names))] {
			if before == name {
				s.ok = false
			}
		}
		if i >= len(names) {
			s.ok = false
			return
		}
		names[i] = name
		s.expect(':')
		if s.ok {
			field(name)
		}
		if !s.takes(',') {
			break
		}
	}
	s.expect('}')
}

// array calls item for each value, which reads it. An empty one is not known.
func (s *scanner) array(item func()) {
	s.expect('[')
	for s.ok {
		item()
		if !s.takes(',') {
			break
		}
	}
	s.expect(']')
}

func (s *scanner) bool() bool {
	if rest, found := strings.CutPrefix(s.rest, "true"); found {
		s.rest = rest
		return true
	}
	s.ok = false // false is left out where this package encodes
	return false
}

// escapes are the letters behind a backslash and what they stand for.
const escapes = "n\nt\tr\r\"\"\\\\//b\bf\f"

func (s *scanner) text() string {
	s.expect('"')
	if !s.ok {
		return ""
	}
	var b strings.Builder
	for start, i := 0, 0; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c < ' ':
			s.ok = false
			return ""
		case c == '"':
			text := s.rest[start:i]
			s.rest = s.rest[i+1:]
			if b.Len() == 0 {
				return text
			}
			b.WriteString(text)
			return b.String()
		case c == '\\':
			b.WriteString(s.rest[start:i])
			i++
			at := -1
			if i < len(s.rest) {
				at = strings.IndexByte(escapes, s.rest[i])
			}
			if at < 0 || at%2 != 0 {
				s.ok = false
				return ""
			}
			b.WriteByte(escapes[at+1])
			start = i + 1
		}
	}
	s.ok = false
	return ""
}
