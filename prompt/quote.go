package prompt

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/parley-run/parley/group"
)

// MaxValue is how many characters of a title, a topic or another value the model
// sees. Names of people have at most [group.MaxName].
const MaxValue = 128

// Quote gives a text that somebody chose as one quoted value, of which the model
// sees at most so many characters. Whatever the text holds, the value is on one
// line, begins and ends with a double quote, and has no other between them, nor a
// bracket, an angle bracket, a backtick or a backslash, nor what looks like one of
// them. Characters that are there without being seen are left out.
func Quote(text string, most int) string {
	return `"` + strings.Map(quotedRune, line(text, most)) + `"`
}

// line gives a text on one line, with nothing in it that nobody sees and without
// brackets.
func line(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "_"))
	return group.Clean(strings.Join(strings.Fields(text), " "), most)
}

// quotedRune gives what stands for r between quotes.
func quotedRune(r rune) rune {
	switch r {
	case '"', '“', '”', '„', '‟', '＂', '″', '‶', '‴', '〝', '〞', '〟', '❝', '❞', '❠', '⹂', 'ʺ', '˝', 'ˮ', '״',
		'`', '｀', 'ˋ':
		return '\''
	case '<', '＜', '﹤', '〈', '\u2329', '⟨', '❬', '❮', '❰', '⧼':
		return '‹'
	case '>', '＞', '﹥', '〉', '\u232a', '⟩', '❭', '❯', '❱', '⧽':
		return '›'
	case '\\', '＼', '﹨', '∖', '⧵', '⧹':
		return '/'
	case '【', '】', '〔', '〕', '〖', '〗', '〘', '〙', '❲', '❳', '⟬', '⟭', '⦋', '⦌', '⦍', '⦎', '⦏', '⦐', '︹', '︺', '︻', '︼', '﹝', '﹞', '⎡', '⎤', '⎣', '⎦', '⌈', '⌉', '⌊', '⌋':
		return '_'
	}
	return r
}

// counted gives values as one text: the first of them, and how many more there
// are.
func counted(values []string, more int) string {
	text := strings.Join(values, ", ")
	if text != "" && more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}
