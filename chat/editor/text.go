package editor

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clean makes text fit to be edited and shown: valid UTF-8, \n for every kind of
// new line, and besides it and tabs nothing that controls a terminal.
func clean(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\x1b':
			n = escape(text[i:])
		case r == '\r':
			if !strings.HasPrefix(text[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case r == '\u0085' || r == '\u2028' || r == '\u2029':
			b.WriteByte('\n')
		case r == '\n' || r == '\t':
			b.WriteByte(byte(r))
		case unicode.IsControl(r):
		case isPaste(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r) // also the error that invalid bytes are read as
		}
		i += n
	}
	return b.String()
}

// plain reports whether text is ASCII without anything to clean.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// escape is how many bytes an escape sequence has at the start of text, such as
// those of colours in what was copied from a terminal. Of a sequence that does not
// end only the escape character counts, as the rest may be all of the text.
func escape(text string) int {
	if len(text) < 2 {
		return 1
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			switch c := text[i]; {
			case c >= 0x40 && c <= 0x7e:
				return i + 1
			case c < 0x20 || c > 0x7e:
				return 1
			}
		}
	case ']':
		for i := 2; i < len(text); i++ {
			switch {
			case text[i] == '\a':
				return i + 1
			case strings.HasPrefix(text[i:], "\x1b\\"):
				return i + 2
			case text[i] < 0x20:
				return 1
			}
		}
	}
	return 1
}

// flat is text that goes into one line.
func flat(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(clean(text))
}

// grapheme gives the first one of a text, and its width in cells. A folded paste
// is one by itself, whatever stands beside it.
func grapheme(text string) (cluster string, width int) {
	if c := text[0]; c < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return text[:1], 1
	}
	if r, n := utf8.DecodeRuneInString(text); isPaste(r) {
		return text[:n], 1
	}
	cluster, width = ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	if i := strings.IndexFunc(cluster, isPaste); i > 0 {
		cluster = cluster[:i]
		width = ansi.StringWidth(cluster)
	}
	return cluster, width
}

// after is where the grapheme ends that starts at a place.
func after(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	cluster, _ := grapheme(text[at:])
	return at + len(cluster)
}

// before is where the grapheme starts that ends at a place.
func before(text string, at int) int {
	for start := range backward(text, at) {
		return start
	}
	return 0
}

// backward gives where the graphemes before a place start, the nearest first.
// Graphemes can only be told from the left, so it goes back to where it is certain
// of one, and gives those from there.
func backward(text string, at int) iter.Seq[int] {
	return func(yield func(start int) bool) {
		var starts []int
		for at > 0 {
			from := certain(text, at-1)
			starts = starts[:0]
			for start := from; start < at; start = after(text, start) {
				starts = append(starts, start)
			}
			for _, start := range slices.Backward(starts) {
				if !yield(start) {
					return
				}
			}
			at = from
		}
	}
}

// snap gives the first place from here that is between two graphemes.
func snap(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	start := certain(text, at)
	for start < at {
		start = after(text, start)
	}
	return start
}

// certain gives the last place up to here that is between two graphemes, whatever
// stands before it: between two ASCII characters.
func certain(text string, at int) int {
	for ; at > 0; at-- {
		if text[at] < utf8.RuneSelf && text[at-1] < utf8.RuneSelf {
			return at
		}
	}
	return 0
}

// isSpace is for graphemes.
func isSpace(cluster string) bool {
	r, _ := utf8.DecodeRuneInString(cluster)
	return unicode.IsSpace(r)
}

// inWord reports whether a grapheme is part of a word.
func inWord(cluster string) bool {
	r, _ := utf8.DecodeRuneInString(cluster)
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || isPaste(r)
}

func notSpace(cluster string) bool { return !isSpace(cluster) }

// wordEnd is the end of the word at a place or after it.
func wordEnd(text string, at int, in func(cluster string) bool) int {
	for inside := false; at < len(text); {
		next := after(text, at)
		if in(text[at:next]) {
			inside = true
		} else if inside {
			break
		}
		at = next
	}
	return at
}

// wordStart is the start of the word at a place or before it.
func wordStart(text string, at int, in func(cluster string) bool) int {
	inside := false
	for start := range backward(text, at) {
		if in(text[start:at]) {
			inside = true
		} else if inside {
			break
		}
		at = start
	}
	return at
}

// lineStart and lineEnd are where the line of a place starts and ends.
func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}
