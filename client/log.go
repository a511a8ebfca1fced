package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/parley-run/parley"
)

// MessagePage is a part of a transcript, oldest first.
type MessagePage struct {
	Messages []LoggedMessage
	// Cursor leads to the page before this one; empty: this is the first.
	Cursor string
}

// LoggedMessage is a message as it stands in the log.
type LoggedMessage struct {
	Seq      uint64
	Turn     parley.TurnID
	At       time.Time
	Identity parley.IdentityID
	Message  parley.Message
	Redacted bool // its content was taken away
}

// Messages gives a page of a transcript: the newest one, or the one that the cursor
// of another leads to.
func (c *Client) Messages(ctx context.Context, id parley.SessionID, cursor string, limit int) (MessagePage, error) {
	var out struct {
		Messages []struct {
			messageView
			Seq      uint64            `json:"seq"`
			Turn     parley.TurnID     `json:"turn_id"`
			At       time.Time         `json:"at"`
			Identity parley.IdentityID `json:"identity"`
			Redacted bool              `json:"redacted"`
		} `json:"messages"`
		Cursor string `json:"cursor"`
	}
	r := request{method: http.MethodGet, path: at("api", "sessions", string(id), "messages"), query: page(cursor, limit), want: "messages"}
	if _, err := c.call(ctx, r, &out); err != nil {
		return MessagePage{}, err
	}
	got := MessagePage{Messages: make([]LoggedMessage, len(out.Messages)), Cursor: out.Cursor}
	for i := range out.Messages {
		m := &out.Messages[i]
		got.Messages[i] = LoggedMessage{
			Seq: m.Seq, Turn: m.Turn, At: m.At, Identity: m.Identity, Message: m.message(), Redacted: m.Redacted,
		}
	}
	return got, nil
}

// Log gives events of a session in the order of their seq: those after a seq, at
// most limit of them.
func (c *Client) Log(ctx context.Context, id parley.SessionID, after uint64, limit int) ([]parley.Event, error) {
	var out struct {
		Events []envelope `json:"events"`
	}
	query := url.Values{"after": {strconv.FormatUint(after, 10)}}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	r := request{method: http.MethodGet, path: at("api", "sessions", string(id), "events"), query: query, want: "events"}
	if _, err := c.call(ctx, r, &out); err != nil {
		return nil, err
	}
	events := make([]parley.Event, len(out.Events))
	for i := range out.Events {
		events[i] = *out.Events[i].event()
	}
	return events, nil
}
