// Package sqlite is the store for one machine: a [parley.Store] in one SQLite
// file.
//
// All commits go through one connection. Commit checks and encodes a batch in
// the caller's goroutine and queues it. Two goroutines work on what is queued: the scribe
// writes it down as it was given, to a file of intents, and syncs that; the writer applies it
// meanwhile, in one transaction. Who waits is answered when both are done. A refused batch never
// spoils its neighbours, and the price of a sync is shared by those who came during
// the last one. Where many come at once the writer works alone, and SQLite's write-ahead log is synced, the WAL.
// Another connection, in a goroutine
// of its own, moves the WAL into the database. Three kinds of timers run: one ends the wait of batches that may
// wait for others, one has the WAL emptied or repaired once more, one gives up what is kept in memory and nobody reads. All end with Close. Reads go over their own
// read-only connections. Events that are read again at each turn are kept in memory, as long as nothing
// is taken away.
//
// When a store is opened after a crash, what SQLite does not have is applied from the intents. If a write or a
// sync fails, the connection is given up: its batches get
// unavailable, and the store opens a new connection, writes the WAL
// anew (or moves it, where its index cannot be reached) and empties the intents before it goes on; if
// they cannot be emptied, it does without them for a while. Where the disk has lost what it had
// taken, nothing is read or written until the store is opened again.
//
// Inside, sessions have numbers. A session's own log has the session's number,
// and an event's id is log<<32 | seq, so that a log is one range of one index. The
// events themselves lie in the order of their positions. See docs/store.md.
//
// The package imports the root package, internal/disk, internal/wire, the SQLite driver and the cipher of encrypted
// stores. It must not import what uses a store.
package sqlite
