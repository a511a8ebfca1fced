package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// open is what is not finished at the end of a text.
type open struct {
	held    int    // so many bytes at the end say nothing yet
	closers []byte // what closes the emphasis and the code that is open before them
}

var (
	halfMark      = regexp.MustCompile("(?:[*_~`]+|\\\\|(?:^|\\s)!)$")
	halfReference = regexp.MustCompile(`&#?[a-zA-Z0-9]{0,31}$`)
	halfLineBreak = regexp.MustCompile(`(?i)<(?:b(?:r *(?:/ *)?)?)?$`)
)

// scanInline looks for what is open at the end of the text of a block.
func scanInline(text []byte) open {
	s := scanner{text: text}
	for range 3 { // what is before something that is held back may have to be as well
		end := len(s.text)
		s.text = s.text[:len(s.text)-heldMark(s.text)]
		s.scan()
		if s.link >= 0 {
			s.text = s.text[:s.link]
		}
		if len(s.text) == end {
			break
		}
	}
	s.scan()
	return open{held: len(text) - len(s.text), closers: s.closers()}
}

// heldMark gives how many bytes at the end are half a marker.
func heldMark(text []byte) int {
	text = text[max(0, len(text)-maxHeldMark):]
	// An image starts with an exclamation mark; most of them end a sentence.
	for _, half := range []*regexp.Regexp{halfMark, halfReference, halfLineBreak} {
		if at := half.FindIndex(text); at != nil {
			return at[1] - at[0]
		}
	}
	return 0
}

// scanner goes through text as the parser does, as far as needed to know what is open.
type scanner struct {
	text []byte
	open []mark // emphasis, outermost first
	code []byte // the mark of open code
	link int    // where a link starts that is not whole; -1 for none
}

// mark is a run of characters that opens emphasis.
type mark struct {
	char  byte
	count int
	at    int
}

func (s *scanner) scan() {
	s.open, s.code, s.link = nil, nil, -1
	var brackets []int
	for i := 0; i < len(s.text); {
		switch c := s.text[i]; c {
		case '\\':
			i += 2
		case '`':
			i = s.codeSpan(i)
		case '<':
			i = s.tag(i)
		case '*', '_', '~':
			i = s.emphasis(i)
		case '[':
			brackets = append(brackets, i)
			i++
		case ']':
			i++
			if len(brackets) == 0 {
				continue
			}
			start := brackets[len(brackets)-1]
			brackets = brackets[:len(brackets)-1]
			i = s.linkEnd(start, i)
		default:
			i++
		}
		if s.link >= 0 || s.code != nil {
			return
		}
	}
	for _, start := range brackets {
		if s.link < 0 {
			s.holdLink(start, maxHeldText)
		}
	}
}

// holdLink holds back a link that is not whole, if it is short and in the last line.
func (s *scanner) holdLink(start, longest int) {
	if len(s.text)-start > longest || bytes.IndexByte(s.text[start:], '\n') >= 0 {
		return
	}
	if start > 0 && s.text[start-1] == '!' {
		start--
	}
	s.link = start
}

// linkEnd goes over what follows the text of a link, from after its bracket.
func (s *scanner) linkEnd(start, i int) int {
	switch {
	case i == len(s.text):
		s.holdLink(start, maxHeldText)
		return i
	case s.text[i] != '(':
		return i
	}
	depth := 0
	for j := i; j < len(s.text) && j-start <= maxHeldLink; j++ {
		switch s.text[j] {
		case '\\':
			j++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	s.holdLink(start, maxHeldLink)
	return i
}

// codeSpan goes over code, from its mark.
func (s *scanner) codeSpan(i int) int {
	n := runLength(s.text[i:])
	for j := i + n; j < len(s.text); {
		if s.text[j] != '`' {
			j++
			continue
		}
		m := runLength(s.text[j:])
		j += m
		if m == n {
			return j
		}
	}
	if rest := s.text[i+n:]; len(rest) <= maxHeldMark && len(bytes.TrimSpace(rest)) > 0 {
		s.code = s.text[i : i+n]
	}
	return i + n
}

// tag goes over HTML and addresses in angle brackets.
func (s *scanner) tag(i int) int {
	if end := bytes.IndexByte(s.text[i:], '>'); end > 1 && !unicode.IsSpace(rune(s.text[i+1])) {
		return i + end + 1
	}
	return i + 1
}

// emphasis goes over a run that opens or closes emphasis.
func (s *scanner) emphasis(i int) int {
	char, n := s.text[i], runLength(s.text[i:])
	opens, closes := flanks(s.text, i, i+n)
	left := n
	for at := len(s.open) - 1; closes && at >= 0 && left > 0; at-- {
		m := &s.open[at]
		if m.char != char {
			continue
		}
		used := min(m.count, left)
		left -= used
		m.count -= used
		if m.count > 0 {
			s.open = s.open[:at+1]
			break
		}
		s.open = s.open[:at]
	}
	if opens && left > 0 && (char != '~' || n == 2) && left <= 3 {
		s.open = append(s.open, mark{char, left, i})
	}
	return i + n
}

// flanks reports whether a run may open and may close emphasis. Within words the
// parser lets a star do both; here it opens nothing there, as it rarely means to.
func flanks(text []byte, start, end int) (opens, closes bool) {
	before, _ := utf8.DecodeLastRune(text[:start])
	after, _ := utf8.DecodeRune(text[end:])
	spaceBefore, spaceAfter := start == 0 || unicode.IsSpace(before), end == len(text) || unicode.IsSpace(after)
	wordBefore := !spaceBefore && !punctuation(before)
	wordAfter := !spaceAfter && !punctuation(after)
	opens = !spaceAfter && !wordBefore && (wordAfter || spaceBefore || punctuation(before))
	closes = !spaceBefore && (wordBefore || spaceAfter || punctuation(after))
	return opens, closes
}

func punctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func runLength(text []byte) int {
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

// closers gives what closes all that is open, innermost first.
func (s *scanner) closers() []byte {
	out := bytes.Clone(s.code)
	if len(bytes.TrimSpace(s.text)) == 0 {
		return nil
	}
	for _, m := range slices.Backward(s.open) {
		if m.count < 2 && len(s.text)-m.at > maxHeldMark {
			continue
		}
		out = append(out, bytes.Repeat([]byte{m.char}, m.count)...)
	}
	return out
}
