package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// Readiness is how a server is.
type Readiness struct {
	Ready     bool              `json:"ready"` // messages can be taken
	Store     string            `json:"store"` // ok, or what is wrong with it
	Disk      string            `json:"disk"`
	Channels  map[string]string `json:"channels"`
	Providers map[string]string `json:"providers"`
	Backlog   Backlog           `json:"backlog"`
}

// Backlog is how much work there is.
type Backlog struct {
	Running  int `json:"running"`  // turns that run
	Parked   int `json:"parked"`   // turns that wait for a model that is down
	Awaiting int `json:"awaiting"` // turns that wait for a person
	Queued   int `json:"queued"`   // messages that wait for their turn
	// OldestSeconds is how long the message has waited that waits longest.
	OldestSeconds int64 `json:"oldest_seconds"`
	// Unsent, Held and Dead are deliveries to chats, each counted up to 100.
	Unsent int `json:"unsent"` // on their way
	Held   int `json:"held"`   // became old while nothing could be sent
	Dead   int `json:"dead"`   // given up
}

// Ready asks how the server is. One that is not ready is no error.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	var out Readiness
	_, err := c.call(ctx, request{method: http.MethodGet, path: at("readyz"), also: http.StatusServiceUnavailable, want: "ready"}, &out)
	return out, err
}

// Resolve asks which conversation a message belongs to, and why: a line as `parley
// resolve` takes it, and one as it prints it. It changes nothing.
func (c *Client) Resolve(ctx context.Context, question json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(question) {
		return nil, invalidf("the question is not JSON")
	}
	var out json.RawMessage
	_, err := c.call(ctx, request{method: http.MethodPost, path: at("api", "resolve"), body: question, want: "session_key"}, &out)
	return out, err
}
