package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-run/parley"
)

// TokenPage is one page of tokens. An empty cursor is the end.
type TokenPage struct {
	Tokens []parley.Token `json:"tokens"`
	Cursor string         `json:"cursor"`
}

// Tokens gives tokens, also those that are over: owners see all, others their own.
func (c *Client) Tokens(ctx context.Context, cursor string, limit int) (TokenPage, error) {
	var out TokenPage
	_, err := c.call(ctx, request{method: http.MethodGet, path: at("api", "tokens"), query: page(cursor, limit), want: "tokens"}, &out)
	return out, err
}

// NewToken is a token to be made.
type NewToken struct {
	Kind parley.TokenKind // user, channel or join; empty: user
	Name string           // what it is used for
	// For is who acts with it; empty: who asks.
	For       parley.IdentityID
	Namespace string        // of a channel's token: the name of the channel
	Agent     string        // of a join token: the agent it lets people in to
	TTL       time.Duration // 0: for good
}

// CreateToken makes a token. Its secret is shown this once.
func (c *Client) CreateToken(ctx context.Context, n NewToken) (secret string, t parley.Token, err error) {
	body := struct {
		Kind      parley.TokenKind  `json:"kind,omitempty"`
		Name      string            `json:"name,omitempty"`
		For       parley.IdentityID `json:"for,omitempty"`
		Namespace string            `json:"namespace,omitempty"`
		Agent     string            `json:"agent,omitempty"`
		ExpiresIn string            `json:"expires_in,omitempty"`
	}{n.Kind, n.Name, n.For, n.Namespace, n.Agent, ""}
	if n.TTL != 0 {
		body.ExpiresIn = n.TTL.String()
	}
	var out struct {
		Secret string       `json:"secret"`
		Token  parley.Token `json:"token"`
	}
	_, err = c.call(ctx, request{method: http.MethodPost, path: at("api", "tokens"), body: body, want: "secret"}, &out)
	return out.Secret, out.Token, err
}

// RevokeToken ends a token, and the streams under it.
func (c *Client) RevokeToken(ctx context.Context, id parley.TokenID) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: at("api", "tokens", string(id)), want: "revoked"}, nil)
	return err
}
