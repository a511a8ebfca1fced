// Package feed shows what happens in a store, live: it fans out stored events
// and the deltas of replies that are being written, and replays by position what
// a reader has missed. [Feed] is a [parley.Feed]; [Announce] makes a store wake
// it.
//
// # What a reader is promised
//
// Events. A subscription gives every stored event after its position once and in
// order, first from the store, then live, without a gap or a repeat at the seam.
// Each update has the [parley.Position] to go on from; a reader that comes back
// with it misses nothing and gets nothing twice. A subscription to one session
// counts by seq; one to all sessions by pos, and gives what its visibility sees
// when the log is read.
//
// Replies. Deltas are not stored, but the feed keeps the whole text of the reply
// that is being written in a session. Who followed the session when the reply
// began gets its deltas from 1 on. Who comes back with a position inside it gets
// the deltas after that. Who comes in the middle, or has more than [Config].Deltas
// of them to catch up on, gets a snapshot, then the deltas after it; who comes in the
// middle of a reply that nobody followed until then may get all its deltas instead. So what a
// reader puts together from the last snapshot and the deltas after it is always
// the beginning of the reply.
//
// Order. Events that were committed and announced before a delta was published
// come before it. The stored message that a reply becomes ends it: no delta of
// the reply comes after that event. A reply also ends with its turn, with the
// session, when another begins, and when a turn starts after it: a session has
// one turn at a time. Deltas of an older fence than one that was seen are dropped.
//
// A reply is shown whole or not at all. If a delta is missing, if the feed was
// not there for the first one, or if the text is longer than a message can be,
// no more of it is shown, and readers keep what they have until its message
// comes.
//
// Visibility. Whatever comes from the store was read with the reader's own
// visibility, or, for the live events of one session, is checked against who
// takes part, read after those events. A reader that may not see the session
// any more gets not_found, and nothing that was committed or published after
// that was announced. Deltas get to a subscription to all sessions only after
// the store, asked since the session's last change, has said that its
// visibility sees the session.
//
// # What ends a subscription
//
// The end of its context, without an error. not_found: the session is not there,
// or the reader does not see it, or no longer does. unavailable: the store cannot
// be read, or the feed is closed. And a resync, the last update: slow, when the
// reader left more unread than [Config] allows, restored, when its position is
// from before the store was restored, unknown_position, when the store was never
// there. After slow its position is good; after the others it starts anew.
//
// A slow reader costs the others nothing: readers take from one shared window
// and nothing is queued for each. What came in one piece and is larger than the
// window is read from the store by those who were not behind.
//
// # What is not promised
//
// A wake-up that never came is noticed with the next one of the session. Between
// a delta and an event that was committed after it there is no order, but for
// the event that ends the reply. Subscriptions to all sessions have deltas for
// what happens to be watched: none from before the subscription, no snapshots,
// and one or the other may be missing; N tells. A session that is deleted and made
// again under its old id is another session, which a position cannot tell. A
// redaction is noticed by its session:redacted event.
//
// Updates are shared among readers and must not be changed.
//
// # Goroutines
//
// Subscriptions run in their callers' goroutines. The feed starts one for each
// topic (a session, or the sessions of one visibility) while something is unread,
// never more than one, and [Feed.Close] waits for them. What nobody follows, and
// no reply is being written in, holds nothing. A session whose turn began in a commit that
// was announced ([Announce]) is not read before somebody follows it, or all sessions: the
// commit that ends the turn ends its reply.
//
// The package imports the root package, and nothing else of Parley.
package feed
