package editor_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley/chat/editor"
)

// TestKeys types and looks at the text, and at the cursor by what a mark does there.
func TestKeys(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, keys, want string }{
		{"typing", "abc", "abc|"},
		{"in the middle", "ac<left>b", "ab|c"},
		{"left at the start", "a<left><left><left>", "|a"},
		{"right at the end", "a<right>", "a|"},
		{"emacs moves", "abc<ctrl+b><ctrl+b><ctrl+f>", "ab|c"},
		{"home and end", "abc<home>x<end>y", "xabcy|"},
		{"ctrl+a and ctrl+e", "abc<ctrl+a>x<ctrl+e>y", "xabcy|"},
		{"home is of the line", "ab<ctrl+j>cd<home>", "ab\n|cd"},
		{"end is of the line", "ab<ctrl+j>cd<up><end>", "ab|\ncd"},
		{"start of the text", "ab<ctrl+j>cd<ctrl+home>", "|ab\ncd"},
		{"end of the text", "ab<ctrl+j>cd<alt+<><alt+>>", "ab\ncd|"},
		{"words to the left", "one two.three <alt+b>", "one two.|three "},
		{"further words to the left", "one two.three <ctrl+left><alt+left>", "one |two.three "},
		{"words to the right", "one two.three<ctrl+a><alt+f>", "one| two.three"},
		{"further words to the right", "one two.three<ctrl+a><ctrl+right><alt+right>", "one two|.three"},
		{"words of other scripts", "größe 世界 ok<alt+b><alt+b>", "größe |世界 ok"},

		{"backspace", "abc<backspace>", "ab|"},
		{"backspace at the start", "ab<home><backspace>", "|ab"},
		{"backspace joins lines", "a<ctrl+j>b<left><backspace>", "a|b"},
		{"delete", "abc<home><delete>", "|bc"},
		{"ctrl+d", "abc<home><ctrl+d>", "|bc"},
		{"delete at the end", "abc<delete>", "abc|"},
		{"kill to the end", "one two<alt+b><ctrl+k>", "one |"},
		{"kill the end of a line", "a<ctrl+j>b<up><end><ctrl+k>", "a|b"},
		{"kill to the start", "one two<alt+b><ctrl+u>", "|two"},
		{"kill the end of the line before", "a<ctrl+j><ctrl+u>", "a|"},
		{"kill a word", "one two.three<ctrl+w>", "one |"},
		{"kill a word and its blanks", "one two  <ctrl+w>", "one |"},
		{"kill a part of a word", "one two.three<alt+backspace>", "one two.|"},
		{"kill to the right", "one two<home><alt+d>", "| two"},
		{"yank", "one two<ctrl+w><home><ctrl+y>", "two|one "},
		{"yank several", "one two three<ctrl+w><ctrl+w><ctrl+y>", "one two three|"},
		{"yank in both directions", "ab cd<alt+b><ctrl+k><ctrl+u><ctrl+y>", "ab cd|"},
		{"yank the last", "one two<ctrl+w><left><ctrl+w><ctrl+y>", "one| "},
		{"yank nothing", "a<ctrl+y>", "a|"},

		{"undo of typing", "one<ctrl+z>", "|"},
		{"undo of a word", "one two<ctrl+_>", "one |"},
		{"undo of two words", "one two<ctrl+_><ctrl+/>", "|"},
		{"undo of a move is none", "one<left><left>x<ctrl+z>", "o|ne"},
		{"undo of a kill", "one two<ctrl+u><ctrl+z>", "one two|"},
		{"undo of a deletion", "abc<backspace><backspace><ctrl+z>", "ab|"},
		{"undo of a newline", "a<ctrl+j><ctrl+z>", "a|"},
		{"undo of nothing", "<ctrl+z>a<ctrl+z><ctrl+z>", "|"},

		{"new lines", "a<alt+enter>b<shift+enter>c<ctrl+j>d", "a\nb\nc\nd|"},
		{"a backslash", `a\<enter>b`, "a\nb|"},
		{"a backslash in the middle of a line", `a\b<left><enter>`, `a\|b`},
		{"a backslash before another line", `a\<ctrl+j>b<up><end><enter>`, "a\n|\nb"},
		{"enter is not for the editor", "a<enter>b", "ab|"},

		{"up and down", "abc<ctrl+j>de<ctrl+j>fgh<up><up>", "ab" + "c|\nde\nfgh"},
		{"the column is kept", "abc<ctrl+j>d<ctrl+j>efg<left><up><up>", "ab|c\nd\nefg"},
		{"the column is forgotten", "abc<ctrl+j>d<ctrl+j>efg<up><left><right><up>", "a|bc\nd\nefg"},
		{"ctrl+p and ctrl+n", "abc<ctrl+j>def<ctrl+p><left><ctrl+n>", "abc\nde|f"},

		{"wide characters", "世界<left>x", "世x|界"},
		{"wide characters deleted", "世界<backspace>", "世|"},
		{"a combining character", "e\u0301x<left><left>y", "y|e\u0301x"},
		{"a combining character deleted", "ae\u0301<backspace>", "a|"},
		{"a flag", "🇩🇪🇫🇷<left>x", "🇩🇪x|🇫🇷"},
		{"a family", "<👩‍👩‍👧‍👦>a<left><backspace>", "|a"},
		{"joined by what is typed between", "\u0301<left>e", "e\u0301|"},
		{"joined by what is deleted between", "🇩a🇪<left><backspace>", "🇩🇪|"},
		{"down into a wide character", "abcd<ctrl+j>世世<up><left><down>", "abcd\n世|世"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := editor.New(editor.Config{})
			enter(t, e, test.keys)
			value := e.Value()
			if want := strings.Replace(test.want, "|", "", 1); value != want {
				t.Errorf("the text is %q, want %q", value, want)
			}
			view(t, e, 40, 10)
			e.Update(tea.PasteMsg{Content: "|"})
			if got := e.Value(); got != test.want {
				t.Errorf("with the cursor it is %q, want %q", got, test.want)
			}
		})
	}
}

// TestHandled looks which keys are for somebody else.
func TestHandled(t *testing.T) {
	t.Parallel()
	tests := []struct {
		keys string
		key  tea.Msg
		want bool
	}{
		{"", press("enter"), false},
		{"text", press("enter"), false},
		{`text\`, press("enter"), true},
		{"text", press("alt+enter"), true},
		{"", press("esc"), false},
		{"text", press("esc"), false},
		{"text<ctrl+r>", press("esc"), true},
		{"text<ctrl+r>", press("enter"), true},
		{"", press("ctrl+d"), false},
		{"text", press("ctrl+d"), true},
		{"text", press("ctrl+c"), false},
		{"text", press("ctrl+o"), false},
		{"text", press("pgup"), false},
		{"text", press("tab"), false},
		{"", press("a"), true},
		{"", press("backspace"), true},
		{"", press("up"), true},
		{"", tea.PasteMsg{Content: "x"}, true},
		{"", tea.WindowSizeMsg{Width: 1, Height: 1}, false},
		{"", tea.KeyReleaseMsg{Code: 'a', Text: "a"}, false},
		{"", nil, false},
	}
	for _, test := range tests {
		e := editor.New(editor.Config{})
		enter(t, e, test.keys)
		if got := e.Update(test.key); got != test.want {
			t.Errorf("%v after %q: handled is %v, want %v", test.key, test.keys, got, test.want)
		}
	}
}

func TestSetValueAndReset(t *testing.T) {
	t.Parallel()
	e := editor.New(editor.Config{})
	if !e.Empty() || e.Value() != "" {
		t.Error("a fresh editor is not empty")
	}
	enter(t, e, "draft")
	e.SetValue("one\r\ntwo\x1b[31m!")
	if got, want := e.Value(), "one\ntwo!"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	enter(t, e, "?")
	if got, want := e.Value(), "one\ntwo!?"; got != want {
		t.Errorf("typed at the end it is %q, want %q", got, want)
	}
	enter(t, e, "<ctrl+z><ctrl+z>")
	if got := e.Value(); got != "draft" {
		t.Errorf("after undo it is %q, want the draft", got)
	}
	e.Newline()
	if got := e.Value(); got != "draft\n" || e.Empty() {
		t.Errorf("after a new line it is %q", got)
	}
	e.Reset()
	enter(t, e, "<ctrl+z>")
	if got := e.Value(); got != "" || !e.Empty() {
		t.Errorf("after Reset and undo it is %q", got)
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"a\r\nb\rc\n\rd", "a\nb\nc\n\nd"},
		{"nul\x00bel\a del\x7f c1\u009b!", "nulbel del c1!"},
		{"next\u0085line\u2028paragraph\u2029", "next\nline\nparagraph\n"},
		{"invalid \xff\xfe utf-8 \xe4\xb8", "invalid \ufffd\ufffd utf-8 \ufffd\ufffd"},
		{"\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\a", "red link"},
		{"open \x1b]0;title and all the rest", "open ]0;title and all the rest"},
		{"open \x1b[12", "open [12"},
		{"open \x1b[12\nnext", "open [12\nnext"},
		{"lone \x1b", "lone "},
		{"a \U00100000 stand-in", "a \ufffd stand-in"},
		{"symbols \ue0b0 \U000f0001 stay", "symbols \ue0b0 \U000f0001 stay"},
	}
	for _, test := range tests {
		e := editor.New(editor.Config{})
		e.Update(tea.PasteMsg{Content: test.in})
		if got := e.Value(); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.in, got, test.want)
		}
		view(t, e, 20, 10)
	}
}
