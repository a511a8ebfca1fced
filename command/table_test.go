package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
)

// TestTable holds that every command can be shown in every menu, and that what the
// table says about it is true.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var groups []command.Group
	for _, s := range command.All() {
		for _, name := range append([]string{s.Name}, s.Aliases...) {
			if seen[name] {
				t.Errorf("two commands are called %s", name)
			}
			seen[name] = true
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" || len(name) < 2 || len(name) > 12 {
				t.Errorf("%q is no name that every platform can show", name)
			}
			if r := command.Read("/" + name); r.Kind != command.Known || r.Command.Name != s.Name {
				t.Errorf("/%s: got %+v", name, r)
			}
			if found, ok := command.Find(strings.ToUpper(name)); !ok || found.Name != s.Name {
				t.Errorf("%s: found %q", name, found.Name)
			}
		}
		if s.Help == "" || len(s.Help) > 72 || strings.HasSuffix(s.Help, ".") {
			t.Errorf("/%s is described as %q", s.Name, s.Help)
		}
		if first, _, _ := strings.Cut(s.Usage, " "); first != "/"+s.Name {
			t.Errorf("/%s is used as %q", s.Name, s.Usage)
		}
		if takes := strings.Contains(s.Usage, " "); takes != (len(s.Args) > 0) {
			t.Errorf("/%s is used as %q, and takes %v", s.Name, s.Usage, s.Args)
		}
		for _, a := range s.Args {
			if a.Required == strings.Contains(s.Usage, "[") {
				t.Errorf("/%s is used as %q; whether %s is required: %t", s.Name, s.Usage, a.Name, a.Required)
			}
			if (a.Kind == command.ArgChoice) != (len(a.Choices) > 0) {
				t.Errorf("/%s: %s has the choices %v", s.Name, a.Name, a.Choices)
			}
		}
		if r := command.Read(s.Example); r.Command.Name != s.Name || parse(r.Command) != nil {
			t.Errorf("/%s: the example %q is wrong: %v", s.Name, s.Example, parse(r.Command))
		}
		if s.ExampleDoes == "" || s.More != "" && !strings.HasSuffix(s.More, ".") {
			t.Errorf("/%s: the help is not in sentences", s.Name)
		}
		if n := len(groups); n == 0 || groups[n-1] != s.Group {
			groups = append(groups, s.Group)
		}
	}
	if want := []command.Group{command.GroupConversation, command.GroupTurn, command.GroupAbout}; !slices.Equal(groups, want) {
		t.Errorf("the groups are %v", groups)
	}
	if _, ok := command.Find("/help"); ok {
		t.Error("the slash is no part of a name")
	}
}

// parse reads the arguments of any command.
func parse(c command.Command) error {
	var err error
	switch c.Name {
	case command.NameHelp:
		_, err = command.ParseHelp(c.Args)
	case command.NameNew:
		_, err = command.ParseNew(c.Args)
	case command.NameTitle:
		_, _, err = command.ParseTitle(c.Args)
	case command.NameResume:
		_, err = command.ParseResume(c.Args)
	case command.NameUndo:
		_, err = command.ParseUndo(c.Args)
	case command.NameFork:
		_, err = command.ParseFork(c.Args)
	case command.NameBusy:
		_, _, err = command.ParseBusy(c.Args)
	case command.NameModel:
		_, _, err = command.ParseModel(c.Args)
	case command.NameQueue:
	case command.NameSteer:
		_, err = command.ParseSteer(c.Args)
	default:
		err = command.ParseNone(c.Name, c.Args)
	}
	return err
}

// TestAllIsACopy holds that nobody can change the table.
func TestAllIsACopy(t *testing.T) {
	t.Parallel()
	spoil := func(s command.Spec) {
		for i := range s.Aliases {
			s.Aliases[i] = "spoilt"
		}
		for i := range s.Args {
			for j := range s.Args[i].Choices {
				s.Args[i].Choices[j] = "spoilt"
			}
			s.Args[i].Name = "spoilt"
		}
	}
	for _, s := range command.All() {
		spoil(s)
		s, _ = command.Find(s.Name)
		spoil(s)
	}
	for _, s := range command.All() {
		for _, a := range s.Args {
			if a.Name == "spoilt" || slices.Contains(a.Choices, "spoilt") {
				t.Errorf("/%s was changed", s.Name)
			}
		}
		if slices.Contains(s.Aliases, "spoilt") {
			t.Errorf("/%s was changed", s.Name)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	const all = `Conversation:
/new [title] - start another session; this one is kept
/reset - start this conversation over; what was said is kept
/resume [id or number] - go on in an earlier session
/sessions - show your sessions
/title [text] - name this session, or show its name
/undo [turns] - take back the last turn, or several
/retry - take back the last turn and ask the same again
/fork [seq] - make a copy to go on in; this session stays as it is

While the agent works:
/stop - stop what the agent is doing
/queue [text] - send a message that waits for its turn, or show what waits
/steer text - tell the agent something while it works
/busy [mode] - say what becomes of messages while the agent works

About:
/help [command] - show the commands, or how one is used
/status - show what this session is doing
/usage - show tokens and cost
/model [name] - choose a model of the agent, or show them

/help and a command says more about it. To send a text that begins with /, write // instead.`
	const resume = `/resume [id or number]
Go on in an earlier session.
Alone it goes back to the session before this one. An id may be cut short as long as it fits one session only.
Example: /resume 2 - goes on in the second session that /sessions shows.`
	const stop = `/stop
Stop what the agent is doing.
What it said so far stays, and so does the session.
Example: /stop - ends the turn.
Also: /cancel.`
	for _, c := range []struct{ name, want string }{
		{"", all}, {"/", all}, {"resume", resume}, {"/Resume", resume}, {"cancel", stop},
	} {
		got, err := command.Help(c.name)
		if err != nil || got != c.want {
			t.Errorf("%q: got %v and\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
	for _, s := range command.All() {
		got, err := command.Help(s.Name)
		if err != nil || !strings.HasPrefix(got, s.Usage+"\n") || !strings.Contains(got, s.Example) {
			t.Errorf("/%s: got %v and\n%s", s.Name, err, got)
		}
	}
	wantInvalid(t, second(command.Help("rest")),
		"There is no command /rest. Did you mean /reset? /help shows what there is. To send a text that begins with /, write // instead.")
}

func TestUnknownText(t *testing.T) {
	t.Parallel()
	const hint = " /help shows what there is. To send a text that begins with /, write // instead."
	for _, c := range []struct{ text, want string }{
		{"/rest", "There is no command /rest. Did you mean /reset?" + hint},
		{"/Foo bar", "There is no command /foo." + hint},
		{"/" + strings.Repeat("x", 100), "There is no command /" + strings.Repeat("x", 31) + "…." + hint},
	} {
		if got := command.UnknownText(command.Read(c.text)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// second gives the error of a function that gives two values.
func second[T any](_ T, err error) error { return err }

// wantInvalid fails unless err is invalid, with that message.
func wantInvalid(t *testing.T, err error, message string) {
	t.Helper()
	if parley.CodeOf(err) != parley.CodeInvalid || err.Error() != message {
		t.Errorf("got %s: %v\nwant invalid: %s", parley.CodeOf(err), err, message)
	}
}
