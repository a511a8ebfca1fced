package httpapi

import (
	"net/http"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

func (s *Server) tokenRoutes() {
	add(s, signedIn, endpoint[pageIn, tokensOut]{
		method: http.MethodGet, path: "/api/tokens", name: "listTokens",
		summary: "Tokens, also those that are over: an owner sees all, others their own. Their secrets are shown nowhere.", do: (*call).tokens,
	})
	add(s, signedIn, endpoint[newTokenIn, newTokenOut]{
		method: http.MethodPost, path: "/api/tokens", name: "createToken", status: http.StatusCreated,
		summary: "Make a token. Its secret is shown this once.", do: (*call).createToken,
	})
	add(s, signedIn, endpoint[tokenIn, revokedOut]{
		method: http.MethodDelete, path: "/api/tokens/{id}", name: "revokeToken", summary: "End a token, and the streams under it.", do: (*call).revoke,
	})
}

type tokensOut struct {
	Tokens []parley.Token `json:"tokens"`
	Cursor string         `json:"cursor"`
}

func (c *call) tokens(in *pageIn) (tokensOut, error) {
	after, err := readCursor("tokens", "", in.Cursor)
	if err != nil {
		return tokensOut{}, err
	}
	list, err := c.cfg.People.Tokens(c.r.Context(), c.cred.Caller, parley.TokenID(after), in.Limit)
	out := tokensOut{Tokens: append([]parley.Token{}, list...)}
	if n := len(list); n > 0 {
		out.Cursor = nextPage("tokens", in.Limit, n, string(list[n-1].ID))
	}
	return out, err
}

type newTokenIn struct {
	Kind      parley.TokenKind  `json:"kind,omitempty" jsonschema:"user, channel or join; user if it is not given"`
	Name      string            `json:"name,omitempty" jsonschema:"what it is used for"`
	For       parley.IdentityID `json:"for,omitempty" jsonschema:"who acts with it; who asks, if it is not given"`
	Namespace string            `json:"namespace,omitempty" jsonschema:"of a channel's token: the name of the channel"`
	Agent     string            `json:"agent,omitempty" jsonschema:"of a join token: the agent it lets people in to"`
	ExpiresIn string            `json:"expires_in,omitempty" jsonschema:"such as 720h; never, if it is not given"`
}

type newTokenOut struct {
	Secret string       `json:"secret" jsonschema:"the token itself, shown this once"`
	Token  parley.Token `json:"token"`
}

func (c *call) createToken(in *newTokenIn) (newTokenOut, error) {
	n := access.NewToken{Kind: in.Kind, Name: in.Name, For: in.For, Namespace: in.Namespace, Agent: in.Agent}
	if in.ExpiresIn != "" {
		var err error
		if n.TTL, err = time.ParseDuration(in.ExpiresIn); err != nil || n.TTL <= 0 {
			return newTokenOut{}, invalidf("expires_in must be a duration such as 720h, not %q", cut(in.ExpiresIn))
		}
	}
	secret, token, err := c.cfg.People.CreateToken(c.r.Context(), c.cred.Caller, n)
	return newTokenOut{Secret: secret, Token: token}, err
}

type tokenIn struct {
	ID parley.TokenID `path:"id" json:"-" jsonschema:"the token's id, which is not the token"`
}

type revokedOut struct {
	Revoked bool `json:"revoked"`
}

func (c *call) revoke(in *tokenIn) (revokedOut, error) {
	err := c.cfg.People.Revoke(c.r.Context(), c.cred.Caller, in.ID)
	return revokedOut{Revoked: err == nil}, err
}
