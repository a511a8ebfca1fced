package editor

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A paste that is longer than these is folded: one character in the text stands for
// it, which is shown as a few words and deleted as a whole.
const (
	mostPasteLines = 10
	mostPasteRunes = 1000
)

// Other text is folded only when it would be a burden to look at.
const (
	mostLines = 200
	mostRunes = 20_000
)

// The characters that stand for pastes are those of the last plane of Unicode, for
// private use. Fonts use the other planes for their symbols. When they come in a
// text they are replaced, so none can be mistaken for a paste.
const (
	firstPaste rune = 0x100000
	lastPaste  rune = 0x10ffff
)

func isPaste(r rune) bool { return r >= firstPaste && r <= lastPaste }

// mayHavePaste is quick, and wrong only for characters that are rare.
func mayHavePaste(text string) bool { return strings.IndexByte(text, 0xf4) >= 0 }

func (e *Editor) foldPaste(text string) string {
	return e.fold(text, mostPasteLines, mostPasteRunes)
}

func (e *Editor) foldLarge(text string) string {
	return e.fold(text, mostLines, mostRunes)
}

// fold gives the text, or what stands for it if it is longer than that.
func (e *Editor) fold(text string, lines, runes int) string {
	if countLines(text) <= lines && utf8.RuneCountInString(text) <= runes {
		return text
	}
	for range lastPaste - firstPaste + 1 {
		e.paste++
		if !isPaste(e.paste) {
			e.paste = firstPaste
		}
		if _, taken := e.pastes[e.paste]; !taken {
			e.pastes[e.paste] = text
			return string(e.paste)
		}
	}
	return text // there are 65,536 folded pastes
}

// unfolded puts pastes back in.
func (e *Editor) unfolded(text string) string {
	if !mayHavePaste(text) {
		return text
	}
	var b strings.Builder
	b.Grow(e.size(text))
	for i, r := range text {
		if isPaste(r) {
			b.WriteString(e.pastes[r])
		} else {
			b.WriteString(text[i : i+utf8.RuneLen(r)])
		}
	}
	return b.String()
}

// size is how long a text is with its pastes.
func (e *Editor) size(text string) int {
	n := len(text)
	if !mayHavePaste(text) {
		return n
	}
	for _, r := range text {
		if isPaste(r) {
			n += len(e.pastes[r]) - utf8.RuneLen(r)
		}
	}
	return n
}

// folded finds the paste that stands at the cursor, or before it, or else is the
// last one.
func (e *Editor) folded() (from, to int, ok bool) {
	if r, n := utf8.DecodeRuneInString(e.text[e.cursor:]); isPaste(r) {
		return e.cursor, e.cursor + n, true
	}
	if r, n := utf8.DecodeLastRuneInString(e.text[:e.cursor]); isPaste(r) {
		return e.cursor - n, e.cursor, true
	}
	if i := strings.LastIndexFunc(e.text, isPaste); i >= 0 {
		_, n := utf8.DecodeRuneInString(e.text[i:])
		return i, i + n, true
	}
	return 0, 0, false
}

// label is how a folded paste is shown.
func (e *Editor) label(r rune) string {
	text := e.pastes[r]
	if n := countLines(text); n > 1 {
		return "[pasted " + grouped(n) + " lines]"
	}
	return "[pasted " + grouped(utf8.RuneCountInString(text)) + " characters]"
}

// forgetPastes lets go of those that nothing stands for any more.
func (e *Editor) forgetPastes() {
	kept := make(map[rune]string)
	for _, text := range append([]string{e.text, e.draft.text, e.killed}, e.history...) {
		if !mayHavePaste(text) {
			continue
		}
		for _, r := range text {
			if isPaste(r) {
				kept[r] = e.pastes[r]
			}
		}
	}
	e.pastes = kept
}

// countLines counts a last line only if there is something in it.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// grouped writes a number as 12,345.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}
