package client

import (
	"context"
	"net/http"

	"github.com/parley-run/parley"
)

// Me is who asks, with which credential.
type Me struct {
	Identity   parley.IdentityID `json:"identity"`
	User       *parley.User      `json:"user,omitempty"`
	Identities []parley.Identity `json:"identities"`
	Role       parley.Role       `json:"role,omitempty"`
	Via        string            `json:"via,omitempty"` // how the request was authenticated
	Token      parley.TokenID    `json:"token_id,omitempty"`
	Kind       parley.TokenKind  `json:"token_kind,omitempty"`
	Namespace  string            `json:"namespace,omitempty"` // of a channel's token
}

// Me says who asks.
func (c *Client) Me(ctx context.Context) (Me, error) {
	var out Me
	_, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "me"), want: "identity"}, &out)
	return out, err
}

// UserPage is one page of users. An empty cursor is the end.
type UserPage struct {
	Users  []parley.User `json:"users"`
	Cursor string        `json:"cursor"`
}

// Users gives everybody, a page at a time. For owners.
func (c *Client) Users(ctx context.Context, cursor string, limit int) (UserPage, error) {
	var out UserPage
	_, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "users"), query: page(cursor, limit), want: "users"}, &out)
	return out, err
}

// NewUser is somebody to be added.
type NewUser struct {
	ID   parley.UserID `json:"id,omitempty"` // empty: one is made
	Name string        `json:"name,omitempty"`
	Role parley.Role   `json:"role,omitempty"` // empty: user
	// Identity is the account they begin with, such as telegram:7; empty: user:<id>
	Identity parley.IdentityID `json:"identity,omitempty"`
}

type userOut struct {
	User       parley.User       `json:"user"`
	Identities []parley.Identity `json:"identities"`
}

func (c *Client) user(ctx context.Context, r request) (parley.User, []parley.Identity, error) {
	var out userOut
	r.want = "user"
	_, err := c.call(ctx, r, &out)
	return out.User, out.Identities, err
}

// User gives a user and their accounts: owners see everybody, others themselves.
func (c *Client) User(ctx context.Context, id parley.UserID) (parley.User, []parley.Identity, error) {
	return c.user(ctx, request{method: http.MethodGet, path: at("api", "users", string(id))})
}

// AddUser adds somebody, with one account. For owners.
func (c *Client) AddUser(ctx context.Context, n NewUser) (parley.User, []parley.Identity, error) {
	return c.user(ctx, request{method: http.MethodPost, path: at("api", "users"), body: n})
}

// RenameUser gives a user another name. For owners.
func (c *Client) RenameUser(ctx context.Context, id parley.UserID, name string) (parley.User, error) {
	user, _, err := c.user(ctx, request{method: http.MethodPatch, path: at("api", "users", string(id)), body: struct {
		Name string `json:"name"`
	}{name}})
	return user, err
}

// SetRole gives a user another role, from the next request on. For owners.
func (c *Client) SetRole(ctx context.Context, id parley.UserID, role parley.Role) (parley.User, error) {
	user, _, err := c.user(ctx, request{method: http.MethodPatch, path: at("api", "users", string(id)), body: struct {
		Role parley.Role `json:"role"`
	}{role}})
	return user, err
}

// RemoveUser removes a user: their tokens end, their accounts are nobody's, what
// they said stays. For owners.
func (c *Client) RemoveUser(ctx context.Context, id parley.UserID) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: at("api", "users", string(id)), want: "removed"}, nil)
	return err
}

// IdentityPage is one page of accounts. An empty cursor is the end.
type IdentityPage struct {
	Identities []parley.Identity `json:"identities"`
	Cursor     string            `json:"cursor"`
}

// Identities gives all accounts, also those that are nobody's. For owners.
func (c *Client) Identities(ctx context.Context, cursor string, limit int) (IdentityPage, error) {
	var out IdentityPage
	_, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "identities"), query: page(cursor, limit), want: "identities"}, &out)
	return out, err
}

// AuditPage is one page of the audit. An empty cursor is the end.
type AuditPage struct {
	Entries []parley.AuditEntry `json:"entries"`
	Cursor  string              `json:"cursor"`
}

// Audit gives what people did that others may ask about, the newest first. The
// cursor of a page leads to the next; q.Before must be 0. For owners.
func (c *Client) Audit(ctx context.Context, q parley.AuditQuery, cursor string) (AuditPage, error) {
	if q.Before != 0 {
		return AuditPage{}, invalidf("pages of the audit are asked for by cursor, not by number")
	}
	query := page(cursor, q.Limit)
	set(query, "action", q.Action)
	set(query, "actor", string(q.Actor))
	set(query, "session", string(q.Session))
	var out AuditPage
	_, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "audit"), query: query, want: "entries"}, &out)
	return out, err
}
