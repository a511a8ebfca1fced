package chat

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley"
)

// switchedMsg is the session to show from now on.
type switchedMsg struct {
	session parley.Session
	text    string // to go on writing with
	say     string
	err     error
}

func (m *model) switched(msg switchedMsg) tea.Cmd {
	if msg.err != nil {
		m.tell(msg.err)
		return nil
	}
	m.screen = nil
	if msg.text != "" {
		m.replace(msg.text)
	}
	m.say(msg.say)
	if m.session.ID != msg.session.ID {
		m.loaded = false
		m.session, m.waiting = msg.session, nil
		m.transcript = newTranscript(m.theme.markdown(), m.isMe)
	}
	return m.open(msg.session.ID)
}

// replace puts something else into the input; what was there can be had back with ↑.
func (m *model) replace(text string) {
	if !m.input.Empty() {
		m.replaced = m.input.Value()
		m.input.Remember(m.replaced)
	}
	m.input.SetValue(text)
}

// enter goes to another session. One's own that has ended is resumed, so that it can be
// written in; others are only looked at.
func (m *model) enter(s parley.Session) tea.Cmd {
	if s.Ended == nil || s.Key == "" {
		return m.switched(switchedMsg{session: s})
	}
	m.say("resuming…")
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		people, err := m.backend.Participants(ctx, s.ID)
		if err != nil {
			return switchedMsg{err: err}
		}
		if !slices.ContainsFunc(people, func(who parley.Identity) bool { return m.isMe(who.ID) }) {
			return switchedMsg{session: s, say: "this conversation has ended"}
		}
		resumed, err := m.backend.Resume(ctx, s.ID)
		return switchedMsg{session: resumed, err: err}
	})
}

// anew starts the terminal's own conversation over.
func (m *model) anew() tea.Cmd {
	agent := m.session.Agent.Name
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		s, err := m.backend.Enter(ctx, agent, true)
		return switchedMsg{session: s, say: "a new conversation; the one before is kept", err: err}
	})
}

// fork goes on from a point of a session in another, with something to write.
func (m *model) fork(id parley.SessionID, at uint64, text string) tea.Cmd {
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		s, err := m.backend.Fork(ctx, id, at)
		return switchedMsg{session: s, text: text, say: "a fork; the other conversation stays as it is", err: err}
	})
}
