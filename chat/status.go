package chat

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
)

// noticeLines draws the notice above the input, where it has room to say it all.
func (m *model) noticeLines() []string {
	if m.notice.text == "" {
		return nil
	}
	style := m.theme.warn
	if m.notice.bad {
		style = m.theme.bad
	}
	return paint(style, wrap(line(m.notice.text), m.width))
}

// foot is the last line of a screen: the notice, as long as there is one, else the status.
func (m *model) foot() string {
	if lines := m.noticeLines(); len(lines) > 0 {
		return lines[0]
	}
	return m.status()
}

// status is the quiet line at the bottom: what goes on at the left, then what the
// conversation is, and the connection at the right. What does not fit is left out from
// the end.
func (m *model) status() string {
	right := m.connection()
	room := m.width - ansi.StringWidth(right) - 1
	text := m.doing()
	for _, part := range m.about() {
		if part == "" {
			continue
		}
		longer := text + " · " + part
		if text == "" {
			longer = part
		}
		if ansi.StringWidth(longer) > room {
			longer = ansi.Truncate(longer, room, "…")
			text = longer
			break
		}
		text = longer
	}
	gap := strings.Repeat(" ", max(m.width-ansi.StringWidth(text)-ansi.StringWidth(right), 0))
	return m.theme.faint.Render(text+gap) + m.theme.warn.Render(right)
}

// doing says what the agent does.
func (m *model) doing() string {
	t := m.transcript.turn
	switch {
	case t == nil:
		return ""
	case t.stopping:
		return "stopping"
	case len(m.transcript.asked) > 0:
		return "waits for you"
	}
	text := "working"
	if !t.since.IsZero() {
		text += " " + lasting(m.cfg.Clock.Now().Sub(t.since))
	}
	return text + ", Esc stops"
}

// about gives what the conversation is, the most important first.
func (m *model) about() []string {
	s := &m.session
	about := []string{line(s.Agent.Name), line(m.model())}
	if u := s.Counters.Usage; s.Counters.Turns > 0 {
		about = append(about, command.Money(u.CostMicroUSD), tokens(u.PromptTokens()+u.OutputTokens)+" tokens")
	}
	if m.loaded && !m.takesPart {
		about = append(about, "you only look on")
	}
	return append(about, m.title())
}

// model names the model that answered last. Those that need no network say so.
func (m *model) model() string {
	if strings.HasPrefix(m.transcript.model, "scripted/") {
		return m.transcript.model + " (offline)"
	}
	return m.transcript.model
}

// title is what the conversation is called: as people named it, else by how it began,
// if that is known, as it does not change with each message.
func (m *model) title() string {
	if m.session.Title.Text != "" {
		return line(m.session.Title.Text)
	}
	if m.older == "" {
		for _, it := range m.transcript.items {
			if it.kind == itemSaid && it.said != "" {
				return ansi.Truncate(begins(it.said), 60, "…")
			}
		}
	}
	return string(m.session.ID)
}

// connection says how the program is connected, if that is worth a word.
func (m *model) connection() string {
	switch {
	case !m.connected:
		return "reconnecting " + lasting(m.cfg.Clock.Now().Sub(m.lostAt))
	case m.cfg.Private:
		return "no daemon"
	case m.session.Status == parley.StatusInactive && m.session.Ended != nil:
		return "ended"
	}
	return ""
}
