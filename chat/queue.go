package chat

import (
	"context"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley"
)

// mostQueued is how many waiting messages are drawn.
const mostQueued = 5

// toQueue has keys act on the messages that wait.
func (m *model) toQueue() {
	if len(m.waiting) == 0 {
		m.say("no message waits")
		return
	}
	m.focus, m.queueAt = focusQueue, len(m.waiting)-1
}

func (m *model) queueKey(name string, msg tea.KeyPressMsg) tea.Cmd {
	switch name {
	case "up", "k":
		m.queueAt = max(m.queueAt-1, 0)
	case "down", "j":
		m.queueAt = min(m.queueAt+1, len(m.waiting)-1)
	case "d", "delete", "backspace":
		return m.withdraw(false)
	case "enter", "e":
		return m.withdraw(true)
	case "esc", "ctrl+q":
		m.focus = focusInput
	default:
		m.focus = focusInput
		return m.inputKey(name, msg)
	}
	return nil
}

// withdrawnMsg says what became of a message that was to be taken back.
type withdrawnMsg struct {
	from  *following
	input parley.Input
	edit  bool
	ok    bool
	err   error
}

// withdraw takes the chosen message back; edit: to change it.
func (m *model) withdraw(edit bool) tea.Cmd {
	f, in := m.following, m.waiting[m.queueAt]
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		ok, err := m.backend.Withdraw(ctx, f.id, in.Ref)
		return withdrawnMsg{f, in, edit, ok, err}
	})
}

func (m *model) withdrawn(msg withdrawnMsg) tea.Cmd {
	if msg.from != m.following {
		return nil
	}
	switch {
	case msg.err != nil:
		m.tell(msg.err)
	case !msg.ok:
		m.say("it does not wait any more")
	default:
		m.waiting = slices.DeleteFunc(m.waiting, func(in parley.Input) bool { return in.Ref == msg.input.Ref })
		m.queueAt = max(min(m.queueAt, len(m.waiting)-1), 0)
		m.say("taken back")
		if msg.edit {
			m.focus = focusInput
			text, files := spoken(msg.input.Parts)
			m.replace(text)
			if files {
				m.say("taken back; attach its files again")
			}
		}
	}
	return m.look()
}

// queueLines draws what waits, and what is on its way to the session, in at most height
// lines.
func (m *model) queueLines(width, height int) []string {
	var lines []string
	first, shown := 0, max(min(mostQueued, height-1), 1)
	if m.focus == focusQueue {
		first = max(m.queueAt-shown+1, 0)
	}
	for i := first; i < min(first+shown, len(m.waiting)); i++ {
		text := ansi.Truncate("◦ "+saidBriefly(m.waiting[i].Parts), width, "…")
		if m.focus == focusQueue && i == m.queueAt {
			lines = append(lines, m.theme.chosen.Render(text))
		} else {
			lines = append(lines, m.theme.faint.Render(text))
		}
	}
	if n := len(m.waiting); n > 0 {
		head := countOf(n, "message") + " waiting"
		switch {
		case m.focus == focusQueue:
			head += " · ↑↓ choose · d take back · Enter take back and edit · Esc"
		case n > shown:
			head += ", the first " + strconv.Itoa(shown) + " of them below · Ctrl-Q"
		default:
			head += " · Ctrl-Q"
		}
		lines = append([]string{m.theme.faint.Render(ansi.Truncate(head, width, "…"))}, lines...)
	}
	state := "sending"
	for _, o := range m.outbox {
		if o.failed {
			state = "waits for the connection" // and so do those after it
		}
		lines = append(lines, m.theme.faint.Render(ansi.Truncate("↑ "+state+": "+begins(o.text), width, "…")))
	}
	return lines[:min(len(lines), max(height, 0))]
}
