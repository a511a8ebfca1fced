// Package route decides which conversation a message belongs to: from an
// inbound to the agent that answers, the scope, the scope's key, the other names
// of that key, and whether several people share the conversation.
//
// It is pure: the same inbound and configuration always give the same answer,
// and nothing is read or written. A [Router] can explain each step of its
// answer. Whoever opens a session asks [Resolution.Refusal] first, and
// [Resolution.MayPromote] before an older session becomes a key's current one.
//
// A key is not a permission, and an identity link decides routing alone: who may
// read or write is decided elsewhere.
//
// The package starts no goroutine, and imports the root package and the standard
// library only.
package route
