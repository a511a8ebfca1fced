// Package editor is the input of the terminal program: text of several lines, with
// pastes of any size, undo, history and completion.
//
// It is a value that keys go into and lines come out of. It starts no goroutine,
// never blocks, and is for one goroutine at a time. It imports nothing of the
// module.
package editor

import (
	tea "charm.land/bubbletea/v2"
)

// Config is how an editor is. The zero value of a field is its default.
type Config struct {
	// Prompt stands before the first line: "> ".
	Prompt string
	// Placeholder is shown while there is no text.
	Placeholder string
	// History is what was sent before, the oldest first.
	History []string
	// CompleteFunc gives what a word can become. It is asked while somebody
	// types a word that starts with an @, and the first word of the text if
	// that starts with a slash. It is called by [Editor.Update], so it has to be
	// quick. Nil: nothing is offered.
	CompleteFunc func(word Word) []Choice
	// Color allows colours, for a dark or a light background.
	Color, Dark bool
}

// Word is the part of a word that stands before the cursor.
type Word struct {
	// Text has the @ or the slash in front.
	Text string
	// Start is true for a word at the very start of the text.
	Start bool
}

// Choice is what a word can become.
type Choice struct {
	// Insert replaces the word, as it is: a space after it is part of it.
	Insert string
	// Show is what the list shows, and Help is a remark beside it. Without Show
	// it is Insert.
	Show, Help string
}

// Editor is the input. Make one with [New].
type Editor struct {
	cfg    Config
	colors palette

	state
	pastes map[rune]string // by the character that stands for it in a text
	paste  rune            // the last one that was given away

	now, last action // what is going on, and what was before it
	undo      []state
	killed    string
	goal      int // the column that Up and Down aim for, or -1

	history []string
	at      int   // which of the history is shown; len(history): none
	draft   state // what was there before history was looked at
	search  *search

	popup popup

	laid  layout
	width int // of the last view
	top   int // the first row that is shown
}

// state is what undo brings back.
type state struct {
	text   string // with a character for each folded paste
	cursor int    // in bytes, between two graphemes
}

// action is a kind of change, as far as the next one has to know.
type action int

const (
	moving action = iota
	vertical
	typing
	deleting
	killing
)

// New gives an empty editor.
func New(cfg Config) *Editor {
	if cfg.Prompt == "" {
		cfg.Prompt = "> "
	}
	cfg.Prompt, cfg.Placeholder = flat(cfg.Prompt), flat(cfg.Placeholder)
	e := &Editor{cfg: cfg, pastes: make(map[rune]string), goal: -1, width: 80}
	e.SetColors(cfg.Color, cfg.Dark)
	for _, text := range cfg.History {
		e.remember(e.foldLarge(clean(text)))
	}
	return e
}

// SetColors changes the colours, when it is known what the terminal is like.
func (e *Editor) SetColors(color, dark bool) { e.colors = newPalette(color, dark) }

// Value is the whole text, with everything that was pasted.
func (e *Editor) Value() string { return e.unfolded(e.text) }

// Empty reports whether there is no text.
func (e *Editor) Empty() bool { return e.text == "" }

// SetValue replaces the text and goes to its end. A very long text is folded like
// a paste. Undo brings back what was there.
func (e *Editor) SetValue(text string) {
	e.begin(moving)
	e.show(e.foldLarge(clean(text)))
	e.at, e.search = len(e.history), nil
	e.popup.close()
}

// Reset empties the editor, also of what could be undone. History and what was
// killed stay.
func (e *Editor) Reset() {
	e.begin(moving)
	e.state, e.draft, e.undo, e.search = state{}, state{}, nil, nil
	e.at = len(e.history)
	e.popup.close()
	e.forgetPastes()
}

// Newline starts another line at the cursor.
func (e *Editor) Newline() {
	e.begin(typing)
	e.insert("\n")
	e.popup.close()
}

// Unfold opens a paste: the one at the cursor, or else the last one. It reports
// whether there was one.
func (e *Editor) Unfold() bool {
	e.begin(moving)
	e.popup.close()
	from, to, ok := e.folded()
	if ok {
		e.replace(from, to, e.unfolded(e.text[from:to]))
	}
	return ok
}

// Update takes a key or a paste, and reports whether it was for the editor. Enter
// is not, unless it takes what is offered or continues a line that ends with a
// backslash.
func (e *Editor) Update(msg tea.Msg) (handled bool) {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		e.endSearch()
		e.begin(moving)
		e.insert(e.foldPaste(clean(msg.Content)))
		e.offer()
		return true
	case tea.KeyPressMsg:
		return e.key(msg)
	}
	return false
}

// begin says what comes next.
func (e *Editor) begin(what action) {
	e.last, e.now = e.now, what
	if what != vertical {
		e.goal = -1
	}
}
