package httpapi

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

func (s *Server) signInRoutes() {
	add(s, public, endpoint[loginIn, none]{
		method: http.MethodGet, path: "/login", name: "showLogin", summary: "The page behind a one-time sign-in link. Looking at it does not use the link up.",
		gives: "text/html", do: (*call).showLogin,
	})
	add(s, public, endpoint[none, none]{
		method: http.MethodPost, path: "/login", name: "login", summary: "Sign a browser in with the code of a one-time link: sets the cookie.",
		takes: "application/x-www-form-urlencoded", gives: "text/html", status: http.StatusSeeOther, do: (*call).login,
	})
	add(s, signedIn, endpoint[none, none]{
		method: http.MethodPost, path: "/logout", name: "logout", summary: "Sign out: the token of this browser is revoked.",
		status: http.StatusNoContent, do: (*call).logout,
	})
}

type loginIn struct {
	Code string `query:"code" json:"-" jsonschema:"the code of the link"`
}

var loginPage = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in to Parley</title>
<style>
:root{color-scheme:light dark;--paper:#fbfaf7;--ink:#24231f;--soft:#6b6860;--line:#e2dfd6;--accent:#2b6a5f;--on-accent:#fff;--warn:#a2402b}
@media (prefers-color-scheme:dark){:root{--paper:#191918;--ink:#e9e6df;--soft:#a09c92;--line:#32312d;--accent:#7fbfae;--on-accent:#10201c;--warn:#f09a84}}
body{font:16px/1.55 system-ui,sans-serif;max-width:22rem;margin:20vh auto;padding:0 1rem;background:var(--paper);color:var(--ink)}
button,input{font:inherit;width:100%;box-sizing:border-box;padding:.6rem 1rem;border:1px solid var(--line);border-radius:10px}
input{margin:.25rem 0 1rem;background:transparent;color:inherit}
button{background:var(--accent);color:var(--on-accent);border-color:var(--accent);cursor:pointer}
form+p{color:var(--soft);font-size:.9rem}[role=alert]{color:var(--warn)}
</style></head>
<body><h1>Parley</h1>
{{if .Problem}}<p role="alert">{{.Problem}}</p>{{end}}
<form method="post" action="{{.Action}}">
{{if .Code}}<input type="hidden" name="code" value="{{.Code}}">{{else}}<label>Code <input name="code" autocomplete="off" required></label>{{end}}
<button>Sign in</button></form>
<p>A link works once. <code>parley login</code> prints another.</p>
</body></html>
`))

// showLogin asks the person to go on. A look at the page must not use up the code:
// chat apps look at links to show what is behind them.
func (c *call) showLogin(in *loginIn) (none, error) {
	c.page(http.StatusOK, in.Code, "")
	return none{}, nil
}

func (c *call) page(status int, code, problem string) {
	c.took = true
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin") // the address has the code in it
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	c.w.WriteHeader(status)
	data := struct{ Code, Action, Problem string }{code, c.cfg.Prefix + "/login", problem}
	if err := loginPage.Execute(c.w, data); err != nil {
		c.log.Debug("the sign-in page was not taken", "request", c.id, "error", err)
	}
}

// login makes a browser a device of who the code is for.
func (c *call) login(_ *none) (none, error) {
	if !c.ownPage() {
		return none{}, parley.Errorf(parley.CodeForbidden, "sign in from the page of the link itself")
	}
	data, err := c.body()
	if err != nil {
		return none{}, err
	}
	form, err := url.ParseQuery(string(data))
	if err != nil {
		return none{}, invalidf("the form cannot be read")
	}
	secret, token, err := c.cfg.People.Login(c.r.Context(), strings.TrimSpace(form.Get("code")), device(c.r.UserAgent()))
	if err != nil {
		return none{}, c.noLogin(err)
	}
	lasts := 0 // until the browser is closed
	if !token.ExpiresAt.IsZero() {
		lasts = int(token.ExpiresAt.Sub(c.cfg.Clock.Now()) / time.Second)
	}
	c.setCookie(secret, lasts)
	c.took = true
	http.Redirect(c.w, c.r, c.cfg.Prefix+"/", http.StatusSeeOther)
	return none{}, nil
}

// noLogin shows why a code does not sign in.
func (c *call) noLogin(err error) error {
	if parley.CodeOf(err) == parley.CodeUnauthorized {
		err = c.notGood(err)
	}
	p, status := problemOf(err)
	if p.Code == parley.CodeInternal {
		return err
	}
	c.retryAfter(err, p.Code)
	c.page(status, "", p.Message)
	return nil
}

// setCookie gives the browser its token, for so many seconds; -1 takes it away.
func (c *call) setCookie(value string, lasts int) {
	http.SetCookie(c.w, &http.Cookie{ //nolint:gosec // it is secure wherever the connection is
		Name: cookieName, Value: value, Path: c.cfg.Prefix + "/", MaxAge: lasts,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.secure(),
	})
}

// device gives a name to a browser.
func device(agent string) string {
	agent = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(agent, ""))
	if agent == "" {
		return "browser"
	}
	return cut(agent)
}

// logout revokes the token of the device.
func (c *call) logout(_ *none) (none, error) {
	if c.cred.Kind != parley.TokenDevice {
		return none{}, invalidf("only a device signs out; revoke a token with DELETE /api/tokens/{id}")
	}
	if err := c.cfg.People.Revoke(c.r.Context(), c.cred.Caller, c.cred.Token); err != nil {
		return none{}, err
	}
	c.setCookie("", -1)
	return none{}, nil
}
