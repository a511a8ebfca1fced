package editor_test

import (
	"strings"
	"testing"

	"github.com/parley-run/parley/chat/editor"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, keys, want string }{
		{"the last one", "<up>", "> third\n  line|"},
		{"through its lines", "<up><up><up>", "> second|"},
		{"to the first one and no further", "<up><up><up><up><up><up>", "> first|"},
		{"and back", "<up><up><up><up><down>", "> second|"},
		{"the draft is kept", "my draft<left><left><up><up><up><down>", "> third\n  line|"},
		{"the draft comes back", "my draft<left><left><up><up><up><down><down>", "> my dra|ft"},
		{"down from the draft", "my draft<down>", "> my draft|"},
		{"edited", "<up><up><up>!<down><up><up>", "> second|"},
		{"undone", "draft<up><ctrl+z>", "> draft|"},

		{"search", "<ctrl+r>sec", "search history: sec\n> |second"},
		{"search in any case", "<ctrl+r>SEC", "search history: SEC\n> |second"},
		{"search finds the newest", "<ctrl+r>i", "search history: i\n> th|ird\n  line"},
		{"search further back", "<ctrl+r>i<ctrl+r>", "search history: i\n> f|irst"},
		{"search forth again", "<ctrl+r>i<ctrl+r><ctrl+s>", "search history: i\n> th|ird\n  line"},
		{"search in vain", "<ctrl+r>irx", "not in history: irx\n> th|ird\n  line"},
		{"search further in vain", "<ctrl+r>sec<ctrl+r>", "not in history: sec\n> |second"},
		{"search with less", "<ctrl+r>ird<backspace><backspace>", "search history: i\n> th|ird\n  line"},
		{"search for nothing", "draft<ctrl+r>", "search history:\n> draft|"},
		{"search given up", "draft<left><ctrl+r>sec<esc>", "> draf|t"},
		{"search taken", "draft<ctrl+r>sec<enter>", "> |second"},
		{"search taken and undone", "draft<ctrl+r>sec<enter><ctrl+z>", "> draft|"},
		{"search taken by a move", "draft<ctrl+r>sec<ctrl+e>!", "> second!|"},
		{"history goes on from there", "draft<ctrl+r>sec<enter><up>", "> first|"},
		{"the draft is behind what was found", "draft<ctrl+r>thi<enter><down><down>", "> draft|"},
		{"search that fails at last", "draft<ctrl+r>secx<enter>", "> |second"},
		{"search without a find", "draft<ctrl+r>xyz<enter>", "> draft|"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := editor.New(editor.Config{History: []string{"first", "", "second", "second", "third\nline"}})
			enter(t, e, test.keys)
			if got := shown(t, e, 40, 10); got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestRemember(t *testing.T) {
	t.Parallel()
	e := editor.New(editor.Config{})
	long := strings.Repeat("line\n", 11)
	for _, keys := range []string{"one", "two", "two"} {
		enter(t, e, keys)
		e.Remember(e.Value())
		e.Reset()
	}
	enter(t, e, "see ")
	paste(e, long)
	e.Remember(e.Value())
	e.Reset()
	e.Remember("from elsewhere")
	for _, want := range []string{"> from elsewhere|", "> see [pasted 11 lines]|", "> two|", "> one|", "> one|"} {
		enter(t, e, "<up>")
		if got := shown(t, e, 40, 10); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	enter(t, e, "<down><down>")
	if got, want := e.Value(), "see "+long; got != want {
		t.Errorf("what was pasted is %q in history, want %q", got, want)
	}
}

// TestLongHistory takes what other programs or earlier runs have remembered.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("line\n", 500)
	history := make([]string, 0, 3000)
	for range 1500 {
		history = append(history, "a", "b")
	}
	e := editor.New(editor.Config{History: append(history, large)})
	enter(t, e, "<up>")
	if got := shown(t, e, 40, 10); got != "> [pasted 500 lines]|" || e.Value() != large {
		t.Errorf("a large text is shown as:\n%s", got)
	}
	for range 3000 {
		enter(t, e, "<up>")
	}
	for range 998 {
		enter(t, e, "<down>")
	}
	if e.Value() == large {
		t.Error("history has fewer than 1,000 texts")
	}
	if enter(t, e, "<down>"); e.Value() != large {
		t.Error("history has more than 1,000 texts")
	}
}
