package chat

import "slices"

// viewport is which part of the transcript is seen. It holds on to an item, not to a
// number of lines: so what is far away need not be drawn, and may change its height.
type viewport struct {
	top *item // the first that is seen; nil: the end is
	off int   // how many of its lines are above
}

// page is what a viewport looks at.
type page struct {
	items         []*item
	theme         theme
	width, height int
}

// lines gives the lines of an item.
func (p *page) lines(i int) []string { return p.items[i].lines(p.theme, p.width) }

// gap gives how many empty lines stand above an item.
func (p *page) gap(i int) int {
	if i > 0 && apart(p.items[i-1], p.items[i]) {
		return 1
	}
	return 0
}

// tall gives how many lines an item takes, with the gap above it.
func (p *page) tall(i int) int { return p.gap(i) + len(p.lines(i)) }

// apart reports whether there is a gap between two items.
func apart(a, b *item) bool {
	small := func(it *item) bool { return it.kind == itemCall || it.kind == itemThought || it.kind == itemNote }
	return !small(a) || !small(b)
}

// at gives where the viewport begins.
func (v *viewport) at(p *page) (i, off int) {
	if v.top != nil {
		if i := slices.Index(p.items, v.top); i >= 0 {
			return i, max(min(v.off, p.tall(i)-1), 0)
		}
	}
	left := p.height
	for i := range slices.Backward(p.items) {
		n := p.tall(i)
		if n >= left {
			return i, n - left
		}
		left -= n
	}
	return 0, 0
}

// visible gives the lines that are seen; never more than fit.
func (v *viewport) visible(p *page) []string {
	i, off := v.at(p)
	lines := make([]string, 0, p.height)
	for ; i < len(p.items) && len(lines) < p.height; i++ {
		if off < p.gap(i) {
			lines = append(lines, "")
		}
		more := p.lines(i)
		more = more[min(max(off-p.gap(i), 0), len(more)):]
		lines = append(lines, more[:min(len(more), p.height-len(lines))]...)
		off = 0
	}
	return lines
}

// scroll moves by some lines, up if they are negative, and reports whether it came to
// the very beginning.
func (v *viewport) scroll(p *page, by int) (first bool) {
	if len(p.items) == 0 {
		return true
	}
	i, off := v.at(p)
	off += by
	for off < 0 && i > 0 {
		i--
		off += p.tall(i)
	}
	first = off <= 0 && i == 0
	off = max(off, 0)
	for off >= p.tall(i) && i < len(p.items)-1 {
		off -= p.tall(i)
		i++
	}
	v.top, v.off = p.items[i], off
	if p.fits(i, off) {
		v.follow()
	}
	return first
}

// fits reports whether what begins there does not fill the height.
func (p *page) fits(i, off int) bool {
	left := p.height + off
	for ; i < len(p.items) && left > 0; i++ {
		left -= p.tall(i)
	}
	return left >= 0 && i == len(p.items)
}

// hold stays where it is, also when the end grows.
func (v *viewport) hold(p *page) {
	if i, off := v.at(p); i < len(p.items) {
		v.top, v.off = p.items[i], off
	}
}

// follow shows the end, also when it grows.
func (v *viewport) follow() { v.top, v.off = nil, 0 }

// following reports whether the end is shown.
func (v *viewport) following() bool { return v.top == nil }

// show moves as little as it takes to have an item seen.
func (v *viewport) show(p *page, target *item) {
	want := slices.Index(p.items, target)
	if want < 0 {
		return
	}
	i, off := v.at(p)
	if want < i || want == i && off > 0 {
		v.top, v.off = target, 0
		if p.fits(want, 0) {
			v.follow()
		}
		return
	}
	below := -off
	for ; i <= want; i++ {
		below += p.tall(i)
	}
	// A tall item is shown from its beginning.
	if over := min(below-p.height, below-p.tall(want)); over > 0 {
		v.scroll(p, over)
	}
}
