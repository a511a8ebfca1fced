package parley

import (
	"context"
	"iter"
)

// Feed shows what happens, live. A subscription first gives what the store has
// after a position, then what comes, without a gap or a repeat at the seam.
type Feed interface {
	// Subscribe follows one session, or all that v sees if id is empty, until
	// ctx ends or v no longer sees it. A reader that is too slow, or a position
	// that cannot be continued, gives an update with Resync set: read anew.
	Subscribe(ctx context.Context, v Visibility, id SessionID, from Position) iter.Seq2[Update, error]
	// Publish sends a delta to those who follow its session. It never waits
	// for a reader.
	Publish(d Delta)
	Wake
}

// Wake tells others that a session's log has grown. It carries nothing that
// matters: who misses a wake-up finds the events in the store.
type Wake interface {
	Wake(id SessionID, pos uint64)
}

// Position is how far a reader has come: the last stored event it has, and, in
// a reply that is still being written, the last delta. For a subscription to all
// sessions Seq is the store's pos.
type Position struct {
	Seq    uint64
	Stream string
	N      int
}

// Update is one thing a subscriber sees: a stored event, a delta, the reply so
// far, or the advice to read anew.
type Update struct {
	Position Position
	Event    *Event
	Delta    *Delta
	Snapshot *Delta // Text is all of the stream up to N
	Resync   string // slow, unknown_position, restored
}

// Delta is a few tokens of one model call's output. Deltas are numbered within
// their stream and not stored; a stream is named once and never again.
type Delta struct {
	Session SessionID
	Turn    TurnID
	Fence   Fence
	Stream  string
	N       int
	Kind    PartKind
	Text    string
}
