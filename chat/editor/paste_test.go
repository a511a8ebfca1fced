package editor_test

import (
	"runtime"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley/chat/editor"
)

func paste(e *editor.Editor, text string) { e.Update(tea.PasteMsg{Content: text}) }

func TestFold(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"ten lines", strings.Repeat("x\n", 10), ""},
		{"ten lines and no newline", strings.Repeat("x\n", 9) + "x", ""},
		{"eleven lines", strings.Repeat("x\n", 11), "> [pasted 11 lines]|"},
		{"eleven lines and no newline", strings.Repeat("x\n", 10) + "x", "> [pasted 11 lines]|"},
		{"lines from a terminal", strings.Repeat("x\r", 10) + "x", "> [pasted 11 lines]|"},
		{"many lines", strings.Repeat("some words\n", 10_000), "> [pasted 10,000 lines]|"},
		{"1,000 characters", strings.Repeat("世", 1000), ""},
		{"1,001 characters", strings.Repeat("世", 1001), "> [pasted 1,001 characters]|"},
		{"two long lines", strings.Repeat("x", 1000) + "\n" + "x", "> [pasted 2 lines]|"},
		{"megabytes", strings.Repeat("x", 5_000_000), "> [pasted 5,000,000 characters]|"},
		{"megabytes in lines", strings.Repeat("123456789\n", 500_000), "> [pasted 500,000 lines]|"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := editor.New(editor.Config{})
			paste(e, test.text)
			if got, want := e.Value(), strings.ReplaceAll(test.text, "\r", "\n"); got != want {
				t.Errorf("the text is not what was pasted: %d bytes, want %d", len(got), len(want))
			}
			got := shown(t, e, 60, 20)
			if test.want == "" && strings.Contains(got, "pasted") || test.want != "" && got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

// TestPasteIsOneCharacter moves over a folded paste, deletes it, and brings it back.
func TestPasteIsOneCharacter(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 12)
	e := editor.New(editor.Config{})
	for _, step := range []struct{ keys, want, value string }{
		{"<left>before ", "> before |[pasted 12 lines]", "before " + long},
		{"<right>after", "> before [pasted 12 lines]after|", "before " + long + "after"},
		{"<alt+b>", "> before |[pasted 12 lines]after", "before " + long + "after"},
		{"<delete>", "> before |after", "before after"},
		{"<ctrl+z>", "> before |[pasted 12 lines]after", "before " + long + "after"},
		{"<right><backspace>", "> before |after", "before after"},
		{"<ctrl+z><ctrl+k><ctrl+u><ctrl+y>", "> before [pasted 12 lines]after|", "before " + long + "after"},
		// A mark that would join another character does not join a paste.
		{"<ctrl+a><alt+f><right><right>\u0301<left><delete>", "> before [pasted 12 lines]|after", "before " + long + "after"},
	} {
		if e.Empty() {
			paste(e, long)
		}
		enter(t, e, step.keys)
		if got := shown(t, e, 60, 20); got != step.want {
			t.Errorf("after %s:\n%s\nwant:\n%s", step.keys, got, step.want)
		}
		if got := e.Value(); got != step.value {
			t.Errorf("after %s the text is %q, want %q", step.keys, got, step.value)
		}
	}
}

func TestUnfold(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("one\n", 11), strings.Repeat("two\n", 12)
	e := editor.New(editor.Config{})
	if e.Unfold() {
		t.Error("there is something to open in an empty editor")
	}
	paste(e, one)
	enter(t, e, " and ")
	paste(e, two)
	enter(t, e, " end")
	want := one + " and " + two + " end"
	enter(t, e, "<home>")
	if !e.Unfold() {
		t.Error("the paste at the cursor does not open")
	}
	if lines, _, _ := view(t, e, 60, 100); len(lines) != 12 || !strings.Contains(lines[11], "[pasted 12 lines]") {
		t.Errorf("after the first is open the view is %q", lines)
	}
	enter(t, e, "<ctrl+end>")
	if !e.Unfold() || e.Value() != want {
		t.Errorf("after both are open the text is %q, want %q", e.Value(), want)
	}
	if lines, _, _ := view(t, e, 60, 100); strings.Contains(strings.Join(lines, ""), "pasted") {
		t.Errorf("after both are open the view is %q", lines)
	}
	if e.Unfold() {
		t.Error("there is something left to open")
	}
	enter(t, e, "<ctrl+z>")
	if got := shown(t, e, 60, 2); e.Value() != want || !strings.Contains(got, "[pasted 12 lines]") {
		t.Errorf("undo does not fold: %s", got)
	}
}

// TestLongTextIsEdited opens a paste of many lines and types into it. A key works on
// its own line: if all were cut into rows again, each of them would allocate. It
// is not parallel, as it counts what is allocated.
func TestLongTextIsEdited(t *testing.T) {
	text := strings.Repeat("a line that is longer than the view is wide, so that it has rows\n", 10_000)
	e := editor.New(editor.Config{})
	paste(e, text)
	e.Unfold()
	enter(t, e, "<ctrl+home>x<ctrl+end>y")
	view(t, e, 40, 10)
	enter(t, e, "<up><up>z")
	const want = "  a line that is longer than the view\n  is wide, so that it has rows\n  az| line that is longer than the view"
	if got := shown(t, e, 40, 3); got != want {
		t.Errorf("the view is:\n%s\nwant:\n%s", got, want)
	}
	if got, want := len(e.Value()), len(text)+3; got != want {
		t.Errorf("the text has %d bytes, want %d", got, want)
	}
	for _, place := range []string{"<ctrl+home>", "<ctrl+end>"} {
		enter(t, e, place)
		view(t, e, 40, 10)
		allocated := testing.AllocsPerRun(10, func() {
			enter(t, e, "x")
			view(t, e, 40, 10)
		})
		if allocated > 500 {
			t.Errorf("a key at %s allocates %v times", place, allocated)
		}
	}
}

// TestForgetting sends many large pastes. What is kept of them is bounded. It is not
// parallel, as it looks at all memory in use.
func TestForgetting(t *testing.T) {
	e := editor.New(editor.Config{})
	const size = 4 << 20
	for i := range 40 {
		paste(e, strings.Repeat("0123456", size/7)+strings.Repeat("!", i))
		for range 3 {
			enter(t, e, "<ctrl+a>x<ctrl+k><ctrl+y>")
		}
		value := e.Value()
		e.Remember(value)
		e.Reset()
	}
	enter(t, e, "<up>")
	if got := len(e.Value()); got < size {
		t.Errorf("the last one has %d bytes in history, want all of it", got)
	}
	runtime.GC()
	var kept runtime.MemStats
	runtime.ReadMemStats(&kept)
	if limit := uint64(80 << 20); kept.HeapAlloc > limit {
		t.Errorf("%d bytes are in use, want at most %d", kept.HeapAlloc, limit)
	}
	runtime.KeepAlive(e)
}
