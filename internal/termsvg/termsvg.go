// Package termsvg draws the screen of a terminal as an SVG picture.
//
// What it draws is text with ANSI sequences for colours and attributes, such as
// `tmux capture-pane -e` gives. The same text gives the same picture, byte by byte.
//
// It is for pictures in documentation. It starts no goroutine and imports nothing
// of the module.
package termsvg

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Sizes in pixels. A character of a monospaced font is about three fifths of its
// size wide; the text is stretched to that, whatever font there is.
const (
	fontSize   = 15
	cellWidth  = 9
	cellHeight = 18
	baseline   = 14 // from the top of a cell
	padding    = 14
	bar        = 34 // the height of the window's title
	radius     = 9  // of the window's corners
)

// fonts are those that draw lines and blocks without gaps, where there are some.
const fonts = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

// Config is how the picture is. The zero value of a field is its default.
type Config struct {
	// Title stands in the frame of the window.
	Title string
	// Light is for a program that was run on a light background.
	Light bool
	// Cols and Rows are the size of the screen: what the text needs. What is
	// outside is not drawn.
	Cols, Rows int
}

// Render gives the picture of a screen.
func Render(screen string, cfg Config) string {
	rows := read(screen)
	if cfg.Rows == 0 {
		cfg.Rows = max(len(rows), 1)
	}
	if cfg.Cols == 0 {
		cfg.Cols = 1
		for _, row := range rows {
			cfg.Cols = max(cfg.Cols, row.width())
		}
	}
	p := picture{colors: dark}
	if cfg.Light {
		p.colors = light
	}
	p.open(cfg)
	for i, row := range rows[:min(len(rows), cfg.Rows)] {
		p.row(row.cut(cfg.Cols), padding, bar+i*cellHeight)
	}
	p.line(`</svg>`)
	return p.b.String()
}

// picture is an SVG document that is being written.
type picture struct {
	b      strings.Builder
	colors palette
}

func (p *picture) line(format string, args ...any) {
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

// open writes the window, up to its content.
func (p *picture) open(cfg Config) {
	width, height := cfg.Cols*cellWidth+2*padding, cfg.Rows*cellHeight+bar+padding
	p.line(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="%s" font-size="%d">`,
		width, height, width, height, fonts, fontSize)
	if cfg.Title != "" {
		p.line(`<title>%s</title>`, escape(cfg.Title))
	}
	p.line(`<rect x=".5" y=".5" width="%d" height="%d" rx="%d" fill="%s" stroke="%s"/>`, width-1, height-1, radius, p.colors.background, p.colors.frame)
	for i, color := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		p.line(`<circle cx="%d" cy="%d" r="6" fill="%s"/>`, padding+6+i*20, bar/2, color)
	}
	if cfg.Title != "" {
		p.line(`<text x="%d" y="%d" text-anchor="middle" font-size="13" fill="%s">%s</text>`, width/2, bar/2+5, p.colors.title, escape(cfg.Title))
	}
}

// row draws a row of the screen: what is behind the text first.
func (p *picture) row(r row, x, y int) {
	p.behind(r, x, y)
	for _, run := range r.runs() {
		if run.style.hidden || strings.TrimSpace(run.text) == "" && !run.style.underline && !run.style.strike {
			continue
		}
		run = run.trimmed()
		color, _ := p.colors.of(run.style)
		p.line(`<text x="%d" y="%d" fill="%s"%s textLength="%d" lengthAdjust="spacingAndGlyphs" xml:space="preserve">%s</text>`,
			x+run.col*cellWidth, y+baseline, color, run.style.attributes(), run.width*cellWidth, escape(run.text))
	}
}

// behind draws the backgrounds of a row, in as few parts as there are colours next
// to each other.
func (p *picture) behind(r row, x, y int) {
	col, start, last := 0, 0, p.colors.background
	draw := func() {
		if last != p.colors.background && col > start {
			p.line(`<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, x+start*cellWidth, y, (col-start)*cellWidth, cellHeight, last)
		}
	}
	for _, c := range r {
		if _, behind := p.colors.of(c.style); behind != last {
			draw()
			start, last = col, behind
		}
		col += c.width
	}
	draw()
}

// attributes are those of a style, but for its colours.
func (s style) attributes() string {
	var b strings.Builder
	if s.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if s.italic {
		b.WriteString(` font-style="italic"`)
	}
	if s.faint {
		b.WriteString(` fill-opacity=".6"`)
	}
	switch {
	case s.underline && s.strike:
		b.WriteString(` text-decoration="underline line-through"`)
	case s.underline:
		b.WriteString(` text-decoration="underline"`)
	case s.strike:
		b.WriteString(` text-decoration="line-through"`)
	}
	return b.String()
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
