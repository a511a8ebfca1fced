package channel

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Tidy gives the same text with well-formed spans, whatever they were: what cannot be
// is cut or left out, as little of it as possible. A link keeps its address rather
// than the code in it; code keeps its look rather than what is around it.
func (r Rich) Tidy() Rich {
	text := clean(r.Text)
	spans := usable(r.Text, text, r.Spans)
	slices.SortStableFunc(spans, compareSpans)
	p := painter{
		quotes:   apart(spans, func(k Kind) bool { return k == Quote }),
		links:    apart(spans, func(k Kind) bool { return k == Link }),
		verbatim: apart(spans, Kind.verbatim),
		emphasis: slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.Kind == Quote || s.Kind == Link || s.Kind.verbatim() }),
	}
	p.verbatim = slices.DeleteFunc(p.verbatim, func(v Span) bool {
		i, _ := slices.BinarySearchFunc(p.links, v.End, func(l Span, end int) int { return cmp.Compare(l.End, end) })
		return i < len(p.links) && v.within(p.links[i])
	})
	return Rich{Text: text, Spans: trimmed(text, p.paint())}
}

// usable gives the spans that can be shown, with their places in the cleaned text.
func usable(original, text string, spans []Span) []Span {
	var kept []Span
	for _, s := range spans {
		if !s.Kind.known() || s.Start < 0 || s.End > len(original) || s.Start >= s.End || s.Kind == Link && s.URL == "" {
			continue
		}
		if s.Kind != Link {
			s.URL = ""
		}
		if s.Kind != Pre {
			s.Language = ""
		}
		if text != original {
			s.Start, s.End = len(clean(original[:s.Start])), len(clean(original[:s.End]))
		}
		s.Start, s.End = toRune(text, s.Start), toRune(text, s.End)
		if s.Start >= s.End || strings.TrimSpace(text[s.Start:s.End]) == "" {
			continue
		}
		if s.Kind != Quote && !s.Kind.verbatim() { // else two bold paragraphs would become one
			s = s.trim(text, nil)
		}
		kept = append(kept, s)
	}
	return kept
}

// toRune gives the place of the character that i lies in.
func toRune(text string, i int) int {
	i = min(i, len(text))
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// trimmed takes white space from the ends of spans that nest, and leaves out those
// without anything else. In code it belongs to the code, and to a quote of it.
func trimmed(text string, spans []Span) []Span {
	slices.SortStableFunc(spans, compareSpans)
	var code, kept []Span
	for _, s := range spans {
		if s.Kind.verbatim() {
			code = append(code, s)
		}
	}
	for _, s := range spans {
		if strings.TrimSpace(text[s.Start:s.End]) == "" {
			continue
		}
		if !s.Kind.verbatim() {
			s = s.trim(text, code)
		}
		kept = append(kept, s)
	}
	slices.SortStableFunc(kept, compareSpans)
	return kept
}

func (s Span) trim(text string, code []Span) Span {
	covered := text[s.Start:s.End]
	start := s.End - len(strings.TrimLeft(covered, whiteSpace))
	end := s.Start + len(strings.TrimRight(covered, whiteSpace))
	first, _ := slices.BinarySearchFunc(code, s.Start, func(c Span, at int) int { return cmp.Compare(c.Start, at) })
	after, _ := slices.BinarySearchFunc(code, s.End, func(c Span, at int) int { return cmp.Compare(c.Start, at) })
	if first < after {
		start, end = min(start, code[first].Start), max(end, code[after-1].End)
	}
	s.Start, s.End = start, end
	return s
}

// whiteSpace is where lines may be broken. Spaces that do not break are part of a word.
const whiteSpace = " \t\n\r\v\f"

// apart gives spans of some kinds, of which later ones begin only where earlier ones
// have ended.
func apart(spans []Span, want func(Kind) bool) []Span {
	var kept []Span
	end := 0
	for _, s := range spans {
		if s.Start = max(s.Start, end); want(s.Kind) && s.Start < s.End {
			kept = append(kept, s)
			end = s.End
		}
	}
	return kept
}

// painter goes through a text once, from one place where something begins or ends to
// the next, and opens and closes spans so that they nest.
type painter struct {
	quotes, links, verbatim, emphasis []Span
	open                              []layer // the outermost first
	out                               []Span
}

// layer is a span that is open, and the one that it is made of.
type layer struct {
	Span
	from int // where the wanted span begins; tells two links apart
}

func (p *painter) paint() []Span {
	var places []int
	for _, spans := range [][]Span{p.quotes, p.links, p.verbatim, p.emphasis} {
		for _, s := range spans {
			places = append(places, s.Start, s.End)
		}
	}
	slices.Sort(places)
	var active []Span // of the emphasis
	for _, at := range slices.Compact(places) {
		active = slices.DeleteFunc(active, func(s Span) bool { return s.End <= at })
		for len(p.emphasis) > 0 && p.emphasis[0].Start <= at {
			active = append(active, p.emphasis[0])
			p.emphasis = p.emphasis[1:]
		}
		p.step(at, p.wanted(at, active))
	}
	return p.out
}

// wanted gives what covers the text from a place on, in the order in which it would be
// opened.
func (p *painter) wanted(at int, emphasis []Span) []Span {
	var wanted []Span
	if quote, ok := covers(&p.quotes, at); ok {
		wanted = append(wanted, quote)
	}
	link, linked := covers(&p.links, at)
	if code, ok := covers(&p.verbatim, at); ok {
		return append(wanted, code)
	}
	inner := len(wanted)
	if linked {
		wanted = append(wanted, link)
	}
	for _, s := range emphasis {
		i := slices.IndexFunc(wanted, func(o Span) bool { return o.Kind == s.Kind })
		if i < 0 {
			wanted = append(wanted, s)
		} else {
			wanted[i].End = max(wanted[i].End, s.End)
		}
	}
	slices.SortStableFunc(wanted[inner:], func(a, b Span) int { return cmp.Or(b.End-a.End, a.Kind.rank()-b.Kind.rank()) })
	return wanted
}

// covers gives the span that covers a place, and forgets those before it.
func covers(spans *[]Span, at int) (Span, bool) {
	for len(*spans) > 0 && (*spans)[0].End <= at {
		*spans = (*spans)[1:]
	}
	if len(*spans) == 0 || (*spans)[0].Start > at {
		return Span{}, false
	}
	return (*spans)[0], true
}

// step closes what is not wanted any more, or in the way of what has to be around it,
// and opens what is wanted.
func (p *painter) step(at int, wanted []Span) {
	keep := 0
	for keep < len(p.open) && p.stays(p.open[keep], wanted) {
		keep++
	}
	for _, l := range slices.Backward(p.open[keep:]) {
		l.End = at
		p.out = append(p.out, l.Span)
	}
	p.open = p.open[:keep]
	for _, s := range wanted {
		if !slices.ContainsFunc(p.open, func(l layer) bool { return l.is(s) }) {
			l := layer{Span: s, from: s.Start}
			l.Start = at
			p.open = append(p.open, l)
		}
	}
}

func (p *painter) stays(l layer, wanted []Span) bool {
	if !slices.ContainsFunc(wanted, l.is) {
		return false
	}
	for _, s := range wanted {
		opened := slices.ContainsFunc(p.open, func(o layer) bool { return o.is(s) })
		if !opened && (s.Kind == Quote || s.Kind == Link && l.Kind != Quote && l.End < s.End) {
			return false
		}
	}
	return true
}

// is reports whether the layer shows a span. Emphasis is the same wherever it began.
func (l layer) is(s Span) bool {
	unique := s.Kind == Quote || s.Kind == Link || s.Kind.verbatim()
	return l.Kind == s.Kind && (!unique || l.from == s.Start)
}
