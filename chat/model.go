package chat

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat/editor"
)

// model is the whole program. It changes in Update alone.
type model struct {
	cfg     Config
	backend Backend
	tasks   *tasks
	theme   theme
	width   int
	height  int

	following  *following
	session    parley.Session
	loaded     bool
	loadedTo   uint64 // the last event when it was read
	takesPart  bool
	transcript *transcript
	view       viewport
	older      string // leads to the messages before those that are here
	reading    bool   // they are being read
	looking    bool   // the session is being read anew
	lookAgain  bool   // once more after that

	connected bool
	lostAt    time.Time

	input    *editor.Editor
	replaced string   // what was being written when something else was put in its place
	attached []string // files that go with the next message
	outbox   []*outgoing
	waiting  []parley.Input

	focus    focus
	chosen   *item         // with focusFolds
	queueAt  int           // with focusQueue
	askedFor parley.CallID // the question that has the focus, or had it
	askedOff int           // how far it is scrolled
	askedAt  time.Time     // when it got the focus
	asked    askedLines
	screen   screen
	prefix   string // the first key of two
	notice   notice
	leaving  bool // Ctrl-C was pressed once
	warned   bool // that who writes here takes no part
	ticking  bool
}

// focus is what keys act on.
type focus int

// The focuses.
const (
	focusInput focus = iota
	focusFolds
	focusQueue
	focusQuestion
	focusAside // the input, although a question is open
)

// notice is a line for the person, until the next key.
type notice struct {
	text string
	bad  bool
}

// screen is something in place of the conversation, such as a list to choose from.
type screen interface {
	// key takes a key or a paste. A screen is closed by the model.
	key(m *model, msg tea.Msg) tea.Cmd
	// lines draws it, with the cell of the cursor, if there is one.
	lines(m *model, width, height int) (lines []string, cursor *tea.Cursor)
}

func newModel(backend Backend, cfg Config, t *tasks) *model {
	m := &model{cfg: cfg, backend: backend, tasks: t, width: cfg.Width, height: cfg.Height, connected: true}
	m.theme = newTheme(!cfg.Light)
	m.input = m.newEditor(nil)
	m.session = cfg.Session
	m.transcript = newTranscript(m.theme.markdown(), m.isMe)
	if cfg.Notice != "" {
		m.notice = notice{text: cfg.Notice}
	}
	return m
}

func (m *model) isMe(id parley.IdentityID) bool { return slices.Contains(m.cfg.Me, id) }

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, m.open(m.session.ID))
}

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	m.mind()
	return m, tea.Batch(cmd, m.tick())
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m.resize(msg)
	case tea.BackgroundColorMsg:
		m.restyle(msg.IsDark())
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case loadedMsg:
		return m.took(msg)
	case streamMsg:
		return m.streamed(msg)
	case lookedMsg:
		return m.looked(msg)
	case olderMsg:
		m.tookOlder(msg)
	case tickMsg:
		m.ticking = false
	case reloadMsg:
		if msg.from == m.following {
			return m.open(m.session.ID)
		}
	default:
		return m.answer(msg)
	}
	return nil
}

// restyle fits the colours to the background.
func (m *model) restyle(dark bool) {
	if dark == m.theme.dark {
		return
	}
	m.theme = newTheme(dark)
	m.transcript.restyle(m.theme.markdown())
	m.input.SetColors(true, dark)
}

// tickMsg has the clock in the status line go on.
type tickMsg struct{}

// tick has a frame drawn every second while the agent works or the connection is lost.
func (m *model) tick() tea.Cmd {
	if m.ticking || m.transcript.turn == nil && m.connected {
		return nil
	}
	m.ticking = true
	return m.after(time.Second, func() tea.Msg { return tickMsg{} })
}

// mind keeps what keys act on to what is there.
func (m *model) mind() {
	switch {
	case m.focus == focusQueue && len(m.waiting) == 0,
		(m.focus == focusQuestion || m.focus == focusAside) && len(m.transcript.asked) == 0:
		m.focus = focusInput
	}
	if m.focus == focusInput && len(m.transcript.asked) > 0 && m.input.Empty() && m.screen == nil {
		m.focus, m.askedFor = focusQuestion, ""
	}
	// Another question may have taken the place of one that was answered elsewhere, or
	// ran out. Nobody has read it yet.
	if m.focus == focusQuestion && m.askedFor != m.transcript.asked[0].call {
		m.askedFor, m.askedOff, m.askedAt = m.transcript.asked[0].call, 0, m.cfg.Clock.Now()
	}
}

// tell shows an error.
func (m *model) tell(err error) { m.notice = notice{describe(err), true} }

// say shows something.
func (m *model) say(text string) { m.notice = notice{text: text} }

// after gives a message once some time has passed.
func (m *model) after(d time.Duration, msg func() tea.Msg) tea.Cmd {
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		due := make(chan struct{})
		stop := m.cfg.Clock.AfterFunc(d, func() { close(due) })
		defer stop()
		select {
		case <-due:
			return msg()
		case <-ctx.Done():
			return nil
		}
	})
}
