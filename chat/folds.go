package chat

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// fold chooses the next item that can be opened: up with -1, down with 1.
func (m *model) fold(by int) {
	items := m.transcript.all()
	at := len(items)
	if m.chosen != nil {
		at = slices.Index(items, m.chosen)
	}
	for i := at + by; i >= 0 && i < len(items); i += by {
		if items[i].folds() {
			m.focus, m.chosen = focusFolds, items[i]
			p := m.page()
			m.view.show(&p, m.chosen)
			return
		}
	}
	if by > 0 {
		m.unchoose()
		m.view.follow()
		return
	}
	if m.chosen == nil {
		m.say("there is nothing to open here")
	}
}

func (m *model) unchoose() { m.focus, m.chosen = focusInput, nil }

// foldsKey takes a key while an item is chosen. What is typed goes to the input.
func (m *model) foldsKey(name string, msg tea.KeyPressMsg) tea.Cmd {
	switch name {
	case "up", "shift+tab", "alt+up", "k":
		m.fold(-1)
	case "down", "tab", "alt+down", "j":
		m.fold(1)
	case "enter", "space":
		// What is above stays where it is, so that the beginning of what was opened is
		// seen, not its end.
		p := m.page()
		m.view.hold(&p)
		m.chosen.open = !m.chosen.open
		m.chosen.changed()
		m.view.scroll(&p, 0)
		m.view.show(&p, m.chosen)
	case "esc":
		m.unchoose()
	default:
		m.unchoose()
		return m.inputKey(name, msg)
	}
	return nil
}
