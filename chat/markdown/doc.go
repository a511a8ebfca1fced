// Package markdown draws Markdown that is still being written as lines for a
// terminal.
//
// A [Document] takes text as it comes and gives styled lines of any width. What is
// finished is drawn once; only the block at the end is parsed and drawn again when
// more text comes. While text is missing the end is drawn as it will most likely
// be: open emphasis is closed, an open fence is code, and a marker that is only
// half there is held back until what follows says what it means.
//
// Lines hold text and colours (SGR sequences), nothing else: control characters
// and escape sequences of the text are shown, not sent. No text is left out,
// except invisible characters that turn or hide text.
//
// The package is pure. It starts no goroutine, a Document is for one goroutine at
// a time, and it imports nothing of the module and no terminal library.
package markdown
