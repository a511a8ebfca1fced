// Package command knows the slash commands that people write in a conversation:
// which text is one ([Read]), which there are ([All], [Find], [Help]), what may
// stand after their names (the Parse functions), and the words of the answers, so
// that every surface says the same. The engine carries commands out, and decides
// who may.
//
// There is one table of commands; help, completion and the menus of chat
// platforms are made from it. Answers are plain text, to be read without
// Markdown. Names, titles and messages that they show were written by anybody:
// they stand on one line, cut, in quotes, and without what is there unseen.
//
// Every function is pure: the time and the zone go in. Nothing here starts a
// goroutine.
//
// The package must not import any other of the module but the root.
package command
