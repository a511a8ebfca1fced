package channel

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Units are what a platform counts the length of a text in.
type Units string

// The units.
const (
	UTF16 Units = "utf16" // code units of UTF-16; the default
	Runes Units = "runes" // Unicode code points
	Bytes Units = "bytes" // of UTF-8
)

// Count gives the length of a text.
func (u Units) Count(text string) int {
	switch u {
	case Bytes:
		return len(text)
	case Runes:
		return utf8.RuneCountInString(text)
	}
	n := 0
	for _, c := range text {
		n += utf16.RuneLen(c)
	}
	return n
}

// Units gives the length of the text.
func (r Rich) Units(units Units) int { return units.Count(r.Text) }
