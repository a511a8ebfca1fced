package chat

import (
	"image/color"

	"charm.land/lipgloss/v2"

	"github.com/parley-run/parley/chat/markdown"
)

// theme is how things are told apart: by weight first, and by few, quiet colours.
type theme struct {
	dark bool

	faint  lipgloss.Style // what need not be read
	accent lipgloss.Style // what is chosen, or the person's own
	strong lipgloss.Style
	warn   lipgloss.Style // what waits for somebody
	bad    lipgloss.Style
	chosen lipgloss.Style // the line that the keys act on
}

func newTheme(dark bool) theme {
	pick := func(onDark, onLight string) color.Color {
		if dark {
			return lipgloss.Color(onDark)
		}
		return lipgloss.Color(onLight)
	}
	plain := lipgloss.NewStyle()
	return theme{
		dark:   dark,
		faint:  plain.Foreground(pick("245", "243")),
		accent: plain.Foreground(pick("110", "25")),
		strong: plain.Bold(true),
		warn:   plain.Foreground(pick("179", "130")),
		bad:    plain.Foreground(pick("174", "124")),
		chosen: plain.Reverse(true),
	}
}

func (t theme) markdown() markdown.Style { return markdown.Style{Color: true, Dark: t.dark} }
