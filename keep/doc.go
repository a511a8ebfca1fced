// Package keep looks after a data folder: a store, and the media beside it.
//
// [Doctor] checks a store against its own log and rebuilds what the log
// determines. A [Folder] is opened with the key it needs, encrypted, decrypted,
// given another key, backed up and restored. Each of these has one moment at
// which it counts: cut short before it, the folder is what it was; after it, what
// it was to become.
//
// The package works on small interfaces, so it serves every store that is a file, and
// must not import one. Doctor starts a few goroutines and waits
// for them before it returns; nothing stays behind.
package keep
