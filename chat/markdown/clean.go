package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	joiner    = '\u200d' // joins emoji into one
	nonJoiner = '\u200c' // keeps letters apart that would be joined

	// shallow is put where a line is within more quotes and lists than anyone writes,
	// which ends them: parsers take forever with thousands. It is invisible, is taken
	// out of all other text, and is never drawn.
	shallow = '\u200b'
	deepest = 40
)

// cleaner makes text harmless for a terminal, piece by piece. It keeps the end of
// a piece that means nothing without what follows.
type cleaner struct {
	partial []byte // the start of a character
	cr      bool   // a carriage return came last, whose line feed may follow
	within  bool   // the line has begun with something else than marks of quotes and lists
	depth   int    // how many such marks the line has so far
}

// clean appends the cleaned text to source.
func (c *cleaner) clean(source []byte, text string) []byte {
	if len(c.partial) > 0 {
		text = string(c.partial) + text
		c.partial = c.partial[:0]
	}
	for len(text) > 0 {
		if !utf8.FullRuneInString(text) {
			c.partial = append(c.partial, text...)
			return source
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		if r == '\n' && c.cr {
			c.cr = false // the line ended with the carriage return
			continue
		}
		c.cr = r == '\r'
		switch r {
		case '\r', '\n':
			source = append(source, '\n')
			c.within, c.depth = false, 0
		case '\t':
			source = append(source, '\t')
		default:
			if r = harmless(r); r >= 0 {
				source = utf8.AppendRune(c.limitDepth(source, r), r)
			}
		}
	}
	return source
}

// limitDepth ends the marks of quotes and lists at the start of a line if there are
// too many of them.
func (c *cleaner) limitDepth(source []byte, next rune) []byte {
	if c.within || next == ' ' {
		return source
	}
	if !strings.ContainsRune(">-+*.)0123456789", next) {
		c.within = true
		return source
	}
	afterSpace := len(source) > 0 && (source[len(source)-1] == ' ' || source[len(source)-1] == '\t')
	if next == '>' || afterSpace {
		c.depth++
	}
	if c.depth > deepest {
		c.within = true
		return utf8.AppendRune(source, shallow)
	}
	return source
}

// flush ends the text: a character that is not whole stays one that is not.
func (c *cleaner) flush(source []byte) []byte {
	for range c.partial {
		source = utf8.AppendRune(source, utf8.RuneError)
	}
	c.partial = c.partial[:0]
	return source
}

// harmless gives what is shown for a character; -1 stands for nothing.
func harmless(r rune) rune {
	switch {
	case r < ' ':
		return '\u2400' + r // the pictures of control characters are in their order
	case r < 0x7f:
		return r
	case r == 0x7f:
		return '\u2421'
	case r < 0xa0:
		return utf8.RuneError // controls as well, which have no pictures
	case r == '\u2028', r == '\u2029':
		return ' ' // line ends that Markdown does not know
	case r == joiner, r == nonJoiner:
		return r
	case unicode.Is(unicode.Cf, r):
		// Invisible: they turn the direction of text, hide it, or are counted
		// differently by every terminal.
		return -1
	}
	return r
}

// harmlessText is harmless for a whole text of one line. It is for what comes out
// of the parser, where a character reference may have been anything.
func harmlessText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return harmless(r)
	}, text)
}
