package telegramserver

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// units gives the length of a text in UTF-16 units, in which the Bot API counts.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += runeUnits(r)
	}
	return n
}

func runeUnits(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// byteAt gives the byte offset of a UTF-16 offset, and whether it is the start of a
// character or the text's end.
func byteAt(text string, offset int) (int, bool) {
	n := 0
	for i, r := range text {
		if n == offset {
			return i, true
		}
		if n > offset {
			return i, false
		}
		n += runeUnits(r)
	}
	return len(text), n == offset
}

// formatted is a text with its entities.
type formatted struct {
	text     string
	entities []Entity
}

// clean does to a text what the server does before it keeps it: carriage returns
// go, other control characters become spaces, white space at the ends goes, unless
// an entity starts with it.
func (f formatted) clean() formatted {
	var out strings.Builder
	shift := make(map[int]int) // from old UTF-16 offsets to new ones
	from, to := 0, 0
	for _, r := range f.text {
		shift[from] = to
		if r != '\r' {
			if r < ' ' && r != '\n' && r != '\t' {
				r = ' '
			}
			out.WriteRune(r)
			to += runeUnits(r)
		}
		from += runeUnits(r)
	}
	shift[from] = to
	moved := make([]Entity, 0, len(f.entities))
	first := to
	for _, e := range f.entities {
		end := shift[e.Offset+e.Length]
		e.Offset = shift[e.Offset]
		e.Length = end - e.Offset
		moved = append(moved, e)
		first = min(first, e.Offset)
	}
	text := strings.TrimRightFunc(out.String(), unicode.IsSpace)
	cut, lead := 0, 0
	for _, r := range text {
		if lead >= first || !unicode.IsSpace(r) {
			break
		}
		cut += utf8.RuneLen(r)
		lead++ // white space is one unit each
	}
	return formatted{text[cut:], fit(moved, lead, units(text)-lead)}
}

// fit moves entities back by lead and cuts them to a text of the given length.
func fit(entities []Entity, lead, length int) []Entity {
	var out []Entity
	for _, e := range entities {
		e.Offset -= lead
		e.Length = min(e.Length, length-e.Offset)
		if e.Length > 0 {
			out = append(out, e)
		}
	}
	return out
}

// sortEntities puts entities in the order of the wire: by their start, the longer
// one first.
func sortEntities(entities []Entity) {
	slices.SortStableFunc(entities, func(a, b Entity) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length), cmp.Compare(rank(a.Type), rank(b.Type)))
	})
}

// rank says which of two entities over the same stretch comes first.
func rank(kind string) int {
	return slices.Index([]string{
		"blockquote", "expandable_blockquote", "pre", "code", "text_link", "text_mention", "mention",
		"hashtag", "bot_command", "url", "email", "bold", "italic", "underline", "strikethrough", "spoiler", "custom_emoji",
	}, kind)
}
