package terminal

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Screen is what is on the screen, a line for each row, without the blanks at the
// end of lines and without empty lines at the end.
func (term *Terminal) Screen() string {
	term.t.Helper()
	return trim(term.tmux("capture-pane", "-p"))
}

// Scrollback is Screen with everything above it that has scrolled away.
func (term *Terminal) Scrollback() string {
	term.t.Helper()
	return trim(term.tmux("capture-pane", "-p", "-S", "-"))
}

// Colored is the screen with its colours and attributes, as ANSI sequences, and with
// all its rows. An attribute holds until the next sequence, across lines.
func (term *Terminal) Colored() string {
	term.t.Helper()
	return strings.TrimSuffix(term.tmux("capture-pane", "-p", "-e", "-N"), "\n")
}

func trim(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// State is what a program has made of its terminal, besides the text.
type State struct {
	Cols, Rows int
	// X and Y are where the cursor is, from 0.
	X, Y int
	// CursorHidden, AlternateScreen, Mouse, CursorKeys (in the mode for
	// applications) and Raw (keys come as they are, and are not shown) are what a
	// program has to put back when it ends.
	CursorHidden, AlternateScreen, Mouse, CursorKeys, Raw bool
	// Title is the title of the window.
	Title string
}

// State gives the state of the terminal.
func (term *Terminal) State() State {
	term.t.Helper()
	const format = "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} #{mouse_any_flag} #{keypad_cursor_flag} #{pane_tty} #{pane_title}"
	fields := strings.SplitN(strings.TrimSuffix(term.tmux("display-message", "-p", format), "\n"), " ", 10)
	if len(fields) != 10 {
		term.t.Fatalf("tmux gives the state %q", fields)
	}
	return State{
		Cols: term.number(fields[0]), Rows: term.number(fields[1]), X: term.number(fields[2]), Y: term.number(fields[3]),
		CursorHidden: fields[4] != "1", AlternateScreen: fields[5] == "1", Mouse: fields[6] == "1", CursorKeys: fields[7] == "1",
		Raw: term.raw(fields[8]), Title: fields[9],
	}
}

// raw asks the device of the terminal.
func (term *Terminal) raw(device string) bool {
	term.t.Helper()
	out, err := exec.CommandContext(term.t.Context(), "sh", "-c", `stty -a < "$1"`, "sh", device).Output() //nolint:gosec // the name comes from tmux
	if err != nil {
		term.t.Fatalf("ask %s for its state: %v", device, err)
	}
	settings := strings.Fields(string(out))
	return slices.Contains(settings, "-icanon") || slices.Contains(settings, "-echo")
}

// WaitFor waits until the screen has all the texts, each within a line.
func (term *Terminal) WaitFor(texts ...string) {
	term.t.Helper()
	term.WaitUntil("the screen has "+quote(texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// WaitGone waits until the screen has none of the texts.
func (term *Terminal) WaitGone(texts ...string) {
	term.t.Helper()
	term.WaitUntil("the screen has no "+quote(texts), func(screen string) bool {
		for _, text := range texts {
			if strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// WaitUntil waits until something is so, and says in an error what it was that did
// not come. The function gets the [Terminal.Screen], and may look elsewhere.
func (term *Terminal) WaitUntil(what string, ok func(screen string) bool) {
	term.t.Helper()
	for deadline := time.Now().Add(patience); ; <-time.After(pause) {
		screen := term.Screen()
		if ok(screen) {
			return
		}
		if time.Now().After(deadline) {
			term.t.Fatalf("waited for this, and it did not come: %s; the screen is:\n%s", what, screen)
		}
	}
}

// WaitExit waits until the program has ended and gives its exit status, or 128 and
// the number of the signal that ended it, as shells do. The terminal stays, and the
// last of what the program wrote may come to the screen a moment later.
func (term *Terminal) WaitExit() int {
	term.t.Helper()
	var status string
	term.WaitUntil("the program ends", func(string) bool {
		var ended bool
		status, ended = term.line("status")
		return ended
	})
	return term.number(status)
}

// Running reports whether the program has not ended.
func (term *Terminal) Running() bool {
	term.t.Helper()
	_, ended := term.line("status")
	return !ended
}

func quote(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return strings.Join(quoted, ", ")
}
