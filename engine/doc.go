// Package engine is where conversations happen: it opens sessions, takes in what
// people say, runs the agent's turns, asks for approvals, waits for models that are
// down, and settles what a stop left behind.
//
// [Engine.Run] owns every goroutine: one lane per session, while there is work for
// it and no longer. [Engine.As] gives the engine for a caller, and every method of
// it asks package access. Each race (open against reset, post against delete, cancel
// against completion, answer against deadline) has one winner, by an expectation in
// the commit; what matters is in the store, never only in memory.
//
// The package works on the interfaces of the root package: it names no store, no
// model and no channel.
package engine
