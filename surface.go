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

// Channel is a chat platform: inbounds come from it, deliveries go to it.
type Channel interface {
	// Name is the channel's name in scopes, identities and targets.
	Name() string
	// Run receives until ctx ends. Receive is called for each inbound and
	// returns when it is durable; only then may the platform forget it.
	Run(ctx context.Context, receive func(context.Context, Inbound) error) error
	// Send brings one delivery to its chat and gives the platform's id for it.
	// [ErrOutcomeUnknown] in the chain says that the platform may have it.
	Send(ctx context.Context, d Delivery) (platformID string, err error)
}
