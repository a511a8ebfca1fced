package chat

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley"
)

// rewinder lists what was said, to go back to it.
type rewinder struct {
	said []point
	at   int
}

// point is a message to go back to.
type point struct {
	text   string
	files  bool   // files went with it
	before uint64 // the seq of what stands before it
}

// rewinding shows what was said.
func (m *model) rewinding() tea.Cmd {
	r := &rewinder{}
	before := uint64(1) // every log begins with the session's start
	for _, it := range m.transcript.items {
		if it.kind == itemSaid && it.said != "" && !it.undone {
			r.said = append(r.said, point{it.said, it.files, before})
		}
		before = it.seq
	}
	if len(r.said) == 0 {
		m.say("there is nothing to go back to")
		return nil
	}
	r.at = len(r.said) - 1
	m.screen = r
	return nil
}

func (r *rewinder) key(m *model, msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	p := r.said[r.at]
	switch key.String() {
	case "esc", "ctrl+t":
		m.screen = nil
	case "up", "k":
		r.at = max(r.at-1, 0)
	case "down", "j":
		r.at = min(r.at+1, len(r.said)-1)
	case "pgup":
		r.at = max(r.at-m.height/2, 0)
	case "pgdown":
		r.at = min(r.at+m.height/2, len(r.said)-1)
	case "enter":
		return m.rewind(p)
	case "f":
		return m.fork(m.session.ID, p.before, p.text)
	}
	return nil
}

func (r *rewinder) lines(m *model, width, height int) ([]string, *tea.Cursor) {
	lines := []string{m.theme.strong.Render("Go back to"), ""}
	room := max(height-len(lines)-1, 1)
	first := max(min(r.at-room/2, len(r.said)-room), 0)
	for i := first; i < min(first+room, len(r.said)); i++ {
		text := ansi.Truncate("  "+begins(r.said[i].text), width, "…")
		if i == r.at {
			text = m.theme.chosen.Render(text)
		}
		lines = append(lines, text)
	}
	foot := "Enter goes back to before it · f forks there · Esc"
	if m.older != "" {
		foot += " · scroll up in the conversation for older ones"
	}
	return append(fill(lines, height-1), m.theme.faint.Render(ansi.Truncate(foot, width, "…"))), nil
}

// rewoundMsg says what became of going back.
type rewoundMsg struct {
	session parley.SessionID
	text    string
	files   bool // files went with it
	err     error
}

// rewind takes a message and all after it out of the model's sight.
func (m *model) rewind(p point) tea.Cmd {
	id := m.session.ID
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		text, err := m.backend.RewindTo(ctx, id, p.before)
		if p.files {
			text = p.text // theirs has the files in it
		}
		return rewoundMsg{id, text, p.files, err}
	})
}

func (m *model) rewound(msg rewoundMsg) {
	if msg.err != nil {
		m.tell(msg.err)
		return
	}
	m.screen = nil
	if msg.session == m.session.ID {
		m.replace(msg.text)
		if msg.files {
			m.say("its files do not come back; attach them again")
		}
	}
}
