package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
)

// view shows an answer while it is written: what the agent says on standard output,
// the rest on standard error.
type view struct {
	out, err io.Writer
	show     bool // false: nothing of the answer is shown
	plain    bool // the output is a terminal, which must not be told what to do

	mu     sync.Mutex
	stream string          // what is being shown
	shown  strings.Builder // of it
	shut   map[string]bool // streams that were shown to their end
	said   bool            // something was shown before
	held   string          // a note that waits for what comes next
	failed error           // why not all of the answer is where it was to go
}

func (a *app) newView(show bool) *view {
	return &view{out: a.out, err: a.err, show: show, plain: a.outTerminal, shut: map[string]bool{}}
}

// delta shows a piece of a stream.
func (v *view) delta(stream, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.switchTo(stream)
	v.write(text)
}

// whole shows what is not yet shown of a stream. If what was shown is not its
// beginning, it is shown anew.
func (v *view) whole(stream, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if text == "" || v.shut[stream] {
		return
	}
	v.switchTo(stream)
	rest, ok := strings.CutPrefix(text, v.shown.String())
	if !ok {
		v.line()
		rest = text
	}
	v.write(rest)
}

// switchTo begins to show another stream.
func (v *view) switchTo(stream string) {
	if v.stream == stream {
		return
	}
	v.line()
	if v.said {
		v.print("\n")
	}
	v.stream = stream
}

// end ends the line of what is shown.
func (v *view) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut[v.stream] = true
	v.line()
}

func (v *view) line() {
	if text := v.shown.String(); text != "" {
		if !strings.HasSuffix(text, "\n") {
			v.print("\n")
		}
		v.said = true
	}
	v.shown.Reset()
	v.stream = ""
}

func (v *view) write(text string) {
	v.shown.WriteString(text)
	v.print(text)
}

func (v *view) print(text string) {
	if !v.show {
		return
	}
	if v.plain {
		text = harmless(text)
	}
	if _, err := io.WriteString(v.out, text); err != nil && v.failed == nil {
		v.failed = err
	}
}

// problem gives why not all of the answer could be written.
func (v *view) problem() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failed
}

// note tells something that is no part of the answer, on one line.
func (v *view) note(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	text = oneLine(text)
	if v.show && v.shown.Len() > 0 && !strings.HasSuffix(v.shown.String(), "\n") {
		_, _ = fmt.Fprintln(v.err) // the answer goes on below
	}
	_, _ = fmt.Fprintln(v.err, "* "+text)
}

// oneLine gives text on one line, and not too long.
func oneLine(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(harmless(text)), " ")
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}

// hold keeps a note until it is clear that the end of the turn does not say the same.
func (v *view) hold(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held = text
}

// flush tells what is held back.
func (v *view) flush() {
	v.mu.Lock()
	text := v.held
	v.held = ""
	v.mu.Unlock()
	if text != "" {
		v.note(text)
	}
}

// harmless gives text without what a terminal would take for a command, and without
// what turns text around.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}
