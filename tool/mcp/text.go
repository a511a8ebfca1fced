package mcp

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley/secret"
)

// plain makes text of a stranger fit to be stored and shown: valid, without NUL,
// without secrets. It is scrubbed on both sides, as what is taken out may have
// kept a secret apart, or been a part of one.
func plain(known *secret.Scrubber, text string) string {
	text = strings.ToValidUTF8(known.Text(text), "\uFFFD")
	return known.Text(strings.ReplaceAll(text, "\x00", ""))
}

// said gives an error text of a stranger on one line, without secrets.
func said(known *secret.Scrubber, text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, plain(known, text))
	// Again, as a space may be what a secret has there.
	text, _ = cut(strings.TrimSpace(known.Text(text)), maxSaid)
	return text
}

// cut gives the beginning of a text, at most so many bytes of it and no half
// characters, and whether that is less than the whole.
func cut(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}
