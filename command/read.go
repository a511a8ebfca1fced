package command

import (
	"strings"
	"unicode"
)

// Command is a command as somebody wrote it.
type Command struct {
	// Name is that of its [Spec]; of a command that does not exist it is what was
	// written, in lower case. The slash is not part of it.
	Name string
	// Args is the rest of the text, without white space at both ends.
	Args string
	// Bot is whom it was addressed to, as in /help@parley_bot, or "". Who knows its
	// own name leaves alone what is addressed to another.
	Bot string
}

// String gives the command as it can be written. [Read] reads it as the same.
func (c Command) String() string {
	text := "/" + c.Name
	if c.Bot != "" {
		text += "@" + c.Bot
	}
	if c.Args != "" {
		text += " " + c.Args
	}
	return text
}

// Kind says what a text is.
type Kind string

// The kinds of texts.
const (
	Text    Kind = "text"    // something to post
	Known   Kind = "known"   // a command
	Unknown Kind = "unknown" // it looks like a command, and there is none of that name
)

// Reading is what a text was read as.
type Reading struct {
	Kind Kind
	// Command is set unless Kind is [Text].
	Command Command
	// Text is what to post, if Kind is [Text].
	Text string
	// Near is the name of the command that was probably meant, or "", if Kind is
	// [Unknown].
	Near string
}

// Read tells commands from other texts. It looks at the first word:
//
//   - A slash and the name of a command is that command. Capitals do not matter,
//     and the name of a bot may follow after an @. The word ends at white space, so
//     /help! and /new/file are texts.
//   - A slash and letters alone that name no command is an unknown one.
//   - Two slashes stand for one, and make a text of what follows.
//   - Everything else is a text, and given back as it is: also /etc/passwd, a slash
//     alone, and what has white space in front.
func Read(text string) Reading {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return Reading{Kind: Text, Text: text}
	}
	if strings.HasPrefix(rest, "/") {
		return Reading{Kind: Text, Text: rest}
	}
	word, args := rest, ""
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		word, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	name, bot, addressed := strings.Cut(word, "@")
	if !isName(name) || addressed && !isBot(bot) {
		return Reading{Kind: Text, Text: text}
	}
	c := Command{Name: lower(name), Args: args, Bot: bot}
	if s := find(c.Name); s != nil {
		c.Name = s.Name
		return Reading{Kind: Known, Command: c}
	}
	return Reading{Kind: Unknown, Command: c, Near: near(c.Name)}
}

// Escape gives a text that [Read] reads as text: text itself wherever it can.
func Escape(text string) string {
	if r := Read(text); r.Kind == Text && r.Text == text {
		return text
	}
	return "/" + text
}

// isName reports whether s could be the name of a command: letters alone.
func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
}

// isBot reports whether s could be the name of a bot. A dot is not part of one:
// /somebody@example.com is no command.
func isBot(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// lower turns the capitals of ASCII into small letters. What other letters become
// depends on the language, and no command has any.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}
