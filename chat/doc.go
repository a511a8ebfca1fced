// Package chat is the terminal program: a conversation on the whole screen, live.
// [Run] draws it until somebody leaves; what it talks to is a [Backend], so that it is
// the same program with a daemon, far or near, and with an engine of its own process.
//
// # How it works
//
// There is one model, and it changes by messages alone: keys, the window's size, what
// comes from the session that is followed, and answers to requests. Whatever takes time
// is a command, in a goroutine of its own, whose answer is a message. What a session's
// stream brings within 16 milliseconds is one message, so that a fast model costs no
// more frames than a slow one. A frame renders what can be seen and nothing else: an
// item of the transcript knows its lines for a width, and older pages are read when
// somebody scrolls to them.
//
// # Goroutines
//
// One follows the session that is shown, and each request has one; Run waits for all of
// them. The library that draws has its own, which end with Run.
//
// The package imports the root package, command, chat/markdown and chat/editor, and
// nothing else of Parley.
package chat
