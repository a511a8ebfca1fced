package command

import (
	"slices"

	"github.com/parley-run/parley"
)

// Spec is one command of the table.
type Spec struct {
	Name    string   // small letters of ASCII
	Aliases []string // other names for it
	Group   Group
	Args    []Arg // what may stand after the name, in order
	Usage   string
	// Help is what it does, in a few words, for menus.
	Help string
	// More is what else there is to know, in sentences, or "".
	More string
	// Example is the command as somebody would write it, ExampleDoes what that does.
	Example, ExampleDoes string
}

// Group is the heading a command stands under where all are shown.
type Group string

// The groups, in the order of the table.
const (
	GroupConversation Group = "Conversation"
	GroupTurn         Group = "While the agent works"
	GroupAbout        Group = "About"
)

// Arg is something that may stand after the name of a command.
type Arg struct {
	Name     string
	Kind     ArgKind
	Required bool
	Choices  []string // of [ArgChoice]
}

// ArgKind says what can be offered for an argument.
type ArgKind string

// The kinds of arguments.
const (
	ArgText    ArgKind = "text"    // anything, to the end
	ArgNumber  ArgKind = "number"  // a number from 1
	ArgChoice  ArgKind = "choice"  // one of a few words
	ArgCommand ArgKind = "command" // the name of a command
	ArgSession ArgKind = "session" // the id of a session, or its number in /sessions
	ArgModel   ArgKind = "model"   // a model of the agent
	ArgEvent   ArgKind = "event"   // the seq of an event of the session
)

// The names of the commands.
const (
	NameNew      = "new"
	NameReset    = "reset"
	NameResume   = "resume"
	NameSessions = "sessions"
	NameTitle    = "title"
	NameUndo     = "undo"
	NameRetry    = "retry"
	NameFork     = "fork"
	NameStop     = "stop"
	NameQueue    = "queue"
	NameSteer    = "steer"
	NameBusy     = "busy"
	NameHelp     = "help"
	NameStatus   = "status"
	NameUsage    = "usage"
	NameModel    = "model"
)

// Default is the word that takes back a choice of /busy or /model.
const Default = "default"

// table is every command, group by group.
var table = []Spec{
	{
		Name: NameNew, Group: GroupConversation, Usage: "/new [title]",
		Args:    []Arg{{Name: "title", Kind: ArgText}},
		Help:    "start another session; this one is kept",
		More:    "What waits here is dropped, and a turn that runs is stopped. /resume goes back.",
		Example: "/new Trip to Rome", ExampleDoes: "starts a session with that title",
	},
	{
		Name: NameReset, Group: GroupConversation, Usage: "/reset",
		Help:    "start this conversation over; what was said is kept",
		More:    "What waits is dropped, and a turn that runs is stopped. The choice of a model ends with it. /resume goes back.",
		Example: "/reset", ExampleDoes: "starts over",
	},
	{
		Name: NameResume, Group: GroupConversation, Usage: "/resume [id or number]",
		Args:    []Arg{{Name: "session", Kind: ArgSession}},
		Help:    "go on in an earlier session",
		More:    "Alone it goes back to the session before this one. An id may be cut short as long as it fits one session only.",
		Example: "/resume 2", ExampleDoes: "goes on in the second session that /sessions shows",
	},
	{
		Name: NameSessions, Group: GroupConversation, Usage: "/sessions",
		Help:    "show your sessions",
		More:    "The last ones first, also those that were put away. /resume and a number goes on in one.",
		Example: "/sessions", ExampleDoes: "shows them",
	},
	{
		Name: NameTitle, Aliases: []string{"rename"}, Group: GroupConversation, Usage: "/title [text]",
		Args:    []Arg{{Name: "text", Kind: ArgText}},
		Help:    "name this session, or show its name",
		Example: "/title Trip to Rome", ExampleDoes: "calls the session that",
	},
	{
		Name: NameUndo, Group: GroupConversation, Usage: "/undo [turns]",
		Args:    []Arg{{Name: "turns", Kind: ArgNumber}},
		Help:    "take back the last turn, or several",
		More:    "The agent no longer sees them; the log keeps them. What a tool did stays done.",
		Example: "/undo 2", ExampleDoes: "takes back the last two turns",
	},
	{
		Name: NameRetry, Group: GroupConversation, Usage: "/retry",
		Help:    "take back the last turn and ask the same again",
		More:    "What a tool did stays done.",
		Example: "/retry", ExampleDoes: "gives another answer to your last message",
	},
	{
		Name: NameFork, Group: GroupConversation, Usage: "/fork [seq]",
		Args:    []Arg{{Name: "seq", Kind: ArgEvent}},
		Help:    "make a copy to go on in; this session stays as it is",
		More:    "The copy knows what was said up to here, or up to the event with that number. /resume and its id goes on in it.",
		Example: "/fork 40", ExampleDoes: "makes a session that knows the first 40 events",
	},
	{
		Name: NameStop, Aliases: []string{"cancel"}, Group: GroupTurn, Usage: "/stop",
		Help:    "stop what the agent is doing",
		More:    "What it said so far stays, and so does the session.",
		Example: "/stop", ExampleDoes: "ends the turn",
	},
	{
		Name: NameQueue, Group: GroupTurn, Usage: "/queue [text]",
		Args:    []Arg{{Name: "text", Kind: ArgText}},
		Help:    "send a message that waits for its turn, or show what waits",
		Example: "/queue and then write the tests", ExampleDoes: "is answered after what the agent does now",
	},
	{
		Name: NameSteer, Group: GroupTurn, Usage: "/steer text",
		Args:    []Arg{{Name: "text", Kind: ArgText, Required: true}},
		Help:    "tell the agent something while it works",
		More:    "It sees it before its next step. If it does nothing, it is a message like any other.",
		Example: "/steer leave the tests alone", ExampleDoes: "reaches the agent in the middle of its turn",
	},
	{
		Name: NameBusy, Group: GroupTurn, Usage: "/busy [mode]",
		Args: []Arg{{Name: "mode", Kind: ArgChoice, Choices: busyChoices()}},
		Help: "say what becomes of messages while the agent works",
		More: "queue: each waits for its turn. collect: what came in is answered together. steer: the agent sees it at once. " +
			"interrupt: it stops, and answers it. reject: it is turned away. default: as configured.",
		Example: "/busy collect", ExampleDoes: "has what comes in meanwhile answered together",
	},
	{
		Name: NameHelp, Group: GroupAbout, Usage: "/help [command]",
		Args:    []Arg{{Name: "command", Kind: ArgCommand}},
		Help:    "show the commands, or how one is used",
		Example: "/help resume", ExampleDoes: "explains /resume",
	},
	{
		Name: NameStatus, Group: GroupAbout, Usage: "/status",
		Help:    "show what this session is doing",
		Example: "/status", ExampleDoes: "shows it",
	},
	{
		Name: NameUsage, Group: GroupAbout, Usage: "/usage",
		Help:    "show tokens and cost",
		Example: "/usage", ExampleDoes: "shows what this session has used",
	},
	{
		Name: NameModel, Group: GroupAbout, Usage: "/model [name]",
		Args:    []Arg{{Name: "name", Kind: ArgModel}},
		Help:    "choose a model of the agent, or show them",
		More:    "The choice holds until the next reset. A part of the name or its number is enough; default takes the choice back.",
		Example: "/model 2", ExampleDoes: "uses the second model that /model shows",
	},
}

// busyModes are the modes that /busy knows.
var busyModes = []parley.BusyMode{
	parley.BusyQueue, parley.BusyCollect, parley.BusySteer, parley.BusyInterrupt, parley.BusyReject,
}

func busyChoices() []string {
	var words []string
	for _, m := range busyModes {
		words = append(words, string(m))
	}
	return append(words, Default)
}

// All gives every command, group by group, for help, completion and menus.
func All() []Spec {
	all := make([]Spec, len(table))
	for i := range table {
		all[i] = table[i].clone()
	}
	return all
}

// Find gives the command with a name or alias, in capitals or not.
func Find(name string) (Spec, bool) {
	if s := find(lower(name)); s != nil {
		return s.clone(), true
	}
	return Spec{}, false
}

// find looks for a name in small letters.
func find(name string) *Spec {
	for i := range table {
		if table[i].Name == name || slices.Contains(table[i].Aliases, name) {
			return &table[i]
		}
	}
	return nil
}

// names gives the name and the aliases.
func (s *Spec) names() []string { return append([]string{s.Name}, s.Aliases...) }

// clone gives a copy that shares nothing with s.
func (s *Spec) clone() Spec {
	c := *s
	c.Aliases, c.Args = slices.Clone(s.Aliases), slices.Clone(s.Args)
	for i := range c.Args {
		c.Args[i].Choices = slices.Clone(c.Args[i].Choices)
	}
	return c
}
