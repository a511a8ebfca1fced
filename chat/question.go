package chat

import (
	"context"
	"errors"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley"
)

// grace is how long a question has the focus before it can be answered: what somebody
// was typing when it came is no answer.
const grace = 600 * time.Millisecond

// questionKey takes a key while a question has the focus. Everything that is no answer
// goes where it would have gone.
func (m *model) questionKey(name string, msg tea.KeyPressMsg) tea.Cmd {
	q := m.transcript.asked[0]
	switch name {
	case "y", "a", "n":
		if m.cfg.Clock.Now().Sub(m.askedAt) < grace {
			m.say("the agent asks something: read it, then answer")
			return nil
		}
		return m.decide(q, name != "n", name == "a")
	case "up", "k":
		m.askedOff = max(m.askedOff-1, 0)
	case "down", "j":
		m.askedOff++ // the lines are counted where they are drawn
	case "pgup":
		m.askedOff = max(m.askedOff-m.questionHeight(), 0)
	case "pgdown":
		m.askedOff += m.questionHeight()
	case "tab", "i":
		m.focus = focusAside
	case "esc":
		return m.stop()
	case "shift+tab", "alt+up", "ctrl+q", "ctrl+t", "ctrl+d", "?":
		return m.inputKey(name, msg)
	}
	return nil
}

// decidedMsg says what became of an answer.
type decidedMsg struct {
	from *following
	call parley.CallID
	err  error
}

// decide answers a question.
func (m *model) decide(q question, allow, always bool) tea.Cmd {
	f := m.following
	m.transcript.answered(q.call)
	return m.tasks.cmd(func(ctx context.Context) tea.Msg {
		return decidedMsg{f, q.call, m.backend.Approve(ctx, f.id, q.call, allow, always)}
	})
}

// decided asks again if the answer did not arrive. If another was first, its event
// says so.
func (m *model) decided(msg decidedMsg) tea.Cmd {
	if msg.from != m.following || msg.err == nil {
		return nil
	}
	m.tell(msg.err)
	if errors.Is(msg.err, parley.ErrConflict) {
		return nil
	}
	return m.open(m.session.ID)
}

// questionHeight is how many lines of a question are seen at once.
func (m *model) questionHeight() int { return max(m.height/2-4, 1) }

// askedLines are the lines of the call that is asked about. It may be long, and is drawn
// in every frame.
type askedLines struct {
	call  parley.CallID
	width int
	lines []string
}

func (m *model) callLines(id parley.CallID, width int) []string {
	it := m.transcript.calls[id]
	if it == nil {
		return nil
	}
	if m.asked.call != id || m.asked.width != width {
		m.asked = askedLines{id, width, argumentLines(it.call.arguments, width)}
	}
	return m.asked.lines
}

// questionLines draws the question that is open: the call in full.
func (m *model) questionLines(width int) []string {
	if len(m.transcript.asked) == 0 {
		return nil
	}
	q := m.transcript.asked[0]
	head := line(q.tool) + " needs your approval"
	if !q.deadline.IsZero() {
		head += " · " + string(q.fallback) + " in " + lasting(q.deadline.Sub(m.cfg.Clock.Now()))
	}
	if n := len(m.transcript.asked); n > 1 {
		head += " · " + countOf(n-1, "more question") + " after this"
	}
	lines := []string{m.theme.warn.Render(across(head, width))}
	body := m.callLines(q.call, width-2)
	height := m.questionHeight()
	m.askedOff = max(min(m.askedOff, len(body)-height), 0)
	seen := body[m.askedOff:min(m.askedOff+height, len(body))]
	lines = append(lines, indent(seen, "  ")...)
	if more := len(body) - height; more > 0 {
		lines = append(lines, m.theme.faint.Render(ansi.Truncate("  "+countOf(len(body), "line")+", these from "+strconv.Itoa(m.askedOff+1)+" · ↑↓ PgUp PgDn", width, "…")))
	}
	keys := "y once · a always in this session · n no · Esc stop the turn · Tab write"
	if ansi.StringWidth(keys) > width {
		keys = "y once · a always · n no · Esc stop · Tab write"
	}
	if m.focus != focusQuestion {
		keys = "Tab on an empty line to answer"
	}
	lines = append(lines, m.theme.warn.Render(ansi.Truncate(keys, width, "…")))
	return lines
}
