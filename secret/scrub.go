package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// MinScrub is how many bytes a value has at least to be scrubbed. A shorter one
// would be found in the middle of harmless words, and all these masks would tell
// what it is.
const MinScrub = 6

// Scrubber replaces the values it knows by [Mask] wherever they turn up: as they
// are, in base64 (also as a part of something longer, such as a user name with a
// password), escaped for an address, quoted for Go, and each of these inside JSON,
// also twice. Values of less than [MinScrub] bytes are left alone, and so are parts
// of values: scrub a text before you shorten it.
//
// The zero value knows no values and is ready to use, by several goroutines at
// once. Work grows with the text and not with the number of values.
type Scrubber struct {
	mu sync.Mutex
	// All that is looked for; nil if there is nothing. A function, as that is
	// opaque to everything that prints by reflection.
	forms func() map[string]struct{}

	table atomic.Pointer[table] // made of forms; nil if they have changed since
}

// Add makes values known. Whoever uses the scrubber later scrubs them as well.
func (s *Scrubber) Add(values ...Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forms == nil {
		all := make(map[string]struct{})
		s.forms = func() map[string]struct{} { return all }
	}
	all := s.forms()
	for _, v := range values {
		text := v.Reveal()
		if len(text) < MinScrub {
			continue
		}
		for _, form := range forms(text) {
			if _, known := all[form]; !known {
				all[form] = struct{}{}
				s.table.Store(nil)
			}
		}
	}
}

// Text gives text with all known values replaced.
func (s *Scrubber) Text(text string) string {
	spans, _ := find(s.current(), text, 0)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	pos := 0
	for _, sp := range spans {
		b.WriteString(text[pos:sp.start])
		b.WriteString(Mask)
		pos = sp.end
	}
	b.WriteString(text[pos:])
	return b.String()
}

// current gives the table of all values known by now.
func (s *Scrubber) current() *table {
	if t := s.table.Load(); t != nil {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table.Load()
	if t == nil {
		t = newTable()
		if s.forms != nil {
			for form := range s.forms() {
				t.add(form)
			}
		}
		t.link()
		s.table.Store(t)
	}
	return t
}

// forms gives what a value may look like, itself included.
func forms(text string) []string {
	query := url.QueryEscape(text)
	all := []string{
		text, query, url.PathEscape(text),
		strings.ReplaceAll(query, "+", "%20"),
		// As browsers do it.
		strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query),
		inner(strconv.Quote(text)),
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		all = append(all, enc.EncodeToString([]byte(text)), enc.WithPadding(base64.NoPadding).EncodeToString([]byte(text)))
		for before := range 3 {
			all = append(all, within(enc, text, before))
		}
	}
	// Twice: JSON is often sent as a text inside JSON.
	for range 2 {
		for _, form := range all {
			all = append(all, inJSON(form, true), inJSON(form, false))
		}
		slices.Sort(all)
		all = slices.Compact(all)
	}
	return all
}

// inJSON is how a text looks inside a string of JSON.
func inJSON(text string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if enc.Encode(text) != nil {
		return text
	}
	return inner(strings.TrimSuffix(b.String(), "\n"))
}

// inner is a quoted text without its quotes.
func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// within gives the digits of base64 that text determines alone, if as many bytes
// stand before it in its group of three.
func within(enc *base64.Encoding, text string, before int) string {
	size := before + len(text)
	digits := enc.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, before, size), text...))
	// Each digit has six bits; the first and the last may share theirs with
	// what is around.
	return digits[(before*8+5)/6 : size*8/6]
}
