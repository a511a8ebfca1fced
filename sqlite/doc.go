// Package sqlite is the store for one machine: a [parley.Store] in one SQLite
// file.
//
// All commits go through one connection. Commit checks and encodes a batch in
// the caller's goroutine and queues it; a writer goroutine takes what is queued,
// applies it in one transaction, syncs once, and answers all. A refused batch never
// spoils its neighbours, and the price of a sync is shared by those who came during
// the last one or while the batches were applied. Another connection, in a goroutine
// of its own, moves the write-ahead log into the database. Reads go over their own
// read-only connections. Events that are read again at each turn are kept in memory, as long as nothing
// is taken away.
//
// If a write or a sync fails, the connection is given up: its batches get
// unavailable, and the store opens a new connection and moves the write-ahead
// log into the database before it writes again.
//
// Inside, sessions have numbers. A session's own log has the session's number,
// and an event's id is log<<32 | seq, so that a log is one range of one index. The
// events themselves lie in the order of their positions. See docs/store.md.
//
// The package imports the root package, internal/disk and the SQLite driver.
package sqlite
