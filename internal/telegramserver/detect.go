package telegramserver

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What the server finds in a text by itself.
var (
	mentionForm = regexp.MustCompile(`@[a-zA-Z0-9_]{2,32}`)
	commandForm = regexp.MustCompile(`/[a-zA-Z0-9_]{1,64}(?:@[a-zA-Z0-9_]{3,32})?`)
	hashtagForm = regexp.MustCompile(`#[\pL\pN_]{1,256}`)
	emailForm   = regexp.MustCompile(`[a-zA-Z0-9._%+-]+@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*\.[a-zA-Z]{2,}`)
	urlForm     = regexp.MustCompile(`(?i:https?://)[^\s<>"]+|(?i:\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|me|dev|run|de|uk)\b)(?:/[^\s<>"]*)?`)
)

// detect finds mentions, commands, addresses and hashtags in a text, outside of the
// entities it has and not inside a word, and gives all entities in their order.
func detect(f formatted) []Entity {
	entities := slices.Clone(f.entities)
	closed := func(start, length int) bool {
		for _, e := range entities {
			if isPlainStyle(e.Type) || isQuote(e.Type) {
				continue
			}
			if start < e.Offset+e.Length && e.Offset < start+length {
				return true
			}
		}
		return false
	}
	for _, kind := range []struct {
		name  string
		form  *regexp.Regexp
		fits  func(before, after rune) bool
		strip string // what an end does not belong to
	}{
		{"url", urlForm, func(before, _ rune) bool { return !isWord(before) && before != '@' }, ".,:;!?)'\""},
		{"email", emailForm, func(before, _ rune) bool { return !isWord(before) }, ""},
		{"bot_command", commandForm, func(before, after rune) bool {
			return !isWord(before) && !strings.ContainsRune("/<>", before) && !isWord(after) && !strings.ContainsRune("/<>@", after)
		}, ""},
		{"mention", mentionForm, func(before, after rune) bool { return !isWord(before) && !isWord(after) }, ""},
		{"hashtag", hashtagForm, func(before, after rune) bool { return !isWord(before) && after != '#' }, ""},
	} {
		for _, at := range kind.form.FindAllStringIndex(f.text, -1) {
			start, end := at[0], at[0]+len(strings.TrimRight(f.text[at[0]:at[1]], kind.strip))
			before, _ := utf8.DecodeLastRuneInString(f.text[:start])
			after, _ := utf8.DecodeRuneInString(f.text[end:])
			offset, length := units(f.text[:start]), units(f.text[start:end])
			if !kind.fits(edge(before), edge(after)) || closed(offset, length) {
				continue
			}
			entities = append(entities, Entity{Type: kind.name, Offset: offset, Length: length})
		}
	}
	sortEntities(entities)
	return entities
}

// edge makes the end of a text a space.
func edge(r rune) rune {
	if r == utf8.RuneError {
		return ' '
	}
	return r
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }
