package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/parley-run/parley"
)

// Opening asks for a conversation: by id, by key or alias, by where a message came
// from, or, with none of them, one of its own.
type Opening struct {
	ID      parley.SessionID
	Key     string
	Context *parley.Inbound // its parts are not looked at
	// Agent answers in a session that is made; empty: as the configuration says.
	Agent string
	// Source is where a session starts that is made; nil: the API.
	Source *parley.Source
	Title  string // of a session that is made
	// Metadata is merged into a session that is there.
	Metadata map[string]string
	// Sender is who asks, for credentials of channels.
	Sender *Sender
}

// Opened is what opening gave.
type Opened struct {
	Session parley.Session
	Created bool // the session was made
}

type contextBody struct {
	Channel     string `json:"channel"`
	Account     string `json:"account,omitempty"`
	SpaceType   string `json:"space_type,omitempty"`
	SpaceID     string `json:"space_id,omitempty"`
	ChatType    string `json:"chat_type,omitempty"`
	ChatID      string `json:"chat_id,omitempty"`
	ChatName    string `json:"chat_name,omitempty"`
	TopicID     string `json:"topic_id,omitempty"`
	ParentChat  string `json:"parent_chat_id,omitempty"`
	SenderID    string `json:"sender_id,omitempty"`
	SenderIDAlt string `json:"sender_id_alt,omitempty"`
	SenderName  string `json:"sender_name,omitempty"`
}

type openBody struct {
	ID       parley.SessionID  `json:"session_id,omitempty"`
	Key      string            `json:"key,omitempty"`
	Context  *contextBody      `json:"context,omitempty"`
	Agent    string            `json:"agent,omitempty"`
	Source   *parley.Source    `json:"source,omitempty"`
	Title    string            `json:"title,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Sender   *Sender           `json:"sender,omitempty"`
}

// Open opens a conversation, and makes its session if there is none.
func (c *Client) Open(ctx context.Context, o Opening) (Opened, error) {
	body := openBody{ID: o.ID, Key: o.Key, Agent: o.Agent, Source: o.Source, Title: o.Title, Metadata: o.Metadata, Sender: o.Sender}
	if in := o.Context; in != nil {
		body.Context = &contextBody{
			Channel: in.Channel, Account: in.Account, SpaceType: in.SpaceType, SpaceID: in.SpaceID, ChatType: in.ChatType, ChatID: in.ChatID,
			ChatName: in.ChatName, TopicID: in.TopicID, ParentChat: in.ParentChat,
			SenderID: in.Sender.ID, SenderIDAlt: in.Sender.AltID, SenderName: in.Sender.Name,
		}
	}
	var out sessionOut
	status, err := c.call(ctx, request{method: http.MethodPost, path: at("api", "sessions"), body: body, want: "session"}, &out)
	return Opened{Session: out.Session.session(), Created: status == http.StatusCreated}, err
}

// Session gives one session. The configuration of its agent is not among it.
func (c *Client) Session(ctx context.Context, id parley.SessionID) (parley.Session, error) {
	return c.one(ctx, http.MethodGet, id, nil)
}

// one asks for something about a session that is answered with one.
func (c *Client) one(ctx context.Context, method string, id parley.SessionID, body any, more ...string) (parley.Session, error) {
	var out sessionOut
	_, err := c.call(ctx, request{method: method, path: append(at("api", "sessions", string(id)), more...), body: body, want: "session"}, &out)
	return out.Session.session(), err
}

// Sessions gives a page of the sessions that the caller sees, the most recently
// active first.
func (c *Client) Sessions(ctx context.Context, q parley.SessionQuery) (parley.SessionPage, error) {
	query := page(q.Cursor, q.Limit)
	set(query, "status", string(q.Status))
	set(query, "source", q.Source)
	set(query, "agent", q.Agent)
	set(query, "key", string(q.Key))
	if !q.ActiveSince.IsZero() {
		query.Set("active_since", q.ActiveSince.UTC().Format(time.RFC3339Nano))
	}
	for name, value := range q.Metadata {
		query.Set("metadata."+name, value)
	}
	if q.IncludeInactive {
		query.Set("include_inactive", "true")
	}
	var out struct {
		Sessions []sessionView `json:"sessions"`
		Cursor   string        `json:"cursor"`
	}
	if _, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "sessions"), query: query, want: "sessions"}, &out); err != nil {
		return parley.SessionPage{}, err
	}
	got := parley.SessionPage{Sessions: make([]parley.Session, len(out.Sessions)), Cursor: out.Cursor}
	for i := range out.Sessions {
		got.Sessions[i] = out.Sessions[i].session()
	}
	return got, nil
}

// AllSessions gives all pages of Sessions, one session after the other. An error is
// the last it gives.
func (c *Client) AllSessions(ctx context.Context, q parley.SessionQuery) iter.Seq2[parley.Session, error] {
	return func(yield func(parley.Session, error) bool) {
		for {
			page, err := c.Sessions(ctx, q)
			if err != nil {
				yield(parley.Session{}, err)
				return
			}
			for _, s := range page.Sessions {
				if !yield(s, nil) {
					return
				}
			}
			if q.Cursor = page.Cursor; q.Cursor == "" {
				return
			}
		}
	}
}

// page makes the query of a page.
func page(cursor string, limit int) url.Values {
	query := url.Values{}
	set(query, "cursor", cursor)
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	return query
}

func set(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}

// Changes are what people may change about a session: what is set. Metadata is
// merged; an empty value removes its name.
type Changes struct {
	Title       *string           `json:"title,omitempty"`
	Description *string           `json:"description,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Busy        *parley.BusyMode  `json:"busy,omitempty"`
}

// Patch changes a session.
func (c *Client) Patch(ctx context.Context, id parley.SessionID, changes Changes) (parley.Session, error) {
	return c.one(ctx, http.MethodPatch, id, changes)
}

// Delete removes a session for good; one of a group with purge, by owners alone.
// While a turn runs or waits for approval it is [parley.CodeConflict].
func (c *Client) Delete(ctx context.Context, id parley.SessionID, purge bool) error {
	query := url.Values{}
	if purge {
		query.Set("purge", "true")
	}
	_, err := c.call(ctx, request{method: http.MethodDelete, path: at("api", "sessions", string(id)), query: query, want: "deleted"}, nil)
	return err
}

// Anew is how a session starts that replaces another.
type Anew struct {
	Title string `json:"title,omitempty"`
}

// Reset ends a session and starts its key's next one, which it gives.
func (c *Client) Reset(ctx context.Context, id parley.SessionID, how Anew) (parley.Session, error) {
	return c.one(ctx, http.MethodPost, id, how, "reset")
}

// Resume makes a session its key's current one again.
func (c *Client) Resume(ctx context.Context, id parley.SessionID) (parley.Session, error) {
	return c.one(ctx, http.MethodPost, id, nil, "resume")
}

// Fork goes on from a point in another session, which it gives: the seq of the last
// event that both share, or 0 for the last there is.
func (c *Client) Fork(ctx context.Context, id parley.SessionID, at uint64) (parley.Session, error) {
	return c.one(ctx, http.MethodPost, id, struct {
		At uint64 `json:"at_seq,omitempty"`
	}{at}, "fork")
}
