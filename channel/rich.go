package channel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rich is text and how parts of it look. Offsets are in bytes of Text.
//
// What this package makes is well-formed, as [Rich.Check] says and [Rich.Tidy]
// achieves for any other.
type Rich struct {
	Text  string `json:"text"`
	Spans []Span `json:"spans,omitempty"`
}

// Span is how a part of a text looks.
type Span struct {
	Kind  Kind `json:"kind"`
	Start int  `json:"start"`
	End   int  `json:"end"` // the first byte after it
	// Language is what a code block is written in, if that is known.
	Language string `json:"language,omitempty"`
	// URL is where a link leads.
	URL string `json:"url,omitempty"`
}

// Kind is a way for text to look.
type Kind string

// The kinds.
const (
	Bold      Kind = "bold"
	Italic    Kind = "italic"
	Underline Kind = "underline"
	Strike    Kind = "strike"
	Spoiler   Kind = "spoiler"
	Code      Kind = "code" // within a line
	Pre       Kind = "pre"  // a block of code
	Link      Kind = "link"
	Quote     Kind = "quote"
)

// rank orders kinds that cover the same text from the outer to the inner one.
func (k Kind) rank() int {
	return slices.Index([]Kind{Quote, Link, Bold, Italic, Underline, Strike, Spoiler, Code, Pre}, k)
}

func (k Kind) known() bool { return k.rank() >= 0 }

// verbatim kinds hold no other span, and lie in a quote at most.
func (k Kind) verbatim() bool { return k == Code || k == Pre }

func (s Span) within(o Span) bool { return o.Start <= s.Start && s.End <= o.End }

// compareSpans puts outer spans before inner ones.
func compareSpans(a, b Span) int {
	return cmp.Or(a.Start-b.Start, b.End-a.End, a.Kind.rank()-b.Kind.rank())
}

// Plain is text that looks like text.
func Plain(text string) Rich { return Rich{Text: clean(text)} }

// Blank reports whether there is nothing to see: white space and characters without
// a shape at most. No platform takes such a message.
func (r Rich) Blank() bool { return blank(r.Text) }

func blank(text string) bool {
	return strings.IndexFunc(text, func(c rune) bool {
		return !unicode.IsSpace(c) && !unicode.In(c, unicode.Cf, unicode.Cc, unicode.Mn, unicode.Variation_Selector) &&
			!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) && c != '\u2800'
	}) < 0
}

// Check gives what is not well-formed. Text is UTF-8 without control characters but
// line ends and tabs. Spans cover something, begin and end between characters, are in
// order, outer ones first, and do not overlap but nest; none lies in one of its own
// kind; code lies in quotes only, and holds nothing; only links have an address.
func (r Rich) Check() error {
	if r.Text != clean(r.Text) {
		return fmt.Errorf("text has bytes that are no characters, or control characters")
	}
	var open []Span
	for i, s := range r.Spans {
		switch {
		case !s.Kind.known():
			return fmt.Errorf("span %d: kind %q is not known", i, s.Kind)
		case s.Start < 0 || s.End > len(r.Text) || s.Start >= s.End:
			return fmt.Errorf("span %d: %d to %d of %d bytes", i, s.Start, s.End, len(r.Text))
		case !atRune(r.Text, s.Start) || !atRune(r.Text, s.End):
			return fmt.Errorf("span %d cuts a character", i)
		case i > 0 && compareSpans(r.Spans[i-1], s) > 0:
			return fmt.Errorf("span %d comes before the one ahead of it", i)
		case (s.Kind == Link) != (s.URL != ""):
			return fmt.Errorf("span %d: a %s with the address %q", i, s.Kind, s.URL)
		case s.Kind != Pre && s.Language != "":
			return fmt.Errorf("span %d: a %s with a language", i, s.Kind)
		case strings.TrimSpace(r.Text[s.Start:s.End]) == "":
			return fmt.Errorf("span %d covers white space only", i)
		}
		open = slices.DeleteFunc(open, func(o Span) bool { return o.End <= s.Start })
		for _, o := range open {
			switch {
			case !s.within(o):
				return fmt.Errorf("span %d (%s) overlaps a %s", i, s.Kind, o.Kind)
			case s.Kind == o.Kind:
				return fmt.Errorf("span %d: a %s within a %s", i, s.Kind, o.Kind)
			case o.Kind.verbatim(), s.Kind.verbatim() && o.Kind != Quote, s.Kind == Quote:
				return fmt.Errorf("span %d: a %s within a %s", i, s.Kind, o.Kind)
			}
		}
		open = append(open, s)
	}
	return nil
}

func atRune(text string, i int) bool { return i == len(text) || utf8.RuneStart(text[i]) }

// clean gives text without what platforms do not take: bytes that are no characters,
// and control characters other than line ends and tabs.
func clean(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if !strings.ContainsFunc(text, func(c rune) bool { return cleaned(c) != c }) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(cleaned, text)
}

func cleaned(c rune) rune {
	switch {
	case c == '\n', c == '\t':
		return c
	case c == '\r', c == '\u2028', c == '\u2029', c == '\u0085':
		return '\n'
	case unicode.IsControl(c):
		return ' '
	}
	return c
}
