package client

import (
	"context"
	"net/http"

	"github.com/parley-run/parley"
)

type linkBody struct {
	Code   string      `json:"code,omitempty"`
	Role   parley.Role `json:"role,omitempty"`
	Name   string      `json:"name,omitempty"`
	Agent  string      `json:"agent,omitempty"`
	Token  string      `json:"token,omitempty"`
	Sender *Sender     `json:"sender,omitempty"`
}

type linkOut struct {
	Code string      `json:"code"`
	User parley.User `json:"user"`
}

func (c *Client) link(ctx context.Context, body linkBody, want string, more ...string) (linkOut, error) {
	var out linkOut
	_, err := c.call(ctx, request{method: http.MethodPost, path: append(at("api", "links"), more...), body: body, want: want}, &out)
	return out, err
}

// LoginLink is a one-time link with which a browser signs in.
type LoginLink struct {
	URL  string `json:"url"`
	Code string `json:"code"`
}

// LoginCode makes a link with which a browser signs in as the caller, once, within
// ten minutes.
func (c *Client) LoginCode(ctx context.Context) (LoginLink, error) {
	var out LoginLink
	_, err := c.call(ctx, request{method: http.MethodPost, path: at("api", "links", "login"), want: "url"}, &out)
	return out, err
}

// LinkCode makes a code, to be entered with another account within ten minutes: then
// both are one user's. A channel says for which of its accounts; else sender is nil.
func (c *Client) LinkCode(ctx context.Context, sender *Sender) (string, error) {
	out, err := c.link(ctx, linkBody{Sender: sender}, "code")
	return out.Code, err
}

// Link enters the code that another account shows, and gives the user that both
// belong to from then on.
func (c *Client) Link(ctx context.Context, code string, sender *Sender) (parley.User, error) {
	if code == "" {
		return parley.User{}, invalidf("the code is missing")
	}
	out, err := c.link(ctx, linkBody{Code: code, Sender: sender}, "user")
	return out.User, err
}

// Unlink gives an account a user of its own again. Nothing else is changed.
func (c *Client) Unlink(ctx context.Context, id parley.IdentityID) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: at("api", "links", string(id)), want: "unlinked"}, nil)
	return err
}

// PairCode makes a code that a stranger shows to an owner, to be let in. For
// channels.
func (c *Client) PairCode(ctx context.Context, stranger Sender) (string, error) {
	out, err := c.link(ctx, linkBody{Sender: &stranger}, "code", "pair-code")
	return out.Code, err
}

// Pair lets the stranger in who shows the code; an empty role is that of a user. For
// owners.
func (c *Client) Pair(ctx context.Context, code string, role parley.Role, name string) (parley.User, error) {
	out, err := c.link(ctx, linkBody{Code: code, Role: role, Name: name}, "user", "pair")
	return out.User, err
}

// Joined is who somebody is after they were let in.
type Joined struct {
	Identity parley.IdentityID `json:"identity"`
	User     parley.UserID     `json:"user"`
	Role     parley.Role       `json:"role"`
}

// Join lets the caller in: to a protected agent with its join token, to a public one
// as a guest.
func (c *Client) Join(ctx context.Context, agent, token string, sender *Sender) (Joined, error) {
	var out Joined
	_, err := c.call(ctx, request{
		method: http.MethodPost, path: at("api", "links", "join"), body: linkBody{Agent: agent, Token: token, Sender: sender}, want: "role",
	}, &out)
	return out, err
}
