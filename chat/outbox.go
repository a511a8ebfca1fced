package chat

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
)

// outgoing is a message on its way. It has its id from the start, so that it is said
// once however often it is sent.
type outgoing struct {
	id      string
	session parley.SessionID
	text    string
	files   []string
	parts   []parley.Part // once the files were read
	posting bool          // it is on its way
	arrived bool          // the session has it
	failed  bool          // it is sent again when the connection is back
}

// send says what was written, or does what it asks of the program itself.
func (m *model) send() tea.Cmd {
	text := m.input.Value()
	if strings.TrimSpace(text) == "" && len(m.attached) == 0 {
		return nil
	}
	if cmd, ok := m.own(text); ok {
		return cmd
	}
	switch {
	case !m.loaded && m.session.ID != m.cfg.Session.ID:
		m.say("the conversation is still being read")
		return nil
	case len(text) > parley.MaxBodyBytes:
		m.tell(parley.Errorf(parley.CodeTooLarge, "the message has %s, and may have %s", size(int64(len(text))), size(parley.MaxBodyBytes)))
		return nil
	case m.loaded && !m.takesPart && !m.warned:
		m.warned = true
		m.say("you take no part in this conversation; Enter says it nevertheless, as you")
		return nil
	}
	o := &outgoing{id: m.cfg.IDFunc(), session: m.session.ID, text: text, files: m.attached}
	m.outbox = append(m.outbox, o)
	m.attached = nil
	m.clear(text)
	m.view.follow()
	if !m.loaded {
		o.failed = true // it is sent when the session was read
		return nil
	}
	return m.dispatch()
}

// dispatch sends the next message, once those before it have arrived: what is said
// first comes first.
func (m *model) dispatch() tea.Cmd {
	for _, o := range m.outbox {
		switch {
		case o.arrived:
		case o.posting || o.failed:
			return nil
		default:
			return m.post(o)
		}
	}
	return nil
}

// clear empties the input, and remembers what was in it.
func (m *model) clear(text string) {
	m.input.Remember(text)
	m.input.Reset()
}

// own carries out the commands that are the program's own.
func (m *model) own(text string) (cmd tea.Cmd, ok bool) {
	name, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToLower(name) {
	case "/" + command.NameSessions:
		cmd = m.pick()
	case "/attach":
		if !m.attach(strings.TrimSpace(args)) {
			return nil, true // it stays, to be corrected
		}
	case "/rewind":
		cmd = m.rewinding()
	case "/edit":
		m.input.Reset()
		return m.edit(), true
	case "/quit", "/exit":
		cmd = tea.Quit
	default:
		return nil, false
	}
	m.clear(text)
	return cmd, true
}

// postedMsg says what became of a message.
type postedMsg struct {
	out *outgoing
	// parts are what was sent; nil: the files could not be read.
	parts   []parley.Part
	moved   *parley.Session // where the conversation goes on
	receipt parley.Receipt
	err     error
}

// post sends a message. If its session was replaced meanwhile, it goes to the one that
// took its place, unless it is one of others.
func (m *model) post(o *outgoing) tea.Cmd {
	o.posting = true
	text, files, parts, id, agent := o.text, o.files, o.parts, o.session, m.session.Agent.Name
	looksOn := id == m.session.ID && !m.takesPart
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		msg := postedMsg{out: o, parts: parts}
		if msg.parts == nil {
			if msg.parts, msg.err = m.cfg.read(ctx, m.backend, text, files); msg.err != nil {
				return msg
			}
		}
		in := parley.Input{Ref: parley.InputRef{ID: o.id}, Parts: msg.parts, Mentioned: true}
		msg.receipt, msg.err = m.backend.Post(ctx, id, in)
		if !errors.Is(msg.err, parley.ErrConflict) || looksOn {
			return msg
		}
		if s, err := m.backend.Session(ctx, id); err != nil || s.Ended == nil {
			return msg
		}
		s, err := m.backend.Enter(ctx, agent, false)
		if err != nil {
			return msg
		}
		msg.moved = &s
		msg.receipt, msg.err = m.backend.Post(ctx, s.ID, in)
		return msg
	})
}

func (m *model) posted(msg postedMsg) tea.Cmd {
	o := msg.out
	o.parts, o.posting = msg.parts, false
	var cmds []tea.Cmd
	if msg.moved != nil && o.session == m.session.ID {
		o.session = msg.moved.ID
		m.say("that conversation has ended; it goes on in this one")
		cmds = append(cmds, m.open(msg.moved.ID))
	}
	switch {
	case passes(msg.err) && o.parts != nil:
		if slices.Contains(m.outbox, o) {
			o.failed = true
			cmds = append(cmds, m.after(pause, func() tea.Msg { return resendMsg{} }))
		}
	case msg.err != nil:
		m.drop(o)
		m.tell(msg.err)
		if m.input.Empty() {
			m.input.SetValue(o.text)
			m.attached = o.files
		} else {
			m.notice.text += "; it was not sent, ↑ brings it back"
		}
	case msg.receipt.State == parley.InputDropped:
		m.drop(o)
		m.notice = notice{"the message was dropped", true}
	default:
		o.arrived = true
		m.forgetArrived()
	}
	return tea.Batch(append(cmds, m.dispatch())...)
}

// resendMsg has messages sent again that did not arrive.
type resendMsg struct{}

func (m *model) resend() tea.Cmd {
	for _, o := range m.outbox {
		o.failed = false
	}
	return m.dispatch()
}

// forgetArrived forgets the messages that the session has: from then on it shows them. Those that
// have arrived in another session are shown there.
func (m *model) forgetArrived() {
	m.outbox = slices.DeleteFunc(m.outbox, func(o *outgoing) bool {
		return m.transcript.seen[o.id] || o.arrived && o.session != m.following.id
	})
}

func (m *model) drop(o *outgoing) {
	m.outbox = slices.DeleteFunc(m.outbox, func(have *outgoing) bool { return have == o })
}

// stoppedMsg says whether a turn could be stopped.
type stoppedMsg struct{ err error }

// stop stops the turn.
func (m *model) stop() tea.Cmd {
	t := m.transcript.turn
	if t == nil || t.stopping {
		return nil
	}
	t.stopping = true
	id, turn := m.session.ID, t.id
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		_, err := m.backend.Cancel(ctx, id, turn)
		return stoppedMsg{err}
	})
}

// answer takes the answers to what was asked of the backend.
func (m *model) answer(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case postedMsg:
		return m.posted(msg)
	case resendMsg:
		return m.resend()
	case stoppedMsg:
		if msg.err != nil {
			m.tell(msg.err)
			if m.transcript.turn != nil {
				m.transcript.turn.stopping = false
			}
		}
	case withdrawnMsg:
		return m.withdrawn(msg)
	case decidedMsg:
		return m.decided(msg)
	case listedMsg:
		return m.listed(msg)
	case switchedMsg:
		return m.switched(msg)
	case rewoundMsg:
		m.rewound(msg)
	case editedMsg:
		m.edited(msg)
	}
	return nil
}

// passes reports whether an error may pass by itself.
func passes(err error) bool {
	return errors.Is(err, parley.ErrUnavailable) || errors.Is(err, parley.ErrRateLimited)
}

// describe gives an error as a person should read it, with its code.
func describe(err error) string {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		text := line(err.Error()) + " (" + string(e.Code) + ")"
		if e.Code == parley.CodeTooLarge {
			text += "; put long text into a file, and /attach that"
		}
		return text
	}
	return line(err.Error())
}
