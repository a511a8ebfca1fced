// Package prompt writes what a turn tells the model besides what people said: the
// agent's own text, what the model has to know about the session, and a note with
// what differs from turn to turn ([Prompter]).
//
// The system prompt is the same from turn to turn, byte by byte, so that providers
// can reuse what they have read. What changes stands in the preface, which is
// stored with the turn's first message.
//
// Names, titles and topics are chosen by people. They get into a prompt through
// [Quote] alone, so that none of them can speak as the system: each stays on its
// line, in its quotes. Ids get into it through a [Redactor], or not at all.
//
// Texts are templates with an id and a version ([Templates]); a turn keeps which
// of them it was given, and with which text of the agent.
//
// The package starts no goroutine and keeps nothing between two calls. It must not
// import any other of the module but the root and group.
package prompt
