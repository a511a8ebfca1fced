package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wrap breaks text into rows of at most width cells: at spaces, between characters
// of scripts that are written without them, and within words only where a word is
// longer than a row.
func wrap(text []cell, width int) [][]cell {
	text = narrow(text, width)
	var rows [][]cell
	for {
		line, rest, more := cutBreak(text)
		rows = wrapLine(rows, line, width)
		if !more {
			return rows
		}
		text = rest
	}
}

// cutBreak gives the text up to a line break, and what follows it.
func cutBreak(text []cell) (line, rest []cell, more bool) {
	for i, c := range text {
		if c.brk() {
			return text[:i], text[i+1:], true
		}
	}
	return text, nil, false
}

func wrapLine(rows [][]cell, line []cell, width int) [][]cell {
	line = trimStart(line)
	used, cut := 0, 0 // cells in the row so far; where the next row may start
	for i := 0; i < len(line); i++ {
		if i > 0 && mayBreak(line[i-1], line[i]) {
			cut = i
		}
		// Spaces may hang over the end, where they are not drawn.
		if used+line[i].width <= width || line[i].space() || i == 0 {
			used += line[i].width
			continue
		}
		if cut == 0 {
			cut = i
		}
		rows = append(rows, trimEnd(line[:cut]))
		line = trimStart(line[cut:])
		used, cut, i = 0, 0, -1
	}
	return append(rows, trimEnd(line))
}

// fold breaks text into rows of at most width cells wherever a row is full, and
// keeps every space: it is for code.
func fold(text []cell, width int) [][]cell {
	text = narrow(text, width)
	var rows [][]cell
	start, used := 0, 0
	for i, c := range text {
		if used+c.width > width && i > start {
			rows = append(rows, text[start:i])
			start, used = i, 0
		}
		used += c.width
	}
	return append(rows, text[start:])
}

// narrow puts a stand-in where a character is wider than a whole row.
func narrow(text []cell, width int) []cell {
	if width >= 2 {
		return text
	}
	out := make([]cell, len(text))
	for i, c := range text {
		if c.width > width {
			c.text, c.width = string(utf8.RuneError), 1
		}
		out[i] = c
	}
	return out
}

func trimStart(line []cell) []cell {
	for len(line) > 0 && line[0].space() {
		line = line[1:]
	}
	return line
}

func trimEnd(line []cell) []cell {
	for len(line) > 0 && line[len(line)-1].space() {
		line = line[:len(line)-1]
	}
	return line
}

// mayBreak reports whether a row may end between two cells.
func mayBreak(before, after cell) bool {
	switch {
	case after.space():
		return false
	case before.space():
		return true
	case !spaceless(before) && !spaceless(after):
		return false
	}
	return !strings.Contains(notFirst, after.text) && !strings.Contains(notLast, before.text)
}

// What may not stand at the start and at the end of a row in Chinese and Japanese.
const (
	notFirst = "、。，．・：；？！）」』】》〉〕］｝ー…゛゜々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.:;?!)]}'\"%"
	notLast  = "（「『【《〈〔［｛([{'\""
)

// spaceless reports whether a cell is of a script that is written without spaces.
func spaceless(c cell) bool {
	if c.width < 2 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(c.text)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || strings.ContainsRune(notFirst+notLast, r)
}
