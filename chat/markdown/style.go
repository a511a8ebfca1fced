package markdown

import (
	"strconv"
	"strings"
)

// Style is how text is drawn. The zero value draws without any colour: what bold
// or italic would say is then said by the marks of Markdown.
type Style struct {
	Color bool
	Dark  bool // the terminal's background is dark
}

// look is how a piece of text looks. The zero value is the terminal's own.
type look struct {
	color     uint8 // of the 256 colours; 0 is the terminal's own
	bold      bool
	italic    bool
	underline bool
	strike    bool
}

// sgr gives the sequence that switches the look on.
func (l look) sgr() string {
	var codes []string
	for _, c := range []struct {
		on   bool
		code string
	}{{l.bold, "1"}, {l.italic, "3"}, {l.underline, "4"}, {l.strike, "9"}} {
		if c.on {
			codes = append(codes, c.code)
		}
	}
	if l.color != 0 {
		codes = append(codes, "38;5;"+strconv.Itoa(int(l.color)))
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}

const sgrReset = "\x1b[m"

// over adds what another look has to this one.
func (l look) over(other look) look {
	if other.color != 0 {
		l.color = other.color
	}
	l.bold = l.bold || other.bold
	l.italic = l.italic || other.italic
	l.underline = l.underline || other.underline
	l.strike = l.strike || other.strike
	return l
}

// palette is the looks of a style. Without colour all of them are the zero look,
// and marks is set.
type palette struct {
	marks bool // draw the marks of Markdown, as there is no other way to say it

	heading [6]look
	strong  look
	emph    look
	strike  look
	code    look // within text
	link    look
	quiet   look // addresses, bullets, rules: there, but not in the way
	done    look // the mark of a task that is done

	keyword  look
	name     look // of functions
	kind     look // types and what the language has built in
	literal  look // strings
	number   look
	comment  look
	inserted look
	deleted  look
}

// paletteOf gives the looks of a style. The colours are those of the cube of 256,
// which themes leave alone, and are readable on the background they are for.
func paletteOf(s Style) palette {
	switch {
	case !s.Color:
		return palette{marks: true}
	case s.Dark:
		return colors(shades{accent: 111, warm: 180, quiet: 246, violet: 176, teal: 116, green: 150, amber: 179, red: 210})
	}
	return colors(shades{accent: 25, warm: 58, quiet: 242, violet: 90, teal: 23, green: 22, amber: 94, red: 124})
}

// shades are the colours that a palette is made of.
type shades struct{ accent, warm, quiet, violet, teal, green, amber, red uint8 }

func colors(s shades) palette {
	return palette{
		heading: [6]look{
			{color: s.accent, bold: true, underline: true},
			{color: s.accent, bold: true},
			{bold: true},
			{bold: true, italic: true},
			{italic: true},
			{color: s.quiet, italic: true},
		},
		strong: look{bold: true},
		emph:   look{italic: true},
		strike: look{strike: true},
		code:   look{color: s.warm},
		link:   look{color: s.accent, underline: true},
		quiet:  look{color: s.quiet},
		done:   look{color: s.green},

		keyword:  look{color: s.violet},
		name:     look{color: s.accent},
		kind:     look{color: s.teal},
		literal:  look{color: s.green},
		number:   look{color: s.amber},
		comment:  look{color: s.quiet, italic: true},
		inserted: look{color: s.green},
		deleted:  look{color: s.red},
	}
}
