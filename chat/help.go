package chat

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// help shows the keys.
type help struct{ off int }

// helpKeys are all keys, as docs/chat.md has them.
var helpKeys = []struct{ keys, does string }{
	{"", "Writing"},
	{"Enter", "send"},
	{"Alt-Enter, Ctrl-J, \\ Enter", "a new line"},
	{"↑ ↓", "through the lines, then through what you said before"},
	{"Ctrl-R", "search in what you said before"},
	{"Tab", "take what is offered after / or @"},
	{"@file", "send a file along; /attach FILE does too"},
	{"Ctrl-O", "open what was pasted, if it is folded"},
	{"Ctrl-G, Ctrl-X Ctrl-E", "write in your own editor ($EDITOR)"},
	{"Ctrl-A E K U W Y, Ctrl-_", "move, delete, put back; undo"},
	{"", ""},
	{"", "The conversation"},
	{"Esc", "stop what the agent does"},
	{"PgUp PgDn, mouse wheel", "scroll; Ctrl-Home and Ctrl-End to the ends"},
	{"Shift and the mouse", "select text, as the terminal does it"},
	{"Shift-Tab, Alt-↑", "choose a tool call, a thought or a long message; Enter opens it"},
	{"Ctrl-Q", "choose a message that waits; d takes it back, Enter edits it"},
	{"Ctrl-T", "go back to a message of yours, or fork there"},
	{"Ctrl-P", "other conversations: search, go on, fork, start anew"},
	{"", ""},
	{"", "When a tool needs your approval"},
	{"y", "allow this call"},
	{"a", "allow the tool in this conversation from now on"},
	{"n", "refuse"},
	{"Tab", "write something first"},
	{"", ""},
	{"", "Leaving"},
	{"Ctrl-C twice", "leave; the agent goes on, if a daemon runs it"},
	{"Ctrl-D", "leave, if nothing is written"},
	{"Ctrl-L", "draw everything anew"},
	{"F1, ?", "this help"},
}

func (h *help) key(m *model, msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	switch key.String() {
	case "up", "k":
		h.off--
	case "down", "j", "space":
		h.off++
	case "pgup":
		h.off -= m.height - 3
	case "pgdown":
		h.off += m.height - 3
	default:
		m.screen = nil
	}
	return nil // what is too far is put right where it is drawn
}

func (h *help) lines(m *model, width, height int) ([]string, *tea.Cursor) {
	head := []string{m.theme.strong.Render("Keys") + m.theme.faint.Render("  any key goes back, ↑↓ scroll"), ""}
	const column = 30
	var lines []string
	for _, k := range helpKeys {
		if k.keys == "" {
			lines = append(lines, m.theme.accent.Render(k.does))
			continue
		}
		left := "  " + k.keys
		for _, does := range wrap(k.does, width-column) {
			gap := strings.Repeat(" ", max(column-ansi.StringWidth(left), 1))
			lines = append(lines, ansi.Truncate(left+gap+m.theme.faint.Render(does), width, "…"))
			left = ""
		}
	}
	h.off = max(min(h.off, len(lines)-(height-len(head))), 0)
	return append(head, lines[h.off:]...), nil
}
