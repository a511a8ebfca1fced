package secret

import (
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
// password), escaped for an address, quoted for Go, with several lines put on one,
// and each of these inside JSON of the usual writers, also twice. Values of less
// than [MinScrub] bytes are left alone, and so are parts of values: scrub a text
// before you shorten it.
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
		var known map[string]struct{}
		size := 0
		if s.forms != nil {
			known = s.forms()
		}
		for form := range known {
			size += len(form)
		}
		t = newTable(size)
		for form := range known {
			t.add(form)
		}
		t.link()
		s.table.Store(t)
	}
	return t
}
