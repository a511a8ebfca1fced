// Package keep looks after a store as a whole. [Doctor] checks a store against
// its own log and rebuilds what the log determines; it also looks at the media
// beside the store.
//
// The package works on the interfaces of the root package, so it serves every
// store alike; it must not import one. Doctor starts a few goroutines and waits
// for them before it returns; nothing stays behind.
package keep
