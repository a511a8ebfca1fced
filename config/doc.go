// Package config is Parley's configuration: the file parley.yaml, the variables
// that override it, and what both may hold.
//
// [Config] is the one source. The tags of its fields say each key's name, its
// default, what it may be and what it is for; loading, checking, [Template],
// [Fields] and the reference in the documentation are made from them.
//
// [Load] reads defaults, file and variables in this order, each over the one
// before, and finds everything that is wrong at once, each with its place. A
// secret is a reference and is not resolved here, so no error and no printed
// configuration holds one.
//
// The package starts no goroutine. Of the module it must not import more than
// the root, route, lifecycle and secret.
package config
