package editor

import (
	"slices"
	"strings"
)

// Undo goes back so many steps, of so many bytes together.
const (
	mostUndo      = 1000
	mostUndoBytes = 16 << 20
)

// replace puts something in the place of a part of the text, and the cursor after
// it. All changes of the text are made here or in show.
func (e *Editor) replace(from, to int, with string) {
	if from == to && with == "" {
		return
	}
	e.record(with)
	e.text = e.text[:from] + with + e.text[to:]
	e.cursor = snap(e.text, from+len(with))
}

// show replaces the whole text.
func (e *Editor) show(text string) {
	if text != e.text {
		e.record("")
	}
	e.text, e.cursor = text, len(text)
}

func (e *Editor) insert(text string) { e.replace(e.cursor, e.cursor, text) }

// record keeps the state for undo. What is typed in one go is one step, up to the
// next word.
func (e *Editor) record(typed string) {
	if e.now == typing && e.last == typing && len(e.undo) > 0 {
		startsWord := !isSpace(typed) && e.cursor > 0 && isSpace(e.text[before(e.text, e.cursor):])
		if typed != "\n" && !startsWord {
			return
		}
	}
	e.undo = append(e.undo, e.state)
	bytes := 0
	for i, old := range slices.Backward(e.undo) {
		bytes += len(old.text)
		if len(e.undo)-i > mostUndo || bytes > mostUndoBytes {
			e.undo = slices.Clone(e.undo[i+1:])
			break
		}
	}
}

func (e *Editor) undoLast() {
	if n := len(e.undo); n > 0 {
		e.state, e.undo = e.undo[n-1], e.undo[:n-1]
	}
}

// kill deletes a part of the text that can be put back with yank. What is killed in
// one go is put back in one.
func (e *Editor) kill(from, to int) {
	if from == to {
		return
	}
	part := e.text[from:to]
	switch {
	case e.last != killing:
		e.killed = part
	case to <= e.cursor:
		e.killed = part + e.killed
	default:
		e.killed += part
	}
	e.replace(from, to, "")
}

// killToEnd kills the rest of the line, or its end if there is no rest.
func (e *Editor) killToEnd() {
	end := lineEnd(e.text, e.cursor)
	if end == e.cursor && end < len(e.text) {
		end++
	}
	e.kill(e.cursor, end)
}

// killToStart kills what stands before the cursor in its line, or the end of the
// line before.
func (e *Editor) killToStart() {
	start := lineStart(e.text, e.cursor)
	if start == e.cursor && start > 0 {
		start--
	}
	e.kill(start, e.cursor)
}

// enter continues a line that ends with a backslash; otherwise Enter is not for
// the editor.
func (e *Editor) enter() bool {
	if !strings.HasSuffix(e.text[:e.cursor], `\`) || lineEnd(e.text, e.cursor) != e.cursor {
		return false
	}
	e.replace(e.cursor-1, e.cursor, "\n")
	return true
}

// upOrOlder goes up a row, and from the first one to what was sent before.
func (e *Editor) upOrOlder() {
	if !e.moveRows(-1) {
		e.older()
	}
}

// downOrNewer goes down a row, and from the last one to what was sent after it.
func (e *Editor) downOrNewer() {
	if !e.moveRows(1) {
		e.newer()
	}
}

// moveRows goes up or down, to the column where that began. It reports false at
// the edge.
func (e *Editor) moveRows(by int) bool {
	l := e.layout()
	row, col := l.place(e.cursor)
	if e.goal < 0 {
		e.goal = col
	}
	if row+by < 0 || row+by >= l.rows {
		return false
	}
	e.cursor = l.offset(row+by, e.goal)
	return true
}
