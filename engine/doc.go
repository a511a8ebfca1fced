// Package engine is where conversations happen. So far it opens them: from a key,
// as package route gives it, to the session that is its current one.
//
// The package starts no goroutine yet. It works on the interfaces of the root
// package and names no store.
package engine
