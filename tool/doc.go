// Package tool holds what all tools of an agent have in common: which there are
// ([Registry]), who may have them run ([Rule]), that arguments fit their schema,
// that results are short, clean and free of secrets, and a [Guard] for those that
// reach out into the network. The tools themselves are in the packages below it.
//
// The package starts no goroutine. It must not import any other of the module but
// the root and secret.
package tool
