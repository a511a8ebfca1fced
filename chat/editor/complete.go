package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// popup is the list of what a word can become.
type popup struct {
	choices []Choice
	chosen  int
	from    int // where the word starts
	refused int // where a word starts that was refused with Esc, plus one
}

func (p *popup) open() bool { return len(p.choices) > 0 }

func (p *popup) close() { *p = popup{} }

// word finds the word before the cursor that can be completed.
func (e *Editor) word() (word Word, from int, ok bool) {
	if space := strings.LastIndexFunc(e.text[:e.cursor], unicode.IsSpace); space >= 0 {
		_, n := utf8.DecodeRuneInString(e.text[space:])
		from = space + n
	}
	text := e.text[from:e.cursor]
	ok = strings.HasPrefix(text, "@") || from == 0 && strings.HasPrefix(text, "/")
	return Word{Text: text, Start: from == 0}, from, ok && !strings.ContainsFunc(text, isPaste)
}

// offer asks what the word at the cursor can become.
func (e *Editor) offer() {
	word, from, ok := e.word()
	if !ok || e.cfg.CompleteFunc == nil {
		e.popup.close()
		return
	}
	if e.popup.refused == from+1 {
		return
	}
	e.popup = popup{from: from}
	for _, choice := range e.cfg.CompleteFunc(word) {
		if choice.Show == "" {
			choice.Show = choice.Insert
		}
		e.popup.choices = append(e.popup.choices, Choice{Insert: clean(choice.Insert), Show: flat(choice.Show), Help: flat(choice.Help)})
	}
}

// popupKey takes a key while something is offered, and reports whether it was for
// that.
func (e *Editor) popupKey(key string) bool {
	p := &e.popup
	n := len(p.choices)
	switch key {
	case "up", "ctrl+p":
		p.chosen = (p.chosen + n - 1) % n
	case "down", "ctrl+n":
		p.chosen = (p.chosen + 1) % n
	case "tab":
		e.take()
	case "enter":
		// What is there in full already is to be sent.
		if strings.TrimSpace(p.choices[p.chosen].Insert) == e.text[p.from:e.cursor] {
			return false
		}
		e.take()
	case "esc":
		*p = popup{refused: p.from + 1}
	default:
		return false
	}
	return true
}

// take replaces the word with what was chosen. A folder, for example, can be
// completed further.
func (e *Editor) take() {
	insert := e.popup.choices[e.popup.chosen].Insert
	e.begin(moving)
	e.replace(e.popup.from, e.cursor, insert)
	e.offer()
}
