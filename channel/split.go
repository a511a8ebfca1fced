package channel

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// maxSpans is how many spans a part has at most: no platform shows more, and one that
// is left out would take a link's address with it.
const maxSpans = 100

// Split cuts a text into parts of at most so many units, in order. It cuts where a
// reader would: between paragraphs, lines, sentences or words, and only if nothing else
// is left within a word, between characters as people see them. Links, code, and blocks of
// code stay whole if they fit; what is cut looks the same on both sides, a block of code
// goes on as a block of code.
//
// White space at the cuts is left out, but not what indents a line of code; so are parts
// without anything to see. The rest, put together, is the whole text. A max of 0 or less
// is no limit; else it is at least 4, which any single character has room in.
func (r Rich) Split(limit int, units Units) []Rich {
	r = r.Tidy()
	if limit <= 0 {
		limit = len(r.Text) + 1
	}
	s := splitter{text: r.Text, spans: r.Spans, limit: max(limit, utf8.UTFMax), units: units}
	var parts []Rich
	for at := s.skip(0); at < len(r.Text); {
		s.forget(at)
		end := s.cut(at)
		if part := s.part(at, end); !part.Blank() {
			parts = append(parts, part)
		}
		at = s.skip(end)
	}
	return parts
}

type splitter struct {
	text  string
	spans []Span // those that have not ended before the present part, and few others
	limit int
	units Units
}

func (s *splitter) forget(before int) {
	for len(s.spans) > 0 && s.spans[0].End <= before {
		s.spans = s.spans[1:]
	}
}

// covering gives the span of some kind that would be cut at a place.
func (s *splitter) covering(at int, want func(Kind) bool) (Span, bool) {
	for _, span := range s.spans {
		if span.Start >= at {
			break
		}
		if at < span.End && want(span.Kind) {
			return span, true
		}
	}
	return Span{}, false
}

func isPre(k Kind) bool { return k == Pre }

// skip gives where the next part begins: behind white space, but with what indents a
// line of code.
func (s *splitter) skip(at int) int {
	next := len(s.text) - len(strings.TrimLeftFunc(s.text[at:], unicode.IsSpace))
	if code, ok := s.covering(at, isPre); ok && next < code.End {
		return at + strings.LastIndexByte(s.text[at:next], '\n') + 1
	}
	for _, span := range s.spans {
		if span.Start >= next {
			break
		}
		if span.Kind == Pre && at <= span.Start {
			return span.Start
		}
	}
	return next
}

// part gives what is between two cuts.
func (s *splitter) part(start, end int) Rich {
	text := strings.TrimRightFunc(s.text[start:end], unicode.IsSpace)
	part := Rich{Text: text}
	for _, span := range s.spans {
		if span.Start >= start+len(text) {
			break
		}
		if span.End <= start {
			continue
		}
		span.Start, span.End = max(span.Start-start, 0), min(span.End-start, len(text))
		part.Spans = append(part.Spans, span)
	}
	part.Spans = trimmed(text, part.Spans)
	return part
}

// cut gives where a part that begins at a place ends.
func (s *splitter) cut(start int) int {
	end := s.reach(start)
	if end == len(s.text) {
		return end
	}
	if block, ok := s.covering(end, isPre); ok && block.Start > start && s.fits(block) {
		return block.Start // it goes whole into the next part
	}
	marks := s.marks(start, end)
	// A better place to cut is taken if it does not leave too much of the part empty.
	for _, want := range []struct {
		mark  mark
		least int // of what there is room for, in percent
	}{{markParagraph, 50}, {markLine, 50}, {markSentence, 50}, {markLine, 25}, {markWord, 0}, {markCharacter, 0}} {
		if at := marks[want.mark]; at > start && (at-start)*100 >= (end-start)*want.least {
			return at
		}
	}
	return end
}

// reach gives how far a part can go that begins at a place: at least one character.
func (s *splitter) reach(start int) int {
	text := s.text
	used, end := 0, start
	last := s.lastSpans(start)
	characters := displaywidth.StringGraphemes(text[start:])
	for characters.Next() {
		c := characters.Value()
		n := s.units.Count(c)
		if used+n > s.limit || end+len(c) > last && end > start {
			break
		}
		used += n
		end += len(c)
	}
	if end > start {
		return end
	}
	for _, c := range text[start:] { // one that is longer than a part
		n := s.units.Count(string(c))
		if used+n > s.limit && end > start {
			break
		}
		used += n
		end += utf8.RuneLen(c)
	}
	return end
}

// lastSpans gives how far a part can go until it has too many spans.
func (s *splitter) lastSpans(start int) int {
	count := 0
	for _, span := range s.spans {
		if span.End <= start {
			continue
		}
		if count++; count > maxSpans {
			return max(span.Start, start+1)
		}
	}
	return len(s.text)
}

func (s *splitter) fits(span Span) bool {
	return s.units.Count(s.text[span.Start:span.End]) <= s.limit
}

// mark is a place between characters, as to how well one can cut there.
type mark int

const (
	markCharacter mark = iota
	markWord
	markSentence
	markLine
	markParagraph
	markCount
)

// marks gives the last place of each sort between two others; a better one is one of the
// lesser sorts too.
func (s *splitter) marks(start, end int) [markCount]int {
	var marks [markCount]int
	text := s.text
	next := 0 // spans before it have begun
	type opened struct {
		Span
		whole bool // it is not to be cut
	}
	var open []opened
	at := start
	characters := displaywidth.StringGraphemes(text[start:])
	for characters.Next() && at < end {
		at += len(characters.Value())
		if at > end {
			break
		}
		for next < len(s.spans) && s.spans[next].Start < at {
			if span := s.spans[next]; span.End > start {
				open = append(open, opened{span, (span.Kind == Link || span.Kind == Code) && s.fits(span)})
			}
			next++
		}
		code, whole := false, false
		kept := open[:0]
		for _, span := range open {
			if span.End <= at {
				continue
			}
			kept = append(kept, span)
			code = code || span.Kind == Pre
			whole = whole || span.whole
		}
		open = kept
		if whole {
			continue
		}
		for m := markCharacter; m <= quality(text, at, code); m++ {
			marks[m] = at
		}
	}
	return marks
}

// quality says how well one can cut a text at a place.
func quality(text string, at int, code bool) mark {
	before, after := text[:at], text[at:]
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case code && next == '\n':
		return markLine
	case code && (last == '\n' || !unicode.IsSpace(last) || unicode.IsSpace(next)):
		// Behind a line's end, the next line's indentation would be at the end of the part.
		return markCharacter
	case code:
		return markWord
	case strings.HasPrefix(after, "\n\n"):
		return markParagraph
	case next == '\n':
		return markLine
	case !breaks(next):
		if breaks(last) || wide(last) {
			return markWord
		}
		return markCharacter
	case endsSentence(before):
		return markSentence
	}
	return markWord
}

// breaks reports whether a line may be broken at a space.
func breaks(c rune) bool { return strings.ContainsRune(whiteSpace, c) }

// wide punctuation ends a part of a sentence without a space behind it.
func wide(c rune) bool { return strings.ContainsRune("。！？；，、", c) }

func endsSentence(text string) bool {
	text = strings.TrimRight(text, `"'”’»)]`)
	last, size := utf8.DecodeLastRuneInString(text)
	if last == '.' { // not of a numbered item or an initial
		before := strings.TrimRightFunc(text[:len(text)-size], func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
		return len(text)-size-len(before) > 2
	}
	return strings.ContainsRune("!?…。！？", last)
}
