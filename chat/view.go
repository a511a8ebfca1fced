package chat

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// The smallest window that is drawn in, and the widest lines of a conversation: longer
// ones are hard to read.
const (
	minWidth, minHeight = 40, 10
	maxTextWidth        = 120
)

// layout is how the lines of the window are shared out.
type layout struct {
	transcript int
	middle     []string // between the transcript and the input
	input      []string
	x, y       int // of the cursor in the input
}

// layout shares out the lines: the transcript gets what the others leave.
func (m *model) layout() layout {
	var l layout
	l.input, l.x, l.y = m.input.View(m.width, max(m.height/3, 3))
	room := m.height - len(l.input) - 2 // the line above the input, and the status
	left := max(room-2, 0)
	take := func(lines []string) []string {
		lines = lines[:min(len(lines), left)]
		left -= len(lines)
		return lines
	}
	// Where there is little room, what answers the last key comes first, then what the
	// agent asks.
	said := take(m.noticeLines())
	asked := take(m.questionLines(m.width))
	var files []string
	if len(m.attached) > 0 {
		files = take([]string{m.theme.faint.Render(ansi.Truncate("with "+names(m.attached)+" · Esc without", m.width, "…"))})
	}
	l.middle = slices.Concat(asked, take(m.queueLines(m.width, left)), files, said)
	l.transcript = max(room-len(l.middle), 0)
	return l
}

func names(files []string) string {
	short := make([]string, len(files))
	for i, f := range files {
		short[i] = line(filepath.Base(f))
	}
	return strings.Join(short, ", ")
}

// page is the transcript as the viewport looks at it.
func (m *model) page() page {
	return page{items: m.transcript.all(), theme: m.theme, width: m.textWidth(), height: m.layout().transcript}
}

func (m *model) textWidth() int { return min(m.width, maxTextWidth) }

// View implements [tea.Model].
func (m *model) View() tea.View {
	lines, cursor := m.draw()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.Cursor = cursor
	v.WindowTitle = "parley · " + m.title()
	return v
}

// draw gives the lines of the window, and the cursor if there is one.
func (m *model) draw() ([]string, *tea.Cursor) {
	if m.width == 0 || m.height == 0 {
		return nil, nil // the size comes first
	}
	if m.width < minWidth || m.height < minHeight {
		return []string{ansi.Truncate(fmt.Sprintf("too small: %dx%d is needed", minWidth, minHeight), m.width, "")}, nil
	}
	if m.screen != nil {
		lines, cursor := m.screen.lines(m, m.width, m.height-1)
		return append(fill(lines, m.height-1), m.foot()), cursor
	}
	l := m.layout()
	p := page{items: m.transcript.all(), theme: m.theme, width: m.textWidth(), height: l.transcript}
	lines := m.transcriptLines(&p)
	lines = append(lines, l.middle...)
	lines = append(lines, m.rule())
	y := len(lines) + l.y
	lines = append(lines, l.input...)
	lines = append(fill(lines, m.height-1), m.status())
	if m.focus != focusInput && m.focus != focusAside {
		return lines, nil
	}
	return lines, tea.NewCursor(l.x, y)
}

// transcriptLines draws what is seen of the conversation, at the bottom of its room.
func (m *model) transcriptLines(p *page) []string {
	if !m.loaded {
		return fill([]string{m.theme.faint.Render("reading…")}, p.height)
	}
	if len(p.items) == 0 {
		hello := m.theme.faint.Render(ansi.Truncate("A conversation with "+line(m.session.Agent.Name)+". Write something; ? shows the keys.", p.width, "…"))
		return fill([]string{"", hello}, p.height)
	}
	lines := m.view.visible(p)
	if m.focus == focusFolds {
		lines = m.markChosen(p, lines)
	}
	if n := len(lines); n < p.height {
		// A short conversation begins at the top.
		return fill(lines, p.height)
	}
	return lines
}

// markChosen shows which item keys act on, by its first line.
func (m *model) markChosen(p *page, lines []string) []string {
	i, off := m.view.at(p)
	at := -off
	for ; i < len(p.items) && at < len(lines); i++ {
		head := at + p.gap(i)
		if p.items[i] == m.chosen && head >= 0 && head < len(lines) {
			lines[head] = m.theme.chosen.Render(ansi.Strip(lines[head]))
		}
		at += p.tall(i)
	}
	return lines
}

// rule is the line above the input. It says if there is something below what is seen.
func (m *model) rule() string {
	if !m.view.following() {
		return m.theme.warn.Render(across("there is more below · PgDn · Esc to the end", m.width))
	}
	return m.theme.faint.Render(strings.Repeat("─", m.width))
}

// fill gives exactly n lines.
func fill(lines []string, n int) []string {
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:n]
}
