// Package parley is the domain of Parley, a session runtime for AI agents:
// durable conversations between agents and people, and the agent's turns on
// them.
//
// The way of a message, in the words of this package: a surface receives an
// [Inbound]. Its [Scope] has a [Key]; the key points to its current [Session].
// The inbound becomes an [Input] of that session, by one [Batch] that is durable
// before anyone is told. A [Turn] is one run of the agent over one or more
// inputs. What happens is appended to the session's log as an [Event]; what the
// agent answers in a chat waits in the outbox as a [Delivery] until the platform
// confirms it.
//
// Two interfaces hold everything together. A [Store] keeps it: [Store.Commit]
// is the only way to change it, and every read is limited by a [Visibility]. A
// [Runner] turns a window of messages into an answer. All other interfaces
// (Feed, Model, Tool, Prompter …) are seams around these two.
//
// The package has types, validation and pure functions only. It imports nothing
// but the standard library and starts no goroutine ([SystemClock] alone reads the
// time, and has the standard library call back). The packages around it speak in
// its words and import it; it imports none of them.
package parley
