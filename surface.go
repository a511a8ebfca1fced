package parley

import (
	"context"
	"iter"
)

// Poster takes messages into a session. The engine and the HTTP client both
// are one.
type Poster interface {
	// Post admits an inbound for a session. It returns when the input is
	// durable; posting the same input again gives its present state.
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

// Client is what a surface needs of Parley, near or far.
type Client interface {
	Poster
	Session(ctx context.Context, id SessionID) (Session, error)
	Sessions(ctx context.Context, q SessionQuery) (SessionPage, error)
	Events(ctx context.Context, id SessionID, from Position) iter.Seq2[Update, error]
	Cancel(ctx context.Context, id SessionID, turn TurnID) (bool, error)
}
