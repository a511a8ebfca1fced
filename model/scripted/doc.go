// Package scripted is a model that needs no network and no key: it answers from a
// script, the same every time.
//
// The package starts no goroutine.
package scripted
