package chat

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat/editor"
)

// open shows a session: it is read, and then followed.
func (m *model) open(id parley.SessionID) tea.Cmd {
	if m.following != nil {
		m.following.stop()
	}
	ctx, stop := context.WithCancel(m.tasks.ctx)
	f := &following{id: id, clock: m.cfg.Clock, ctx: ctx, stop: stop, stream: make(chan streamed, 256), over: make(chan struct{})}
	m.following = f
	return m.tasks.cmd(func(context.Context) tea.Msg { return f.load(ctx, m.backend) })
}

// pause is how long to wait before something is tried again that failed.
const pause = time.Second

// reloadMsg has the session read anew.
type reloadMsg struct{ from *following }

// reload reads the session anew a little later.
func (m *model) reload() tea.Cmd {
	m.lost()
	f := m.following
	return m.after(pause, func() tea.Msg { return reloadMsg{f} })
}

// took shows a session that was read.
func (m *model) took(msg loadedMsg) tea.Cmd {
	if msg.from != m.following {
		return nil
	}
	if passes(msg.err) {
		return m.reload()
	}
	if msg.err != nil {
		m.tell(msg.err)
		return nil
	}
	wasLost := !m.connected
	m.back()
	another := !m.loaded || m.session.ID != msg.session.ID
	before := m.transcript
	m.session, m.loaded, m.older, m.waiting = msg.session, true, msg.page.Cursor, msg.waiting
	m.loadedTo = msg.session.LastSeq
	m.takesPart = slices.ContainsFunc(msg.people, func(who parley.Identity) bool { return m.isMe(who.ID) })
	m.transcript = newTranscript(m.theme.markdown(), m.isMe)
	m.transcript.shared = len(msg.people) > 1
	after := m.transcript.begin(msg.session, msg.page)
	if !another {
		m.transcript.keepOpen(before)
		if wasLost || !before.away.IsZero() {
			m.transcript.markAfter(before.seq, before.away)
		}
	} else {
		m.input = m.keepDraft()
		m.warned = false
	}
	m.forgetArrived()
	m.view.follow()
	m.focus, m.chosen, m.asked = focusInput, nil, askedLines{}
	for _, a := range msg.approvals {
		if a.Session == m.session.ID {
			m.transcript.ask(question{call: a.Call, tool: a.Tool, deadline: a.Deadline, fallback: a.Default})
		}
	}
	f := msg.from
	m.tasks.start(func() { f.run(f.ctx, m.backend, after) })
	return tea.Batch(m.next(f), m.resend())
}

// keepDraft gives an editor with the history of the session, what was being written, and
// what that replaced.
func (m *model) keepDraft() *editor.Editor {
	text := m.input.Value()
	history := m.transcript.history()
	if m.replaced != "" {
		history = append(history, m.replaced)
	}
	e := m.newEditor(history)
	e.SetValue(text)
	return e
}

func (m *model) next(f *following) tea.Cmd {
	return m.tasks.cmd(func(context.Context) tea.Msg { return f.next(f.ctx) })
}

// streamed takes what the stream brought.
func (m *model) streamed(msg streamMsg) tea.Cmd {
	if msg.from != m.following {
		return nil
	}
	look := false
	for _, s := range msg.batch {
		switch {
		case s.panic != "":
			panic(s.panic)
		case s.link != nil:
			look = m.linked(*s.link) || look
		case passes(s.err):
			return m.reload()
		case s.err != nil:
			m.tell(s.err)
			return nil
		case !m.transcript.apply(s.update):
			return m.open(m.session.ID)
		case s.update.Event != nil:
			look = look || m.concerns(s.update.Event)
			if s.update.Event.Type == parley.EventEnded && s.update.Event.Seq > m.loadedTo && m.transcript.next != "" {
				next := m.open(m.transcript.next)
				m.forgetArrived()
				return next
			}
		}
	}
	m.forgetArrived()
	if msg.over {
		return m.reload()
	}
	if m.transcript.turn == nil && len(m.transcript.items) > mostItems && m.view.following() && m.focus == focusInput {
		return m.open(m.session.ID) // with its newest page alone; the others can be read again
	}
	cmds := []tea.Cmd{m.next(msg.from)}
	if look {
		cmds = append(cmds, m.look(), m.resend())
	}
	return tea.Batch(cmds...)
}

// mostItems is how long a conversation may get here before what is far above is let go.
const mostItems = 3000

// concerns reports whether an event changes what is read of the session beside its log.
func (m *model) concerns(e *parley.Event) bool {
	switch e.Type {
	case parley.EventInput, parley.EventTurnStarted, parley.EventTurnCompleted, parley.EventUpdated, parley.EventDirectiveInjected, parley.EventParticipant:
		return e.Seq > m.session.LastSeq
	}
	return false
}

// linked takes a change of the connection, and reports whether it is back.
func (m *model) linked(c linkChange) bool {
	if c.lost != nil {
		m.lost()
		return false
	}
	if !m.connected {
		m.transcript.missed(m.cfg.Clock.Now())
	}
	m.back()
	return true
}

func (m *model) lost() {
	if m.connected {
		m.connected, m.lostAt = false, m.cfg.Clock.Now()
	}
}

func (m *model) back() { m.connected = true }

// lookedMsg is a session that was read anew, with what waits in it.
type lookedMsg struct {
	from    *following
	session parley.Session
	waiting []parley.Input
	err     error
}

// look reads the session anew, and what waits in it: one reading at a time, and one
// after the last thing that happened.
func (m *model) look() tea.Cmd {
	if m.looking {
		m.lookAgain = true
		return nil
	}
	m.looking = true
	f := m.following
	return m.tasks.cmd(func(context.Context) tea.Msg {
		msg := lookedMsg{from: f}
		if msg.session, msg.err = m.backend.Session(f.ctx, f.id); msg.err == nil {
			msg.waiting, msg.err = m.backend.Waiting(f.ctx, f.id)
		}
		return msg
	})
}

func (m *model) looked(msg lookedMsg) tea.Cmd {
	m.looking = false
	if msg.from == m.following && msg.err == nil {
		m.session, m.waiting = msg.session, msg.waiting
		m.queueAt = max(min(m.queueAt, len(m.waiting)-1), 0)
	}
	if m.lookAgain {
		m.lookAgain = false
		return m.look()
	}
	return nil
}

// olderMsg is a page of older messages.
type olderMsg struct {
	from *following
	page Page
	err  error
}

// readOlder reads the messages before those that are here.
func (m *model) readOlder() tea.Cmd {
	if m.older == "" || m.reading {
		return nil
	}
	m.reading = true
	f, cursor := m.following, m.older
	return m.tasks.cmd(func(context.Context) tea.Msg {
		page, err := m.backend.Messages(f.ctx, f.id, cursor, pageSize)
		return olderMsg{f, page, err}
	})
}

func (m *model) tookOlder(msg olderMsg) {
	m.reading = false
	switch {
	case msg.from != m.following:
	case msg.err != nil:
		m.tell(msg.err)
	default:
		m.transcript.older(msg.page)
		m.older = msg.page.Cursor
	}
}
