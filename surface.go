package parley

import (
	"context"
	"iter"
)

// Poster takes messages into a session. The engine as a caller has it and the
// HTTP client both are one.
type Poster interface {
	// Post admits an inbound for a session. It returns when the input is
	// durable; posting the same input again gives its present state. A session
	// that is no longer its key's current one, or an id that was used for other
	// words, is [CodeConflict]; a full queue, or a session that rejects what comes
	// while it is busy, [CodeBusy]; a session that the caller does not see
	// [CodeNotFound]. After a context that ended the input may be there or not:
	// post it again under the same id.
	Post(ctx context.Context, id SessionID, in Input) (Receipt, error)
}

// Receipt acknowledges an input.
type Receipt struct {
	ID        string     `json:"input_id"`
	State     InputState `json:"state"`
	Position  int        `json:"position"` // how many wait before it
	Turn      TurnID     `json:"turn_id,omitempty"`
	Duplicate bool       `json:"duplicate"`
}

// Client is what a surface needs of Parley, near or far. Everything is limited to
// what the caller behind it may see and do.
type Client interface {
	Poster
	// Session gives one session. One that is not there, or that the caller does
	// not see, is [CodeNotFound].
	Session(ctx context.Context, id SessionID) (Session, error)
	// Sessions gives a page of the sessions that the caller sees, the most
	// recently active first. A page may be short while its cursor goes on.
	Sessions(ctx context.Context, q SessionQuery) (SessionPage, error)
	// Events follows a session from a position on, each event once and in order;
	// see [Feed]. It ends with an error, or when the loop or ctx does.
	Events(ctx context.Context, id SessionID, from Position) iter.Seq2[Update, error]
	// Cancel stops a turn, or the open one if none is named, and returns when that
	// is durable. It reports false if there was nothing to stop.
	Cancel(ctx context.Context, id SessionID, turn TurnID) (bool, error)
}
