package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// cookieName is where a browser that signed in keeps its token.
const cookieName = "parley_device"

// How a request was authenticated, as principals have it.
const (
	viaToken  = "token"
	viaCookie = "cookie"
)

// authenticate finds out who asks, and whether the route and the limits let them.
func (c *call) authenticate(e *entry) error {
	cred, err := c.credential()
	if err != nil {
		return err
	}
	c.cred = cred
	if err := c.mayAsk(); err != nil {
		return err
	}
	return e.gate.allows(cred.Caller)
}

// credential gives the credential of a request. Who sent several bad ones has to
// wait with the next bad one. Whoever has a good one does not: many may come from
// one address, and one of them must not keep the others out.
func (c *call) credential() (access.Credential, error) {
	if c.cfg.AuthenticateFunc != nil {
		cred, err := c.cfg.AuthenticateFunc(c.r)
		if err == nil && c.fromElsewhere() {
			err = c.sameSite() // it may have gone by a cookie
		}
		return cred, err
	}
	token, via, err := c.token()
	if err != nil {
		return access.Credential{}, err
	}
	if token == "" {
		return access.Credential{}, parley.Errorf(parley.CodeUnauthorized, "sign in, or send a token: Authorization: Bearer TOKEN")
	}
	cred, err := c.cfg.People.Authenticate(c.r.Context(), token, via)
	switch {
	case parley.CodeOf(err) == parley.CodeUnauthorized:
		return access.Credential{}, c.notGood(err)
	case err != nil:
		return access.Credential{}, err
	}
	if via == viaCookie {
		err = c.sameSite()
	}
	return cred, err
}

// notGood counts a credential that is not good, and gives the answer: why, or, after
// several, that it has to wait. Secrets are too long to be guessed; this keeps who
// tries from being answered, and heard, at any rate they like.
func (c *call) notGood(why error) error {
	key := c.clientKey()
	if err := c.bad.Wait(key); err != nil {
		return err
	}
	c.bad.Failed(key)
	return why
}

// token finds the token of a request, in its header or else in its cookie. Two
// different headers, or one that is no token, are refused: a proxy and a server
// must not take them for different people.
func (c *call) token() (token, via string, err error) {
	switch given := c.r.Header.Values("Authorization"); len(given) {
	case 0:
	case 1:
		scheme, token, ok := strings.Cut(given[0], " ")
		if token = strings.TrimSpace(token); !ok || token == "" || !strings.EqualFold(scheme, "Bearer") {
			return "", "", parley.Errorf(parley.CodeUnauthorized, "send the token as Authorization: Bearer TOKEN")
		}
		return token, viaToken, nil
	default:
		return "", "", parley.Errorf(parley.CodeUnauthorized, "there is more than one Authorization header; send one")
	}
	cookies := c.r.CookiesNamed(cookieName)
	if len(cookies) != 1 {
		return "", "", nil
	}
	return cookies[0].Value, viaCookie, nil
}

// sameSite refuses a request that changes something and comes, with the cookie of
// a person, from another site's page, or does not say where from.
func (c *call) sameSite() error {
	switch c.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if c.ownPage() {
		return nil
	}
	return parley.Errorf(parley.CodeForbidden, "the request comes from another site's page, or does not say from where; use a token")
}

// fromElsewhere reports whether a browser says that a page asks which may not: not
// our own, and none of those in [Config.CORS].
func (c *call) fromElsewhere() bool {
	origin := c.r.Header.Get("Origin")
	byPage := origin != "" || c.r.Header.Get("Sec-Fetch-Site") != ""
	return byPage && !c.ownPage() && !slices.Contains(c.cfg.CORS, origin)
}

// ownPage reports whether the browser says that one of our own pages asks.
func (c *call) ownPage() bool {
	origins := c.r.Header.Values("Origin")
	switch site := c.r.Header.Get("Sec-Fetch-Site"); site {
	case "same-origin":
		return true
	case "none":
		return len(origins) == 0 // a person did it, not a page
	case "":
	default:
		return false
	}
	if len(origins) != 1 {
		return false
	}
	if c.origin != "" && origins[0] == c.origin {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, c.r.Host)
}

// cors answers the questions of browsers whether a page of another site may ask,
// and reports whether the request was such a question. Cookies are never taken
// from there.
func (s *Server) cors(c *call) bool {
	origin := c.r.Header.Get("Origin")
	if len(s.cfg.CORS) == 0 || origin == "" {
		return false
	}
	h := c.w.Header()
	h.Add("Vary", "Origin")
	if !slices.Contains(s.cfg.CORS, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "ETag, Retry-After, X-Request-Id")
	if c.r.Method != http.MethodOptions || c.r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id")
	h.Set("Access-Control-Max-Age", "600")
	c.pattern = "cors"
	c.w.WriteHeader(http.StatusNoContent)
	return true
}
