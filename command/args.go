package command

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// MaxTitle is how many characters a title that a command gives may have.
const MaxTitle = 200

// misuse is the error of arguments that a command cannot take: what is wrong, and
// how the command is used.
func misuse(name, format string, args ...any) error {
	s := find(name)
	e := parley.Errorf(parley.CodeInvalid, format, args...)
	e.Message += "; usage: " + s.Usage
	if len(s.Args) > 0 {
		e.Message += ", such as " + s.Example
	}
	return e
}

// oneWord refuses more than one word.
func oneWord(name, args string) error {
	if n := len(strings.Fields(args)); n > 1 {
		return misuse(name, "/%s takes one word, not %d", name, n)
	}
	return nil
}

// ParseNone refuses whatever stands after the name of a command that takes
// nothing: somebody may have meant something else. It lets anything stand after
// /stop, which has to work in a hurry.
func ParseNone(name, args string) error {
	if args == "" || name == NameStop {
		return nil
	}
	return misuse(name, "/%s takes nothing after it", name)
}

// ParseHelp gives the command to explain, or "" for all.
func ParseHelp(args string) (name string, err error) {
	if err := oneWord(NameHelp, args); err != nil {
		return "", err
	}
	return strings.TrimPrefix(args, "/"), nil
}

// ParseNew gives the title of the session to start, or "".
func ParseNew(args string) (title string, err error) {
	if args == "" {
		return "", nil
	}
	return parseTitle(NameNew, args)
}

// ParseTitle gives the title to set, or that it is to be shown.
func ParseTitle(args string) (title string, show bool, err error) {
	if args == "" {
		return "", true, nil
	}
	title, err = parseTitle(NameTitle, args)
	return title, false, err
}

// parseTitle makes one line of a title.
func parseTitle(name, args string) (string, error) {
	title := tidy(args)
	switch n := utf8.RuneCountInString(title); {
	case n == 0:
		return "", misuse(name, "nothing of that title can be seen")
	case n > MaxTitle:
		return "", misuse(name, "a title has at most %d characters, not %d", MaxTitle, n)
	}
	return title, nil
}

// ParseResume gives what names the session to go on in: its number in /sessions
// (see [Number]), its id or the beginning of it, or "" for the session before.
func ParseResume(args string) (ref string, err error) {
	if err := oneWord(NameResume, args); err != nil {
		return "", err
	}
	ref = tidy(args)
	switch {
	case ref != args:
		return "", misuse(NameResume, "that is not the id of a session")
	case len(ref) > parley.MaxIDBytes:
		return "", misuse(NameResume, "an id has at most %d bytes, not %d", parley.MaxIDBytes, len(ref))
	}
	if n, err := strconv.ParseInt(ref, 10, 64); err == nil && n < 1 {
		return "", misuse(NameResume, "%d is not a number of /sessions, which begin with 1", n)
	}
	return ref, nil
}

// Number reads what [ParseResume] gave as the number of a session in /sessions,
// from 1 on. Longer ones than three digits are the beginning of an id.
func Number(ref string) (n int, ok bool) {
	if len(ref) > 3 || strings.Trim(ref, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(ref)
	return n, err == nil && n > 0
}

// ParseUndo gives how many turns to take back: one, if nothing is said.
func ParseUndo(args string) (turns int, err error) {
	if args == "" {
		return 1, nil
	}
	const most = 1000
	n, err := strconv.ParseUint(args, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, misuse(NameUndo, "%s is not a number of turns from 1 to %d", quoted(args, 32), most)
	}
	return int(n), nil
}

// ParseFork gives the seq of the last event that the copy shares, or 0 for all of
// them.
func ParseFork(args string) (seq uint64, err error) {
	if args == "" {
		return 0, nil
	}
	seq, err = strconv.ParseUint(args, 10, 63)
	if err != nil || seq < 1 {
		return 0, misuse(NameFork, "%s is not the number of an event", quoted(args, 32))
	}
	return seq, nil
}

// ParseBusy gives the mode to set, which is "" for the configured one, or that it
// is to be shown.
func ParseBusy(args string) (mode parley.BusyMode, show bool, err error) {
	word := lower(args)
	if word == "" {
		return "", true, nil
	}
	if word == Default {
		return "", false, nil
	}
	if mode = parley.BusyMode(word); slices.Contains(busyModes, mode) {
		return mode, false, nil
	}
	return "", false, misuse(NameBusy, "%s is not a mode; it must be %s", quoted(args, 32), oneOf(busyChoices()))
}

// ParseModel gives what names the model to choose, for [PickModel], or that they
// are to be shown.
func ParseModel(args string) (name string, show bool, err error) {
	if args == "" {
		return "", true, nil
	}
	return args, false, oneWord(NameModel, args)
}

// PickModel gives the model of a chain that name means: the model of that name,
// the first for [Default], the one with that number, or the only one whose name
// holds it, in capitals or not.
func PickModel(chain []string, name string) (string, error) {
	if i := slices.IndexFunc(chain, func(m string) bool { return strings.EqualFold(m, name) }); i >= 0 {
		return chain[i], nil
	}
	if lower(name) == Default && len(chain) > 0 {
		return chain[0], nil
	}
	if n, ok := Number(name); ok && n <= len(chain) {
		return chain[n-1], nil
	}
	var hits []string
	for _, m := range chain {
		if name != "" && strings.Contains(strings.ToLower(m), strings.ToLower(name)) {
			hits = append(hits, m)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return "", parley.Errorf(parley.CodeInvalid, "this agent has no model %s; it has %s", quoted(name, 64), models(chain))
	}
	return "", parley.Errorf(parley.CodeInvalid, "%s fits several models: %s; write more of the name", quoted(name, 64), models(hits))
}

func models(chain []string) string {
	if len(chain) == 0 {
		return "none to choose from"
	}
	names := make([]string, len(chain))
	for i, m := range chain {
		names[i] = label(m, 64)
	}
	return strings.Join(names, ", ")
}

// ParseSteer gives the text to tell the agent.
func ParseSteer(args string) (text string, err error) {
	if args == "" {
		return "", misuse(NameSteer, "there is nothing to tell the agent")
	}
	return args, nil
}
