package parley

import (
	"context"
	"iter"
)

// Feed shows what happens, live. A subscription first gives what the store has
// after a position, then what comes, without a gap or a repeat at the seam.
type Feed interface {
	// Subscribe follows one session, or all that v sees if id is empty. It goes
	// on until ctx ends, which is no error, or ends with one: [CodeNotFound] when
	// v does not see the session, or no longer does; [CodeUnavailable] when the
	// store cannot be read or the feed is closed. An update with Resync set is
	// the last one: the reader was too slow, or its position cannot be
	// continued. Readers share what updates point to and must not change it.
	Subscribe(ctx context.Context, v Visibility, id SessionID, from Position) iter.Seq2[Update, error]
	// Publish shows a delta to those who follow its session. It never waits for
	// a reader. A stream's deltas are published in order, by one goroutine,
	// which is done with that before it commits the message they become.
	Publish(d Delta)
	Wake
}

// Wake tells others that a session has changed: its log has grown up to pos, or,
// if pos is 0, something else about it did, as when it was deleted. It carries
// nothing that matters: who misses a wake-up finds the events in the store.
type Wake interface {
	Wake(id SessionID, pos uint64)
}

// Position is how far a reader has come: the last stored event it has, and, in
// a reply that is still being written, the last delta. The zero value is the
// beginning.
type Position struct {
	// Epoch is the life of the store that counted; see [Head]. Empty: the
	// present one.
	Epoch string
	// Seq is that of the last event, or, for a subscription to all sessions, its
	// pos.
	Seq uint64
	// Stream and N name the last delta of a running stream. A subscription to
	// all sessions has none.
	Stream string
	N      int
}

// Update is one thing a subscriber sees: exactly one of the fields below
// Position is set. Position is where to go on from once it was dealt with.
type Update struct {
	Position Position
	Event    *Event
	Delta    *Delta
	Snapshot *Snapshot
	Resync   ResyncReason
}

// ResyncReason says why a reader has to read anew.
type ResyncReason string

// The reasons to read anew.
const (
	ResyncSlow     ResyncReason = "slow"             // it fell too far behind; its position is still good
	ResyncUnknown  ResyncReason = "unknown_position" // the store has never been there
	ResyncRestored ResyncReason = "restored"         // the store was restored from a backup since
)

// Delta is a few tokens of one model call's output. It is not stored. A stream
// is one model call of one turn under one fence; its name is the id of the
// message that it becomes, so it is never used again.
type Delta struct {
	Session SessionID `json:"-"`
	Turn    TurnID    `json:"-"`
	Fence   Fence     `json:"-"`
	// After is the seq of the session's last event when the stream began.
	After  uint64   `json:"-"`
	Stream string   `json:"stream"`
	N      int      `json:"n"` // 1, 2, 3 … within the stream
	Kind   PartKind `json:"kind"`
	Text   string   `json:"text"`
}

// Snapshot is a stream so far: the first N deltas, put together.
type Snapshot struct {
	Session SessionID `json:"-"`
	Turn    TurnID    `json:"-"`
	Stream  string    `json:"stream"`
	N       int       `json:"n"`
	Parts   []Part    `json:"parts"`
}
