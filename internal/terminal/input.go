package terminal

import (
	"strconv"
	"unicode/utf8"
)

// chunk is how much text goes to tmux at once: less than what fits into a message
// to its server.
const chunk = 4 << 10

// Send presses keys, by the names that tmux has for them: Enter, Escape, Tab, BSpace,
// Up, PageUp, Home, F1, C-a for control, M-a for alt, S-Up for shift, or a single
// character. What follows an Escape at once reads like a key with alt, so wait
// for what Escape does first.
func (term *Terminal) Send(keys ...string) {
	term.t.Helper()
	term.tmux(append([]string{"send-keys", "--"}, keys...)...)
}

// Type types text, character by character. A newline in it is Ctrl-J.
func (term *Terminal) Type(text string) {
	term.t.Helper()
	for text != "" {
		n := min(len(text), chunk)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		term.tmux("send-keys", "-l", "--", text[:n])
		text = text[n:]
	}
}

// Paste pastes text as a terminal does: with its newlines as carriage returns, and
// between brackets if the program has asked for them.
func (term *Terminal) Paste(text string) {
	term.t.Helper()
	if text == "" {
		return // tmux has no empty buffers
	}
	term.tmuxWith(text, "load-buffer", "-b", "paste", "-")
	term.tmux("paste-buffer", "-d", "-p", "-b", "paste")
}

// Resize gives the terminal another size.
func (term *Terminal) Resize(cols, rows int) {
	term.t.Helper()
	term.tmux("resize-window", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows))
}

// PID is the process of the program.
func (term *Terminal) PID() int { return term.pid }

// Kill ends the program with SIGKILL, unless it has ended.
func (term *Terminal) Kill() {
	term.t.Helper()
	if !term.Running() {
		return
	}
	term.signal(term.pid)
	term.WaitExit()
}
