package termsvg

import "fmt"

// color is a colour of a terminal. The zero value is the default one.
type color struct {
	kind    kind
	index   int // of 256
	r, g, b int
}

type kind int

const (
	byDefault kind = iota
	byIndex
	byValue
)

func indexed(n int) color { return color{kind: byIndex, index: n} }

func exact(r, g, b int) color { return color{kind: byValue, r: r, g: g, b: b} }

// palette is what the names of colours mean.
type palette struct {
	foreground, background, frame, title string
	named                                [16]string
}

var dark = palette{
	foreground: "#d8dee9", background: "#16181d", frame: "#2c313a", title: "#8b93a1",
	named: [16]string{
		"#2b303b", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
		"#5c6370", "#f08a92", "#b1d996", "#f0d399", "#84c4f7", "#d89bea", "#7bcdd6", "#ffffff",
	},
}

var light = palette{
	foreground: "#24292f", background: "#ffffff", frame: "#d0d7de", title: "#6e7781",
	named: [16]string{
		"#24292f", "#b3261e", "#1a7f37", "#8a5d00", "#0550ae", "#8250df", "#0e7490", "#6e7781",
		"#57606a", "#cf222e", "#2da44e", "#a8710a", "#218bff", "#a475f9", "#1b9aaa", "#eaeef2",
	},
}

// of gives the colours of a style: of the text and of what is behind it.
func (p *palette) of(s style) (text, behind string) {
	text, behind = p.value(s.fore, p.foreground), p.value(s.back, p.background)
	if s.reverse {
		return behind, text
	}
	return text, behind
}

func (p *palette) value(c color, fallback string) string {
	switch {
	case c.kind == byValue:
		return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b)
	case c.kind == byDefault:
		return fallback
	case c.index < 16:
		return p.named[c.index]
	case c.index < 232:
		// A cube of six steps for each of red, green and blue.
		step := func(n int) int {
			if n == 0 {
				return 0
			}
			return 55 + 40*n
		}
		n := c.index - 16
		return fmt.Sprintf("#%02x%02x%02x", step(n/36), step(n/6%6), step(n%6))
	default:
		// Greys, without black and white.
		n := 8 + 10*(c.index-232)
		return fmt.Sprintf("#%02x%02x%02x", n, n, n)
	}
}
