package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley"
)

// How many sessions are read at a time, and at most while something is searched for.
const (
	listSize   = 100
	mostListed = 5000
)

// picker is the list of conversations.
type picker struct {
	query    string
	sessions []parley.Session
	found    []int // those of them that fit the query
	at       int   // among found
	cursor   string
	reading  bool
	ended    bool // those that have ended are shown as well
	round    int  // of the reading; answers to earlier ones are left alone
}

// pick shows the list.
func (m *model) pick() tea.Cmd {
	p := &picker{ended: true}
	m.screen = p
	return p.read(m, true)
}

// listedMsg is a page of sessions.
type listedMsg struct {
	to    *picker
	round int
	page  parley.SessionPage
	err   error
}

// read reads the next page, or begins anew.
func (p *picker) read(m *model, anew bool) tea.Cmd {
	if anew {
		p.round++
		p.sessions, p.found, p.at, p.cursor = nil, nil, 0, ""
	}
	p.reading = true
	round, q := p.round, parley.SessionQuery{IncludeInactive: p.ended, Limit: listSize, Cursor: p.cursor}
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		page, err := m.backend.Sessions(ctx, q)
		return listedMsg{p, round, page, err}
	})
}

func (m *model) listed(msg listedMsg) tea.Cmd {
	p := msg.to
	if m.screen != p || msg.round != p.round {
		return nil
	}
	p.reading = false
	if msg.err != nil {
		m.tell(msg.err)
		return nil
	}
	p.sessions = append(p.sessions, msg.page.Sessions...)
	p.cursor = msg.page.Cursor
	p.find()
	return p.more(m)
}

// more reads on while fewer are found than the window has room for.
func (p *picker) more(m *model) tea.Cmd {
	if p.reading || p.cursor == "" || len(p.sessions) >= mostListed || len(p.found)-p.at > m.height {
		return nil
	}
	return p.read(m, false)
}

// find looks for the sessions that have all words of the query.
func (p *picker) find() {
	words := strings.Fields(strings.ToLower(p.query))
	p.found = p.found[:0]
	for i := range p.sessions {
		s := &p.sessions[i]
		text := strings.ToLower(strings.Join([]string{s.Title.Text, s.Preview, s.Agent.Name, sourceOf(s)}, " "))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) && !idBegins(s.ID, w) }) {
			p.found = append(p.found, i)
		}
	}
	p.at = max(min(p.at, len(p.found)-1), 0)
}

// idBegins reports whether a session's id, or the random part at its end, begins so. What
// is between is a time, in which every number can be found.
func idBegins(id parley.SessionID, word string) bool {
	text := strings.ToLower(string(id))
	return strings.HasPrefix(text, word) || strings.HasPrefix(text[strings.LastIndexAny(text, ":_")+1:], word)
}

// sourceOf says where a session was started.
func sourceOf(s *parley.Session) string {
	if s.Source.Platform != "" {
		return s.Source.Platform
	}
	return s.Source.Kind
}

// chosen gives the session that keys act on.
func (p *picker) chosen() (parley.Session, bool) {
	if p.at >= len(p.found) {
		return parley.Session{}, false
	}
	return p.sessions[p.found[p.at]], true
}

func (p *picker) key(m *model, msg tea.Msg) tea.Cmd {
	if paste, ok := msg.(tea.PasteMsg); ok {
		return p.search(m, p.query+line(paste.Content))
	}
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	s, ok := p.chosen()
	switch key.String() {
	case "esc", "ctrl+p":
		m.screen = nil
	case "up", "ctrl+k":
		p.move(-1)
	case "down", "ctrl+j":
		p.move(1)
		return p.more(m)
	case "pgup":
		p.move(-(m.height - 4) / 2)
	case "pgdown":
		p.move((m.height - 4) / 2)
		return p.more(m)
	case "tab":
		p.ended = !p.ended
		return p.read(m, true)
	case "enter":
		if ok {
			return m.enter(s)
		}
	case "ctrl+f":
		if ok {
			return m.fork(s.ID, 0, "")
		}
	case "ctrl+n":
		return m.anew()
	case "ctrl+u":
		return p.search(m, "")
	case "backspace":
		if r := []rune(p.query); len(r) > 0 {
			return p.search(m, string(r[:len(r)-1]))
		}
	default:
		if text := typed(key); text != "" {
			return p.search(m, p.query+text)
		}
	}
	return nil
}

func (p *picker) move(by int) { p.at = max(min(p.at+by, len(p.found)-1), 0) }

func (p *picker) search(m *model, query string) tea.Cmd {
	p.query, p.at = query, 0
	p.find()
	return p.more(m)
}

func (p *picker) lines(m *model, width, height int) ([]string, *tea.Cursor) {
	t := m.theme
	head, other := "Conversations", "Tab without ended ones"
	if !p.ended {
		head, other = "Conversations that have not ended", "Tab all"
	}
	query := "search: " + p.query
	lines := []string{t.strong.Render(ansi.Truncate(head, width, "…")), ansi.Truncate(query, width-1, "…"), t.faint.Render(strings.Repeat("─", width))}
	room := max((height-len(lines)-1)/2, 1)
	first := max(min(p.at-room/2, len(p.found)-room), 0)
	for i := first; i < min(first+room, len(p.found)); i++ {
		lines = append(lines, m.listLine(&p.sessions[p.found[i]], i == p.at, width)...)
	}
	if len(p.found) == 0 {
		text := "nothing is found"
		if p.reading {
			text = "reading…"
		}
		lines = append(lines, t.faint.Render(text))
	}
	foot := fmt.Sprintf("%d found · Enter opens · Ctrl-F fork · Ctrl-N new · %s · Esc", len(p.found), other)
	if ansi.StringWidth(foot) > width {
		foot = fmt.Sprintf("%d found · Ctrl-F fork · Ctrl-N new · %s · Esc", len(p.found), strings.Replace(other, "without ended ones", "not ended", 1))
	}
	if p.cursor != "" && len(p.sessions) >= mostListed {
		foot = fmt.Sprintf("the last %d were searched · ", len(p.sessions)) + foot
	}
	lines = append(fill(lines, height-1), t.faint.Render(ansi.Truncate(foot, width, "…")))
	return lines, tea.NewCursor(min(ansi.StringWidth(query), width-1), 1)
}

// listLine draws a session: when, what it is called, where it began; and a line of what
// was said last.
func (m *model) listLine(s *parley.Session, chosen bool, width int) []string {
	title := line(s.Title.Text)
	if title == "" {
		title = string(s.ID)
	}
	mark := "  "
	switch {
	case s.ID == m.session.ID:
		mark = "* "
	case s.Status == parley.StatusRunning:
		mark = "● "
	case s.Status == parley.StatusAwaitingApproval:
		mark = "? "
	}
	right := " " + line(sourceOf(s)) + " · " + ago(m.cfg.Clock.Now(), s.UpdatedAt)
	if s.Ended != nil {
		right = " ended" + right
	}
	left := ansi.Truncate(mark+title, max(width-ansi.StringWidth(right), 8), "…")
	gap := strings.Repeat(" ", max(width-ansi.StringWidth(left)-ansi.StringWidth(right), 0))
	preview := ansi.Truncate("    "+line(s.Preview), width, "…")
	if chosen {
		return []string{m.theme.chosen.Render(left + gap + right), m.theme.accent.Render(preview)}
	}
	return []string{left + gap + m.theme.faint.Render(right), m.theme.faint.Render(preview)}
}
