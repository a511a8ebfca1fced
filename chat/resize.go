package chat

import tea "charm.land/bubbletea/v2"

// resize takes a new size of the window.
func (m *model) resize(to tea.WindowSizeMsg) tea.Cmd {
	if to.Width == m.width && to.Height == m.height {
		return nil
	}
	m.width, m.height = to.Width, to.Height
	return redraw()
}

// redraw draws the whole window anew, in all of its lines.
//
// To move some lines the renderer bounds what scrolls, and then sets the bounds to what
// it takes for the whole window. If the window has another height by then, and nobody has
// told the program yet, they stay in the middle of it, and what is drawn next scrolls
// above them. So the bounds are taken away first; that moves the cursor, which is put back.
func redraw() tea.Cmd {
	const withoutBounds = "\x1b7\x1b[r\x1b8"
	return tea.Sequence(tea.Raw(withoutBounds), tea.ClearScreen)
}
