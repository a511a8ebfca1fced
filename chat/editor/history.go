package editor

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// History goes back so many texts, of so many bytes together.
const (
	mostHistory      = 1000
	mostHistoryBytes = 32 << 20
)

// Remember adds to the history, after a text was sent and before [Editor.Reset]. If
// it is the text of the editor, its pastes stay folded.
func (e *Editor) Remember(text string) {
	if text == e.Value() {
		e.remember(e.text)
	} else {
		e.remember(e.foldLarge(clean(text)))
	}
	e.at = len(e.history)
}

func (e *Editor) remember(text string) {
	if text == "" || len(e.history) > 0 && e.history[len(e.history)-1] == text {
		return
	}
	e.history = append(e.history, text)
	bytes := 0
	for i, old := range slices.Backward(e.history) {
		bytes += e.size(old)
		if len(e.history)-i > mostHistory || bytes > mostHistoryBytes {
			e.history = slices.Clone(e.history[i+1:])
			break
		}
	}
	e.at = len(e.history)
}

// older shows what was sent before; what is being written is kept.
func (e *Editor) older() {
	if e.at == 0 {
		return
	}
	if e.at == len(e.history) {
		e.draft = e.state
	}
	e.at--
	e.show(e.history[e.at])
}

// newer shows what was sent after it, and at the end what was being written.
func (e *Editor) newer() {
	if e.at == len(e.history) {
		return
	}
	e.at++
	if e.at < len(e.history) {
		e.show(e.history[e.at])
		return
	}
	e.show(e.draft.text)
	e.cursor = e.draft.cursor
}

// search is a search in the history.
type search struct {
	query  string
	at     int   // which of the history is shown; len(history): none
	before state // what was there when it started
	failed bool
}

func (e *Editor) startSearch() {
	e.search = &search{at: len(e.history), before: e.state}
}

// endSearch keeps what was found.
func (e *Editor) endSearch() {
	s := e.search
	e.search = nil
	if s == nil || s.at == len(e.history) {
		return
	}
	found := e.state
	e.state = s.before
	if e.at == len(e.history) {
		e.draft = e.state
	}
	e.at = s.at
	e.begin(moving)
	e.show(found.text)
	e.cursor = found.cursor
}

// searchKey takes a key during a search. Keys that are not for it end it, and it
// reports false.
func (e *Editor) searchKey(msg tea.KeyPressMsg) bool {
	s := e.search
	switch name := msg.Keystroke(); {
	case msg.Text != "":
		s.query += flat(msg.Text)
		e.find(s.at, -1)
	case name == "ctrl+r" || name == "up":
		e.find(s.at-1, -1)
	case name == "ctrl+s" || name == "down":
		e.find(s.at+1, 1)
	case name == "backspace" || name == "ctrl+h":
		s.query = s.query[:before(s.query, len(s.query))]
		s.at, s.failed, e.state = len(e.history), false, s.before
		e.find(s.at, -1)
	case name == "esc" || name == "ctrl+g":
		e.search, e.state = nil, s.before
	case name == "enter" || name == "tab":
		e.endSearch()
	default:
		e.endSearch()
		return false
	}
	return true
}

// find shows the next text with the query from a place on, in a direction. If there
// is none, what is shown stays.
func (e *Editor) find(from, by int) {
	s := e.search
	s.failed = false
	if s.query == "" {
		return
	}
	query := strings.ToLower(s.query)
	for i := min(from, len(e.history)-1); i >= 0 && i < len(e.history); i += by {
		text := e.history[i]
		at := strings.Index(strings.ToLower(text), query)
		if at < 0 || i != s.at && s.at < len(e.history) && text == e.history[s.at] {
			continue
		}
		s.at, e.text = i, text
		// A letter may have another length in lower case.
		e.cursor = snap(text, min(at, len(text)))
		return
	}
	s.failed = true
}
