package parley

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Windows are made of messages, which are stored as this package encodes them, without
// spaces: reading them as such takes a quarter of the time that encoding/json takes,
// which was a sixth of all that a busy daemon did. What looks different in any way,
// and what has more than text, is left to encoding/json.

// scanMessage decodes a message of text. It is not ok if it is anything else.
func scanMessage(data []byte) (m *Message, ok bool) {
	m = new(Message)
	s := scanner{rest: data, ok: utf8.Valid(data)}
	s.object(func(key []byte) {
		switch string(key) {
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
	return m, s.ok && len(s.rest) == 0
}

func (s *scanner) part() (p Part) {
	s.object(func(key []byte) {
		switch string(key) {
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
	s.object(func(key []byte) {
		switch string(key) {
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
// is not ok, and all else that it gives means nothing. What it gives does not share the
// memory of what it reads.
type scanner struct {
	rest []byte
	ok   bool
}

// takes reports whether the rest begins with c, and takes it.
func (s *scanner) takes(c byte) bool {
	if !s.ok || len(s.rest) == 0 || s.rest[0] != c {
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

// maxNames is how many fields an object may have.
const maxNames = 8

// object calls field for each name, which reads its value. A name that comes twice is
// not known: encoding/json has rules for that.
func (s *scanner) object(field func(name []byte)) {
	s.expect('{')
	if s.takes('}') {
		return
	}
	var names [maxNames][]byte
	for i := 0; s.ok; i++ {
		name, escaped := s.quoted()
		s.expect(':')
		if escaped || i == maxNames {
			s.ok = false
		}
		for _, before := range names[:min(i, maxNames)] {
			if bytes.Equal(before, name) {
				s.ok = false
			}
		}
		if !s.ok {
			return
		}
		names[i] = name
		field(name)
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

// bool reads true. This package leaves false out where it encodes.
func (s *scanner) bool() bool {
	rest, found := bytes.CutPrefix(s.rest, []byte("true"))
	s.rest, s.ok = rest, s.ok && found
	return found
}

// quoted takes a string, as it stands between its quotes.
func (s *scanner) quoted() (raw []byte, escaped bool) {
	s.expect('"')
	for i := 0; s.ok && i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			raw, s.rest = s.rest[:i], s.rest[i+1:]
			return raw, escaped
		case c == '\\':
			escaped = true
			i++ // what comes next does not end it
		case c < ' ':
			s.ok = false
		}
	}
	s.ok = false
	return nil, false
}

// escapes are the letters behind a backslash, each with what it stands for.
const escapes = "n\nt\tr\r\"\"\\\\//b\bf\f"

func (s *scanner) text() string {
	raw, escaped := s.quoted()
	if !escaped {
		return string(raw)
	}
	var b strings.Builder
	b.Grow(len(raw))
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			b.Write(raw)
			return b.String()
		}
		// There is a letter behind it: else the quote would not have been the end.
		at := strings.IndexByte(escapes, raw[i+1])
		if at < 0 || at%2 != 0 {
			s.ok = false
			return ""
		}
		b.Write(raw[:i])
		b.WriteByte(escapes[at+1])
		raw = raw[i+2:]
	}
}
