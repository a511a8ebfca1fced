package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-run/parley"
)

// Delivery is a message on its way to a chat.
type Delivery struct {
	ID          parley.DeliveryID    `json:"id"`
	Session     parley.SessionID     `json:"session_id"`
	Turn        parley.TurnID        `json:"turn_id,omitempty"`
	Kind        parley.DeliveryKind  `json:"kind"`
	Target      parley.Target        `json:"target"`
	Of          parley.DeliveryID    `json:"of,omitempty"` // the first part, if this is a later one
	Part        int                  `json:"part,omitempty"`
	Text        string               `json:"text"`
	Media       []parley.Media       `json:"media,omitempty"`
	State       parley.DeliveryState `json:"state"`
	Attempts    int                  `json:"attempts"`
	NextAttempt time.Time            `json:"next_attempt,omitzero"`
	LastError   string               `json:"last_error,omitempty"`
	CreatedAt   time.Time            `json:"created_at"`
}

// DeliveryPage is one page of the outbox. An empty cursor is the end.
type DeliveryPage struct {
	Deliveries []Delivery `json:"deliveries"`
	Cursor     string     `json:"cursor"`
}

// Outbox gives what is on its way to chats, the oldest first: what is in a state, or
// without one what is open. For owners.
func (c *Client) Outbox(ctx context.Context, state parley.DeliveryState, cursor string, limit int) (DeliveryPage, error) {
	query := page(cursor, limit)
	set(query, "state", string(state))
	var out DeliveryPage
	_, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "outbox"), query: query, want: "deliveries"}, &out)
	return out, err
}

// RetryDelivery has something sent that was held or given up, or that waits for its
// next attempt. For owners.
func (c *Client) RetryDelivery(ctx context.Context, id parley.DeliveryID) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: at("api", "outbox", string(id), "retry"), want: "id"}, nil)
	return err
}

// DropDelivery takes something out of the outbox unsent. For owners.
func (c *Client) DropDelivery(ctx context.Context, id parley.DeliveryID) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: at("api", "outbox", string(id), "drop"), want: "id"}, nil)
	return err
}
