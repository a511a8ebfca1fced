package markdown

// Drawn gives how many blocks and items of the top level were drawn so far.
func (d *Document) Drawn() int { return d.drawer.blocks }

// DrawOnce draws a text in one piece, as if nothing was ever kept.
func DrawOnce(style Style, text string, width int) []string {
	var c cleaner
	source := c.flush(c.clean(nil, text))
	w := drawer{palette: paletteOf(style)}
	lines, _ := w.draw(parse(source), source, width, state{})
	return lines
}

// Colors gives the colours of a style.
func Colors(style Style) map[uint8]bool {
	p := paletteOf(style)
	used := make(map[uint8]bool)
	for _, l := range append(p.heading[:],
		p.strong, p.emph, p.strike, p.code, p.link, p.quiet, p.done,
		p.keyword, p.name, p.kind, p.literal, p.number, p.comment, p.inserted, p.deleted) {
		used[l.color] = true
	}
	return used
}
