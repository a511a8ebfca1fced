package command

import (
	"strings"

	"github.com/parley-run/parley"
)

// escapeHint says how to send what looks like a command.
const escapeHint = "To send a text that begins with /, write // instead."

// Help gives the help for one command, with an example, or for "" the list of all.
// The name may have its slash in front. It is [parley.CodeInvalid] for a name that
// no command has, in the words of [UnknownText].
func Help(name string) (string, error) {
	name = strings.TrimPrefix(name, "/")
	if name == "" {
		return helpAll(), nil
	}
	s := find(lower(name))
	if s == nil {
		return "", parley.Errorf(parley.CodeInvalid, "%s", unknown(lower(name), near(lower(name))))
	}
	return s.help(), nil
}

func helpAll() string {
	var b strings.Builder
	var under Group
	for i := range table {
		s := &table[i]
		if s.Group != under {
			if under != "" {
				b.WriteString("\n")
			}
			under = s.Group
			b.WriteString(string(under) + ":\n")
		}
		b.WriteString(s.Usage + " - " + s.Help + "\n")
	}
	b.WriteString("\n/help and a command says more about it. " + escapeHint)
	return b.String()
}

func (s *Spec) help() string {
	lines := []string{s.Usage, sentence(s.Help)}
	if s.More != "" {
		lines = append(lines, s.More)
	}
	lines = append(lines, "Example: "+s.Example+" - "+s.ExampleDoes+".")
	if len(s.Aliases) > 0 {
		lines = append(lines, "Also: /"+strings.Join(s.Aliases, ", /")+".")
	}
	return strings.Join(lines, "\n")
}

// UnknownText is the answer to a command that does not exist.
func UnknownText(r Reading) string { return unknown(r.Command.Name, r.Near) }

func unknown(name, near string) string {
	text := "There is no command /" + label(name, 32) + "."
	if near != "" {
		text += " Did you mean /" + near + "?"
	}
	return text + " /help shows what there is. " + escapeHint
}
