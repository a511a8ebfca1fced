package editor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley/chat/editor"
)

// offered completes a few names.
func offered(word editor.Word) []editor.Choice {
	all := []editor.Choice{
		{Insert: "/help", Help: "what there is"},
		{Insert: "/model ", Show: "/model NAME", Help: "another model"},
		{Insert: "@docs/", Show: "docs/"},
		{Insert: "@docs/a.md ", Show: "a.md"},
		{Insert: "@main.go ", Show: "main.go"},
	}
	return slices.DeleteFunc(all, func(c editor.Choice) bool {
		rest, ok := strings.CutPrefix(c.Insert, word.Text)
		if c.Insert[0] == '/' && !word.Start {
			return true
		}
		return !ok || rest == "" && strings.HasSuffix(c.Insert, "/") || c.Insert[0] == '@' && strings.Contains(strings.TrimSuffix(rest, "/"), "/")
	})
}

func TestComplete(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, keys, want string }{
		{"commands", "/", "> /help        what there is\n  /model NAME  another model\n> /|"},
		{"a command", "/m", "> /model NAME  another model\n> /m|"},
		{"no command", "/x", "> /x|"},
		{"not at the start", "a /", "> a /|"},
		{"not in another line", "a<ctrl+j>/", "> a\n  /|"},
		{"files", "see @", "> docs/\n  main.go\n> see @|"},
		{"not within a word", "me@", "> me@|"},
		{"taken", "/m<tab>", "> /model |"},
		{"the second", "/<down><tab>", "> /model |"},
		{"around the end", "/<up><tab>", "> /model |"},
		{"taken with enter", "see @ma<enter>and", "> see @main.go and|"},
		{"in the middle", "see @ma and<left><left><left><left>i<tab>", "> see @main.go | and"},
		{"a folder goes on", "@d<tab>", "> a.md\n> @docs/|"},
		{"through a folder", "@d<tab><tab>", "> @docs/a.md |"},
		{"enter with the whole word", "/help<enter>", "> /help|"},
		{"refused", "/<esc>", "> /|"},
		{"refused and typed on", "/<esc>he", "> /he|"},
		{"refused and asked for", "/<esc><tab>", "> /help        what there is\n  /model NAME  another model\n> /|"},
		{"refused, and another word", "@<esc>x @", "> docs/\n  main.go\n> @x @|"},
		{"closed by a move", "/<left>", "> |/"},
		{"asked for after a move", "/<left><right><tab>", "> /help        what there is\n  /model NAME  another model\n> /|"},
		{"undone", "see @ma<tab><ctrl+z>", "> see @ma|"},
		{"deleted", "/mx<backspace>", "> /model NAME  another model\n> /m|"},
		{"history does not open it", "<up><up>", "> before|"},
		{"a new line closes it", "@m<ctrl+j>", "> @m\n  |"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := editor.New(editor.Config{CompleteFunc: offered, History: []string{"before", "/m"}})
			enter(t, e, test.keys)
			if got := shown(t, e, 40, 10); got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestCompleteHandles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		keys, key string
		want      bool
	}{
		{"/m", "enter", true},
		{"/help", "enter", false},
		{"/m", "esc", true},
		{"/m<esc>", "esc", false},
		{"/m<esc>", "enter", false},
		{"/m", "tab", true},
		{"/x", "tab", false},
		{"/x", "enter", false},
	}
	for _, test := range tests {
		e := editor.New(editor.Config{CompleteFunc: offered})
		enter(t, e, test.keys)
		if got := e.Update(press(test.key)); got != test.want {
			t.Errorf("%s after %s: handled is %v, want %v", test.key, test.keys, got, test.want)
		}
	}
}

// TestManyChoices shows some of them, with the one that is chosen.
func TestManyChoices(t *testing.T) {
	t.Parallel()
	e := editor.New(editor.Config{CompleteFunc: many})
	enter(t, e, "@")
	for i := range 30 {
		for _, height := range []int{2, 5, 40} {
			lines, _, y := view(t, e, 50, height)
			if n := min(8, height-1); len(lines) != n+1 || y != n {
				t.Errorf("in %d lines %d are shown above the text, want %d", height, len(lines)-1, n)
			}
			chosen := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "> @choice-") })
			if name := fmt.Sprintf("@choice-%d ", i); chosen < 0 || !strings.Contains(lines[chosen]+" ", name) {
				t.Errorf("in %d lines, %s is not shown as chosen: %q", height, name, lines)
			}
		}
		enter(t, e, "<down>")
	}
}
