package markdown

import "strings"

// Document is a text in Markdown that grows. The zero value is not usable: see
// [New].
type Document struct {
	text     strings.Builder
	cleaner  cleaner
	source   []byte // the text as it is parsed: cleaned, lines end with \n
	finished bool

	drawer drawer
	width  int      // the width of the lines, 0 before the first call of Lines
	lines  []string // those of finished blocks, and after them those of the tail
	fixed  int      // how many of the lines are of finished blocks
	tail   int      // where in the source the first block starts that may change
	looked int      // up to where the source was searched for the ends of blocks
	state  state    // what the blocks before the tail leave behind
	drawn  bool     // lines is up to date
}

// New gives an empty document.
func New(style Style) *Document {
	return &Document{drawer: drawer{palette: paletteOf(style)}}
}

// Append adds text to the end. It may be cut anywhere, also within a character.
// After [Document.Finish] it opens the document again.
func (d *Document) Append(text string) {
	d.text.WriteString(text)
	d.source = d.cleaner.clean(d.source, text)
	d.finished = false
	d.drawn = false
}

// Finish says that no more text comes for now: what was held back is drawn, and
// what is open is drawn as it stands. Doing it twice changes nothing.
func (d *Document) Finish() {
	if d.finished {
		return
	}
	d.source = d.cleaner.flush(d.source)
	d.finished = true
	d.drawn = false
}

// Text gives the text as it was appended.
func (d *Document) Text() string { return d.text.String() }

// Lines gives the document as lines of at most width cells, without line ends; a
// width below one counts as one. A character that is wider than the whole line is
// drawn as a stand-in, and all others are there at every width.
//
// Only what changed since the last call is drawn. Another width draws all of it.
// The slice belongs to the document: it is for reading, until the next call.
func (d *Document) Lines(width int) []string {
	width = max(width, 1)
	if d.width != width {
		d.width, d.lines, d.fixed = width, d.lines[:0], 0
		d.tail, d.looked, d.state = 0, 0, state{}
		d.drawn = false
	}
	if d.drawn {
		return d.lines
	}
	d.lines = d.lines[:d.fixed]
	d.settle()
	d.lines = append(d.lines, d.drawTail()...)
	d.drawn = true
	return d.lines
}
