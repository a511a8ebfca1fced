package editor_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley/chat/editor"
)

// press makes the message of a key from its name, such as ctrl+alt+a or left, as
// Bubble Tea reads it from a terminal. Another name is text.
func press(name string) tea.KeyPressMsg {
	named := map[string]rune{
		"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape,
		"pgup": tea.KeyPgUp,
	}
	rest := name
	var mod tea.KeyMod
	for _, m := range []struct {
		prefix string
		mod    tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if after, found := strings.CutPrefix(rest, m.prefix); found {
			rest, mod = after, mod|m.mod
		}
	}
	if code, ok := named[rest]; ok {
		return tea.KeyPressMsg{Code: code, Mod: mod}
	}
	code, size := utf8.DecodeRuneInString(rest)
	if size < len(rest) {
		code = tea.KeyExtended
	}
	if mod != 0 {
		return tea.KeyPressMsg{Code: code, Mod: mod}
	}
	return tea.KeyPressMsg{Code: code, Text: rest}
}

// enter types text and presses the keys that stand in <>, such as <left>.
func enter(t testing.TB, e *editor.Editor, script string) {
	t.Helper()
	for script != "" {
		var name string
		rest, found := strings.CutPrefix(script, "<")
		if end := keyEnd(rest); found && end > 0 {
			name, script = rest[:end], rest[end+1:]
		} else {
			_, n := utf8.DecodeRuneInString(script)
			name, script = script[:n], script[n:]
		}
		e.Update(press(name))
	}
}

// keyEnd is where the name of a key ends that a > follows, or 0.
func keyEnd(script string) int {
	for i := 1; i < len(script); i++ {
		if script[i] == '>' && script[i-1] != '+' {
			return i
		}
	}
	return 0
}

// shown gives the text with a | where the cursor is, as the view has it, without
// the prompt and trailing blanks.
func shown(t testing.TB, e *editor.Editor, width, height int) string {
	t.Helper()
	lines, x, y := view(t, e, width, height)
	left := ansi.Truncate(lines[y], x, "")
	left += strings.Repeat(" ", x-ansi.StringWidth(left))
	lines[y] = left + "|" + ansi.TruncateLeft(lines[y], x, "")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// view draws, and checks what holds for every view. It has no colours.
func view(t testing.TB, e *editor.Editor, width, height int) (lines []string, x, y int) {
	t.Helper()
	lines, x, y = e.View(width, height)
	if len(lines) == 0 || len(lines) > max(height, 1) {
		t.Fatalf("at %dx%d the view has %d lines", width, height, len(lines))
	}
	if x < 0 || x >= max(width, 1) || y < 0 || y >= len(lines) {
		t.Fatalf("at %dx%d the cursor is at %d,%d of %d lines", width, height, x, y, len(lines))
	}
	for i, line := range lines {
		lines[i] = ansi.Strip(line)
		if n := ansi.StringWidth(line); n > max(width, 1) {
			t.Fatalf("at %dx%d a line is %d wide: %q", width, height, n, line)
		}
		if strings.ContainsFunc(lines[i], func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x100000 }) {
			t.Fatalf("at %dx%d a line has a control character: %q", width, height, line)
		}
	}
	return slices.Clone(lines), x, y
}
