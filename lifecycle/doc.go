// Package lifecycle decides what becomes of a session as time passes and
// programs stop: whether the next message goes on in it or starts another
// ([Open]), what happens to a turn that was cut off ([Settle]), when a session
// nobody uses is put away ([Inactive]) or, if a person wrote such a rule, removed
// ([Retain]).
//
// Every function is pure: what is stored, the rules and the time go in, and a
// decision with its reason comes out. Nothing here reads a clock, changes a store
// or starts a goroutine; the engine acts. Instants are compared as they are, and
// a time zone is used for one thing, the hour at which a day begins.
//
// The package must not import any other of the module but the root.
package lifecycle
