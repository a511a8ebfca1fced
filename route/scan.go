package route

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parley-run/parley"
)

// scanner reads the one kind of JSON object that questions are. It does for a
// line what encoding/json does in four times the time, and is stricter: names
// have to be exact and may stand there once. Whatever is not plain goes through
// encoding/json.
type scanner struct {
	data []byte
	pos  int
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// next gives the next character that is not white space, or 0 at the end. It
// stays where it is.
func (s *scanner) next() byte {
	s.space()
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// take passes over a character that has to be there.
func (s *scanner) take(c byte) error {
	if got := s.next(); got != c {
		return s.unexpected(fmt.Sprintf("%q is missing", c))
	}
	s.pos++
	return nil
}

// unexpected is the error for what does not belong where it stands.
func (s *scanner) unexpected(wrong string) error {
	if s.pos >= len(s.data) {
		return parley.Errorf(parley.CodeInvalid, "the line ends before its JSON object does")
	}
	rest := s.data[s.pos:]
	return parley.Errorf(parley.CodeInvalid, "the line is not JSON: %s before %s", wrong, quote(string(rest[:min(len(rest), 20)])))
}

// object calls field for each member; its number is the name's place in names.
// A name that is not there, or comes twice, is refused; where says where.
func (s *scanner) object(where string, names []string, field func(i int) error) error {
	if s.next() != '{' {
		if where == "" {
			return s.mistyped("the line", "an object")
		}
		return s.mistyped(where, "an object")
	}
	s.pos++
	var seen uint32
	for first := true; ; first = false {
		if c := s.next(); c == '}' && first {
			s.pos++
			return nil
		}
		if s.next() != '"' {
			return s.unexpected("a name in quotes is missing")
		}
		name, err := s.bytes()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(names, func(known string) bool { return known == string(name) })
		if i < 0 {
			return parley.Errorf(parley.CodeInvalid, "there is no field %s%s", quote(string(name)), in(where))
		}
		if seen&(1<<i) != 0 {
			return parley.Errorf(parley.CodeInvalid, "field %s is there twice%s", quote(string(name)), in(where))
		}
		seen |= 1 << i
		if err := s.take(':'); err != nil {
			return err
		}
		if err := field(i); err != nil {
			return err
		}
		if s.next() == '}' {
			s.pos++
			return nil
		}
		if err := s.take(','); err != nil {
			return err
		}
	}
}

func in(where string) string {
	if where == "" {
		return ""
	}
	return " in " + where
}

// list calls entry for each entry of a list.
func (s *scanner) list(name string, entry func() error) error {
	if s.next() != '[' {
		return s.mistyped(name, "a list")
	}
	s.pos++
	if s.next() == ']' {
		s.pos++
		return nil
	}
	for {
		if err := entry(); err != nil {
			return err
		}
		if s.next() == ']' {
			s.pos++
			return nil
		}
		if err := s.take(','); err != nil {
			return err
		}
	}
}

// mistyped is the error for a value of the wrong kind, if it is one at all.
func (s *scanner) mistyped(name, want string) error {
	raw, err := s.value()
	if err != nil {
		return err
	}
	return parley.Errorf(parley.CodeInvalid, "%s must be %s, not %s", name, want, quote(string(raw)))
}

// text reads a text in quotes.
func (s *scanner) text() (string, error) {
	b, err := s.bytes()
	return string(b), err
}

// bytes is text for what is looked at and not kept.
func (s *scanner) bytes() ([]byte, error) {
	start := s.pos + 1
	for i := start; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return s.data[start:i], nil
		case c == '\\' || c < ' ':
			return s.oddText()
		}
	}
	s.pos = len(s.data)
	return nil, s.unexpected("")
}

// oddText reads a text with escapes in it.
func (s *scanner) oddText() ([]byte, error) {
	raw, err := s.value()
	if err != nil {
		return nil, err
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, parley.Errorf(parley.CodeInvalid, "the line is not JSON: %s cannot be read as a text", quote(string(raw)))
	}
	return []byte(text), nil
}

// word reads a text, or a number as it is written, because platforms have
// numbers for ids; null is an empty text.
func (s *scanner) word(name string) (string, error) {
	c := s.next()
	if c == '"' {
		return s.text()
	}
	if c != 'n' && c != '-' && (c < '0' || c > '9') {
		return "", s.mistyped(name, "a text")
	}
	raw, err := s.value()
	if err != nil || c == 'n' {
		return "", err
	}
	return string(raw), nil
}

// flag reads true or false; null is neither.
func (s *scanner) flag(name string) (*bool, error) {
	c := s.next()
	if c != 't' && c != 'f' && c != 'n' {
		return nil, s.mistyped(name, "true or false")
	}
	if _, err := s.value(); err != nil || c == 'n' {
		return nil, err
	}
	b := c == 't'
	return &b, nil
}

// null passes over a null, if there is one.
func (s *scanner) null() (bool, error) {
	if s.next() != 'n' {
		return false, nil
	}
	_, err := s.value()
	return err == nil, err
}

// value passes over any value and gives its text, which is valid JSON.
func (s *scanner) value() ([]byte, error) {
	s.space()
	start, depth := s.pos, 0
	for {
		switch s.next() {
		case 0:
			return nil, s.unexpected("a value is missing")
		case '"':
			s.quoted()
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			if depth == 0 {
				return nil, s.unexpected("a value is missing")
			}
			depth--
			s.pos++
		case ',', ':':
			if depth == 0 {
				return nil, s.unexpected("a value is missing")
			}
			s.pos++
		default:
			s.bare()
		}
		if depth > 0 {
			continue
		}
		if raw := s.data[start:s.pos]; json.Valid(raw) {
			return raw, nil
		}
		if s.pos == len(s.data) && s.data[start] == '"' {
			return nil, s.unexpected("")
		}
		s.pos = start
		return nil, s.noValue()
	}
}

// noValue is the error for what stands where a value should.
func (s *scanner) noValue() error {
	rest := s.data[s.pos:]
	hint := "is no value; a text stands in quotes"
	if rest[0] == '"' {
		hint = "is no text, because of a character or an escape that no text may hold"
	}
	return parley.Errorf(parley.CodeInvalid, "the line is not JSON: %s %s", quote(string(rest[:min(len(rest), 20)])), hint)
}

// quoted passes over a text, escapes and all.
func (s *scanner) quoted() {
	for s.pos++; s.pos < len(s.data); s.pos++ {
		switch s.data[s.pos] {
		case '"':
			s.pos++
			return
		case '\\':
			s.pos++
		}
	}
	s.pos = len(s.data)
}

// bare passes over a number, true, false or null.
func (s *scanner) bare() {
	if i := bytes.IndexAny(s.data[s.pos:], " \t\r\n,:[]{}\""); i >= 0 {
		s.pos += i
		return
	}
	s.pos = len(s.data)
}
