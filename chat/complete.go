package chat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-run/parley/chat/editor"
	"github.com/parley-run/parley/command"
)

func (m *model) newEditor(history []string) *editor.Editor {
	return editor.New(editor.Config{
		Prompt: "> ", Placeholder: "Write a message; ? shows the keys", History: history,
		CompleteFunc: m.cfg.complete, Color: true, Dark: m.theme.dark,
	})
}

// mostChoices is how many are offered.
const mostChoices = 50

// complete offers what a word can become: commands at the start, files after an @.
func (c *Config) complete(word editor.Word) []editor.Choice {
	switch {
	case word.Start && strings.HasPrefix(word.Text, "/"):
		return commands(word.Text)
	case strings.HasPrefix(word.Text, "@"):
		return c.files(word.Text[1:])
	}
	return nil
}

// ownCommands are those that the program carries out itself.
var ownCommands = []editor.Choice{
	{Insert: "/attach ", Show: "/attach FILE", Help: "send a file with the next message"},
	{Insert: "/edit", Show: "/edit", Help: "write in your editor"},
	{Insert: "/rewind", Show: "/rewind", Help: "go back to a message, or fork there"},
	{Insert: "/quit", Show: "/quit", Help: "leave"},
}

func commands(begin string) []editor.Choice {
	var choices []editor.Choice
	for _, spec := range command.All() {
		insert := "/" + spec.Name
		if len(spec.Args) > 0 {
			insert += " "
		}
		choices = append(choices, editor.Choice{Insert: insert, Show: spec.Usage, Help: spec.Help})
	}
	choices = append(choices, ownCommands...)
	return slices.DeleteFunc(choices, func(c editor.Choice) bool {
		return !strings.HasPrefix(c.Insert, strings.ToLower(begin))
	})
}

// files offers the files whose names begin so. Hidden ones have to be asked for.
func (c *Config) files(begin string) []editor.Choice {
	dir, base := filepath.Split(begin)
	entries, err := os.ReadDir(c.path(filepath.Join(dir, ".")))
	if err != nil {
		return nil // there is nothing to offer
	}
	var choices []editor.Choice
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(strings.ToLower(name), strings.ToLower(base)) || strings.HasPrefix(name, ".") != strings.HasPrefix(base, ".") {
			continue
		}
		if strings.ContainsAny(name, " \t\n") {
			continue // an @ word ends at white space
		}
		choice := editor.Choice{Insert: "@" + dir + name + " ", Show: name}
		if e.IsDir() {
			choice.Insert, choice.Show = "@"+dir+name+"/", name+"/"
		}
		if choices = append(choices, choice); len(choices) == mostChoices {
			break
		}
	}
	return choices
}
