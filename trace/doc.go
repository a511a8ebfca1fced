// Package trace writes OpenTelemetry traces of turns, with the names of the semantic
// conventions for generative AI: one trace per turn, with a span for each run of it
// (invoke_agent), each call of a model (chat) and each call of a tool (execute_tool).
//
// It works by decorators of the root package's interfaces, so that what it watches
// knows nothing of it: a program puts [Tracer.Runner] around its runner and
// [Tracer.Model] around its models. Calls of tools are seen through the journal of
// the turn. A decorator changes no result and no error. Traces are off where there is
// no tracer: the methods of a nil [*Tracer] give back what they are given.
//
// Spans say who, what kind, how long and how much: agents, sessions, turns, models,
// tools, tokens, cost and codes. What people, models and tools say is in none of
// them, nor are arguments, results, error texts or secrets.
//
// A [Tracer] has one goroutine, which sends what has ended; [Tracer.Shutdown] waits
// for it. What cannot be sent is dropped; no turn waits for it. The package changes
// nothing global, imports the root package, and nothing else of Parley.
package trace
