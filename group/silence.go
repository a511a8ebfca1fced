package group

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The markers by which a model says that it says nothing. They stay in the log,
// and are taken out wherever a person reads.
const (
	NoReply       = "<NO_REPLY>"
	EmptyResponse = "<EMPTY_RESPONSE>" // an older one
)

// No marker holds a "<" but its first byte. The code below rests on that: two
// markers never overlap, and in whatever stands open the last "<" begins what
// can be completed next.
var markers = []string{NoReply, EmptyResponse}

// maxHeld is how many bytes of markers that have begun are held back; with the
// beginning of a character that is under 64.
const maxHeld = 60

// Strip gives what a person is shown of a model's text, and whether that is
// nothing because the model wanted it so.
//
// Markers are taken out until none is left, then white space at both ends. If
// there was a marker, and nothing remains but what models put around it (white
// space, zero-width characters, quotes, dots, and the characters of Markdown that
// mark or divide), the text is silent and nothing is shown.
func Strip(text string) (shown string, silent bool) {
	if !strings.Contains(text, "<") {
		return strings.TrimSpace(text), false
	}
	var f Filter
	shown = f.Write(text)
	rest, silent := f.Flush()
	return shown + rest, silent
}

// Filter is [Strip] for a text that is still being written. What Write and Flush
// give, put together, is what Strip gives for the whole text, however it was
// split.
//
// It holds back what may not be shown in the end. Until something is certain to
// be shown, that is all that could surround a silent answer. From then on it is
// white space at the end and a marker that has begun (also one inside another),
// of which it keeps under 64 bytes: markers nested so deep that they would need
// more lose their ends only, so that none is left either way.
//
// The zero value is ready to use. It is for one goroutine at a time.
type Filter struct {
	cut    string // the beginning of a character; it may go on behind a marker
	held   string // markers that have begun, one in the other
	given  string // a marker's beginning that was given up because held got too long; held goes on from there
	lead   []byte // what came before anything that is shown for certain
	space  []byte // white space at the end
	begun  bool   // something was shown
	marked bool   // there was a marker
}

// Write takes the next piece of the text and gives what can be shown by now.
func (f *Filter) Write(piece string) string {
	var out []byte
	f.take(&out, piece)
	return string(out)
}

// Flush ends the text and gives what is left to show, and whether the text was
// silent. The filter is then as good as new.
func (f *Filter) Flush() (rest string, silent bool) {
	var out []byte
	f.show(&out, f.held)
	f.place(&out, f.cut) // it never became a character
	if !f.begun {
		if silent = f.marked; !silent {
			out = []byte(strings.TrimSpace(string(f.lead)))
		}
	}
	*f = Filter{}
	return string(out), silent
}

// take looks for markers in text.
func (f *Filter) take(out *[]byte, text string) {
	for text != "" {
		if f.held == "" && f.given == "" {
			open := strings.IndexByte(text, '<')
			if open < 0 {
				f.show(out, text)
				return
			}
			f.show(out, text[:open])
			f.held, text = "<", text[open+1:]
			continue
		}
		c := text[0]
		switch begins, ends := match(f.last(), c); {
		case c == '<':
			f.held += "<"
			f.giveUp(out)
		case ends:
			f.marked = true
			// If its beginning was given up, what is held are its other bytes.
			f.held = f.held[:max(0, strings.LastIndexByte(f.held, '<'))]
		case begins:
			f.held += string(c)
			f.giveUp(out)
		default:
			// Nothing that is open can be completed with c in it.
			f.show(out, f.held)
			f.held, f.given = "", ""
			continue // c belongs to what follows
		}
		text = text[1:]
	}
}

// last gives the innermost marker that has begun.
func (f *Filter) last() string {
	if i := strings.LastIndexByte(f.held, '<'); i >= 0 {
		return f.held[i:]
	}
	return f.given + f.held
}

// giveUp shows the outermost beginning if too much is held.
func (f *Filter) giveUp(out *[]byte) {
	if len(f.held) <= maxHeld {
		return
	}
	// There is a next one: a single beginning is shorter.
	next := 1 + strings.IndexByte(f.held[1:], '<')
	first := f.held[:next]
	if first[0] != '<' {
		first = f.given + first
	}
	f.show(out, f.held[:next])
	f.given, f.held = first, f.held[next:]
}

// match says whether open and c are the beginning of a marker, or all of one.
func match(open string, c byte) (begins, ends bool) {
	for _, m := range markers {
		if len(open) < len(m) && m[:len(open)] == open && m[len(open)] == c {
			return true, len(open)+1 == len(m)
		}
	}
	return false, false
}

// show takes text that is no part of a marker, character by character.
func (f *Filter) show(out *[]byte, text string) {
	text = f.cut + text
	whole := len(text) - len(beginning(text))
	f.cut = text[whole:]
	f.place(out, text[:whole])
}

// place appends what can be shown of text, and of what was held back before it,
// to out.
func (f *Filter) place(out *[]byte, text string) {
	if !f.begun {
		i := strings.IndexFunc(text, func(r rune) bool { return !surrounds(r) })
		if i < 0 {
			f.lead = append(f.lead, text...)
			return
		}
		f.begun = true
		text = strings.TrimLeftFunc(string(f.lead)+text, unicode.IsSpace)
		f.lead = nil
	}
	solid := strings.TrimRightFunc(text, unicode.IsSpace)
	if solid != "" {
		*out = append(append(*out, f.space...), solid...)
		f.space = f.space[:0]
	}
	f.space = append(f.space, text[len(solid):]...)
}

// surrounds reports whether r is one of those that may remain of a silent text.
func surrounds(r rune) bool {
	switch r {
	case '"', '\'', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»', '‹', '›', // quotes
		'.', '…', // dots
		'*', '_', '~', '`', '#', '>', '-', // Markdown
		'\u180e', '\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u2060', '\ufeff': // no width
		return true
	}
	return unicode.IsSpace(r)
}

// beginning gives the bytes at the end of text that begin a character and do not
// complete it.
func beginning(text string) string {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRuneInString(end) {
				return ""
			}
			return end
		}
	}
	return ""
}
