package chat

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// key takes a key.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	leaving := m.leaving
	m.leaving = false
	m.notice = notice{}
	if name == "ctrl+c" {
		if leaving {
			return tea.Quit
		}
		m.leaving = true
		m.say("press Ctrl-C again to leave" + m.unsent() + m.cutOff())
		return nil
	}
	if m.screen != nil {
		return m.screen.key(m, msg)
	}
	if cmd, ok := m.anywhere(name); ok {
		return cmd
	}
	switch m.focus {
	case focusQuestion:
		return m.questionKey(name, msg)
	case focusQueue:
		return m.queueKey(name, msg)
	case focusFolds:
		return m.foldsKey(name, msg)
	case focusInput, focusAside:
	}
	return m.inputKey(name, msg)
}

// unsent says that who leaves now leaves messages behind.
func (m *model) unsent() string {
	switch n := len(m.outbox); n {
	case 0:
		return ""
	case 1:
		return "; your last message was not sent yet"
	default:
		return "; " + countOf(n, "message") + " were not sent yet"
	}
}

// cutOff says that who leaves now stops the agent, as nobody else runs it.
func (m *model) cutOff() string {
	if !m.cfg.Private || m.transcript.turn == nil {
		return ""
	}
	return "; the agent stops then, and goes on when you come back"
}

// anywhere takes the keys that do the same whatever has the focus.
func (m *model) anywhere(name string) (cmd tea.Cmd, ok bool) {
	if m.prefix != "" {
		m.prefix = ""
		if name == "ctrl+e" {
			return m.edit(), true
		}
		return nil, false
	}
	switch name {
	case "pgup", "pgdown":
		if m.focus == focusQuestion {
			return nil, false
		}
		by := max(m.layout().transcript-2, 1)
		if name == "pgup" {
			by = -by
		}
		return m.scroll(by), true
	case "ctrl+home":
		return m.scroll(-1 << 30), true
	case "ctrl+end":
		m.view.follow()
	case "f1":
		m.screen = &help{}
	case "ctrl+p":
		return m.pick(), true
	case "ctrl+g":
		return m.edit(), true
	case "ctrl+x":
		m.prefix = name
	case "ctrl+l":
		return redraw(), true
	default:
		return nil, false
	}
	return nil, true
}

// inputKey takes a key while somebody writes. The editor comes before sending and
// stopping: while it offers something, Enter takes that and Esc puts it away.
func (m *model) inputKey(name string, msg tea.KeyPressMsg) tea.Cmd {
	if m.input.Empty() {
		switch name {
		case "?":
			m.screen = &help{}
			return nil
		case "ctrl+d":
			return tea.Quit
		}
	}
	switch name {
	case "tab":
		if len(m.transcript.asked) > 0 && m.input.Empty() {
			m.focus = focusQuestion
			return nil
		}
	case "shift+tab", "alt+up":
		m.fold(-1)
		return nil
	case "ctrl+q":
		m.toQueue()
		return nil
	case "ctrl+t":
		return m.rewinding()
	case "ctrl+o":
		m.input.Unfold()
		return nil
	}
	if m.input.Update(msg) {
		return nil
	}
	switch name {
	case "enter":
		return m.send()
	case "esc":
		return m.escape()
	}
	return nil
}

// paste takes what was pasted. It is text, wherever the focus is.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	m.leaving, m.notice = false, notice{}
	if m.screen != nil {
		return m.screen.key(m, msg)
	}
	m.focus = focusInput
	m.input.Update(msg)
	return nil
}

// escape stops what the agent does.
func (m *model) escape() tea.Cmd {
	switch {
	case !m.view.following():
		m.view.follow()
	case len(m.attached) > 0 && m.input.Empty():
		m.attached = nil
	case m.transcript.turn != nil:
		return m.stop()
	}
	return nil
}

// wheelLines is how far one step of the wheel goes.
const wheelLines = 3

func (m *model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	by := wheelLines
	switch msg.Button {
	case tea.MouseWheelUp:
		by = -by
	case tea.MouseWheelDown:
	default:
		return nil
	}
	if m.screen != nil {
		return nil
	}
	return m.scroll(by)
}

// scroll moves the transcript, and has older messages read at its beginning.
func (m *model) scroll(by int) tea.Cmd {
	p := m.page()
	if m.view.scroll(&p, by) {
		return m.readOlder()
	}
	return nil
}

// typed gives the characters of a key, or "" if it has none.
func typed(msg tea.KeyPressMsg) string {
	if msg.Mod&^tea.ModShift != 0 {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, msg.Text)
}
