package markdown

import "slices"

// drawTail draws the blocks that further text may change.
func (d *Document) drawTail() []string {
	source := slices.Concat(d.state.opening, d.source[d.tail:])
	root := parse(source)
	if !d.finished {
		root, source = foresee(root, source, len(d.state.opening))
	}
	d.drawer.keep = make(map[codePart][]span)
	lines, _ := d.drawer.draw(root, source, d.width, d.state)
	d.drawer.recent, d.drawer.keep = d.drawer.keep, nil
	return lines
}
