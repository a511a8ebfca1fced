package httpapi

import (
	"net/http"
	"net/url"

	"github.com/parley-run/parley"
)

func (s *Server) linkRoutes() {
	add(s, signedIn, endpoint[linkIn, linkOut]{
		method: http.MethodPost, path: "/api/links", name: "linkAccounts",
		summary: "Without a code: make one, to be entered with another account within ten minutes. With it: both accounts become one user's.", do: (*call).link,
	})
	add(s, signedIn, endpoint[unlinkIn, unlinkOut]{
		method: http.MethodDelete, path: "/api/links/{identity}", name: "unlinkAccount",
		summary: "Give an account a user of its own again. Nothing else is changed.", do: (*call).unlink,
	})
	add(s, signedIn, endpoint[none, loginCodeOut]{
		method: http.MethodPost, path: "/api/links/login", name: "makeLoginLink", status: http.StatusCreated,
		summary: "A one-time link with which a browser signs in as the caller, within ten minutes.", do: (*call).loginLink,
	})
	add(s, signedIn, endpoint[joinIn, roleOut]{
		method: http.MethodPost, path: "/api/links/join", name: "joinAgent",
		summary: "Let oneself in: to a protected agent with a join token, to a public one as a guest.", do: (*call).join,
	})
	add(s, signedIn, endpoint[pairCodeIn, codeOut]{
		method: http.MethodPost, path: "/api/links/pair-code", name: "makePairCode", status: http.StatusCreated,
		summary: "A code that a stranger shows to an owner, to be let in. For channels, about accounts of theirs.", do: (*call).pairCode,
	})
	add(s, owners, endpoint[pairIn, linkedOut]{
		method: http.MethodPost, path: "/api/links/pair", name: "pairStranger", summary: "Let the stranger in who shows the code.", do: (*call).pair,
	})
}

type linkIn struct {
	Code   string      `json:"code,omitempty" jsonschema:"what the other side shows"`
	Sender *senderView `json:"sender,omitempty" jsonschema:"who asks, for credentials of channels"`
}

// linkOut has a code to show, or the user that both accounts belong to.
type linkOut struct {
	Code string       `json:"code,omitempty"`
	User *parley.User `json:"user,omitempty"`
}

func (c *call) link(in *linkIn) (linkOut, error) {
	ctx := c.r.Context()
	if err := c.speak(ctx, in.Sender); err != nil {
		return linkOut{}, err
	}
	if in.Code == "" {
		code, err := c.cfg.People.LinkCode(ctx, c.cred.Caller)
		return linkOut{Code: code}, err
	}
	user, err := c.cfg.People.Link(ctx, c.cred.Caller, in.Code)
	if err != nil {
		return linkOut{}, err
	}
	return linkOut{User: &user}, nil
}

type unlinkIn struct {
	Identity parley.IdentityID `path:"identity" json:"-" jsonschema:"<channel>:<id>, such as telegram:7"`
}

type unlinkOut struct {
	Unlinked bool `json:"unlinked"`
}

func (c *call) unlink(in *unlinkIn) (unlinkOut, error) {
	err := c.cfg.People.Unlink(c.r.Context(), c.cred.Caller, in.Identity)
	return unlinkOut{Unlinked: err == nil}, err
}

type loginCodeOut struct {
	URL  string `json:"url" jsonschema:"the link; it works once"`
	Code string `json:"code"`
}

func (c *call) loginLink(_ *none) (loginCodeOut, error) {
	code, err := c.cfg.People.LoginCode(c.r.Context(), c.cred.Caller)
	if err != nil {
		return loginCodeOut{}, err
	}
	base := c.origin
	if base == "" {
		scheme := "http://"
		if c.secure() {
			scheme = "https://"
		}
		base = scheme + c.r.Host
	}
	return loginCodeOut{Code: code, URL: base + c.cfg.Prefix + "/login?code=" + url.QueryEscape(code)}, nil
}

type joinIn struct {
	Agent  string      `json:"agent"`
	Token  string      `json:"token,omitempty" jsonschema:"the agent's join token"`
	Sender *senderView `json:"sender,omitempty" jsonschema:"who asks, for credentials of channels"`
}

type roleOut struct {
	Identity parley.IdentityID `json:"identity"`
	User     parley.UserID     `json:"user"`
	Role     parley.Role       `json:"role"`
}

func (c *call) join(in *joinIn) (roleOut, error) {
	ctx := c.r.Context()
	if in.Agent == "" {
		return roleOut{}, invalidf("agent is missing")
	}
	if err := c.speak(ctx, in.Sender); err != nil {
		return roleOut{}, err
	}
	agent, _ := c.cfg.AgentFunc(in.Agent) // one that is not there is private
	caller, err := c.cfg.People.Join(ctx, c.cred.Caller, in.Agent, agent.Door, in.Token)
	if err != nil {
		return roleOut{}, err
	}
	p := caller.Principal()
	return roleOut{Identity: p.Identity, User: p.User, Role: p.Role}, nil
}

type pairCodeIn struct {
	Sender *senderView `json:"sender" jsonschema:"the stranger"`
}

type codeOut struct {
	Code string `json:"code"`
}

func (c *call) pairCode(in *pairCodeIn) (codeOut, error) {
	if c.cred.Caller.Namespace() == "" {
		return codeOut{}, parley.Errorf(parley.CodeForbidden, "only a channel shows codes to strangers")
	}
	if in.Sender == nil {
		return codeOut{}, invalidf("sender is missing")
	}
	if err := c.speak(c.r.Context(), in.Sender); err != nil {
		return codeOut{}, err
	}
	code, err := c.cfg.People.PairCode(c.r.Context(), c.cred.Caller.Principal().Identity)
	return codeOut{Code: code}, err
}

type pairIn struct {
	Code string      `json:"code" jsonschema:"what the stranger shows"`
	Role parley.Role `json:"role,omitempty" jsonschema:"owner, user or guest; user if it is not given"`
	Name string      `json:"name,omitempty" jsonschema:"the name of the account if it is not given"`
}

type linkedOut struct {
	User parley.User `json:"user"`
}

func (c *call) pair(in *pairIn) (linkedOut, error) {
	user, err := c.cfg.People.Pair(c.r.Context(), c.cred.Caller, in.Code, in.Role, in.Name)
	return linkedOut{User: user}, err
}
