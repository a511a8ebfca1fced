package group

import (
	"strings"
	"unicode"

	"github.com/parley-run/parley"
)

// MaxName is how many characters of a name the model sees.
const MaxName = 64

// notDirected is what stands in brackets before a message that is not for the
// agent.
const notDirected = "not directed at you"

// Prefix gives what stands before a message when the model sees it: in a group
// the sender's name and, if the message is not for the agent, that it is not;
// nothing in a direct chat. It depends on what is stored with a message and on
// nothing else, so that a message looks the same in every turn.
//
// Only the prefix can be trusted. What follows is what somebody wrote, and may
// look like another prefix, or like the first if the sender has no name: adapters
// give one wherever they can.
func Prefix(t parley.SessionType, from parley.Sender, directed bool) string {
	if isDirect(t) {
		return ""
	}
	var b strings.Builder
	if name := Name(from); name != "" {
		b.WriteString("[" + name + "] ")
	}
	if !directed {
		b.WriteString("[" + notDirected + "] ")
	}
	return b.String()
}

// Name gives a sender's name as the model sees it: on one line, at most [MaxName]
// characters, and without anything that could end the brackets around it or is
// there without being seen. Brackets, line breaks and control characters become
// "_", and so does a name of which nothing can be seen: without a prefix, a text
// could bring its own. It is "" for a sender without a name.
func Name(from parley.Sender) string {
	if from.Name == "" {
		return ""
	}
	name := clean(from.Name)
	if words := strings.Fields(name); strings.EqualFold(strings.Join(words, " "), notDirected) {
		name = strings.Join(words, "_")
	}
	return cut(name, MaxName)
}

// Clean does to a text what [Name] does to a name: it gives it on one line, at
// most so many characters long, without brackets and without what is there
// without being seen. It is never empty.
func Clean(text string, most int) string { return cut(clean(text), most) }

func clean(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "_"))
	text = strings.TrimSpace(strings.Map(nameRune, text))
	if !strings.ContainsFunc(text, visible) {
		return "_"
	}
	return text
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:max(most-1, 0)]) + "…"
	}
	return text
}

// nameRune gives what stands for r in a name; -1 drops it.
func nameRune(r rune) rune {
	switch r {
	case '[', ']', '［', '］', '﹇', '﹈', '⁅', '⁆', '⟦', '⟧', '〚', '〛':
		return '_'
	case '\u200c', '\u200d', '\ufe0e', '\ufe0f': // scripts and emoji need them
		return r
	case '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // letters that nobody sees
		return -1
	}
	switch {
	case unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp):
		return '_'
	case unicode.IsSpace(r):
		return ' '
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector):
		return -1
	}
	return r
}

// visible reports whether r is seen when it stands alone.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Mn, r)
}
