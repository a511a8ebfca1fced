package httpapi_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/httpapi"
)

// signIn goes the way of a person with a link and gives the cookie.
func (w *world) signIn() *http.Cookie {
	w.t.Helper()
	link := w.must(201, "POST", "/api/links/login", w.owner, nil).get("url")
	u, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(link, w.url+"/login?code=") {
		w.t.Fatalf("the link is %q: %v", link, err)
	}
	for range 2 { // looking does not use it up
		page := w.must(200, "GET", u.RequestURI(), "", nil)
		if !strings.Contains(string(page.body), `name="code" value="`+u.Query().Get("code")) || page.header.Get("Content-Security-Policy") == "" {
			w.t.Fatalf("the page is %s", page)
		}
	}
	a := w.must(303, "POST", "/login", "", "code="+url.QueryEscape(u.Query().Get("code")), "Origin", w.url)
	res := http.Response{Header: a.header}
	if len(res.Cookies()) != 1 || a.header.Get("Location") != "/" {
		w.t.Fatalf("signed in with %v", a.header)
	}
	w.must(401, "POST", "/login", "", "code="+url.QueryEscape(u.Query().Get("code")), "Origin", w.url)
	return res.Cookies()[0]
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.signIn()
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Secure || cookie.MaxAge <= 0 {
		t.Errorf("the cookie is %+v", cookie)
	}
	set := cookie.Name + "=" + cookie.Value
	if a := w.must(200, "GET", "/api/me", "", nil, "Cookie", set); a.get("user.role") != "owner" || a.get("via") != "cookie" || a.get("token_kind") != "device" {
		t.Errorf("signed in as %s", a)
	}
	before := w.head()
	open := map[string]any{"session_id": "web:s"}
	for name, header := range map[string][]string{
		"another site":        {"Origin", "https://evil.example"},
		"another port":        {"Origin", "http://127.0.0.1:1"},
		"a sandbox":           {"Origin", "null"},
		"it does not say":     {},
		"the browser says so": {"Sec-Fetch-Site", "cross-site"},
		"a subdomain":         {"Sec-Fetch-Site", "same-site", "Origin", w.url},
	} {
		if a := w.do("POST", "/api/sessions", "", open, append([]string{"Cookie", set}, header...)...); a.status != 403 || a.code() != "forbidden" {
			t.Errorf("%s: %s", name, a)
		}
	}
	for name, forged := range map[string]string{
		"made up": cookie.Name + "=ply_d_" + strings.Repeat("a", 43), "cut": set[:len(set)-1], "twice": set + "; " + set, "empty": cookie.Name + "=",
	} {
		if a := w.do("GET", "/api/me", "", nil, "Cookie", forged); a.status != 401 {
			t.Errorf("a cookie that is %s: %s", name, a)
		}
	}
	if a := w.do("POST", "/login", "", "code=x", "Origin", "https://evil.example"); a.status != 403 {
		t.Errorf("signing in from another site: %s", a)
	}
	if got := w.head(); got != before {
		t.Errorf("something was written: %d, want %d", got, before)
	}
	w.must(201, "POST", "/api/sessions", "", open, "Cookie", set, "Sec-Fetch-Site", "same-origin")
	w.must(200, "POST", "/api/sessions", "", open, "Cookie", set, "Origin", w.url)
	w.must(204, "POST", "/logout", "", nil, "Cookie", set, "Origin", w.url)
	w.must(401, "GET", "/api/me", "", nil, "Cookie", set, "X-Request-Id", "last")
	logged := w.log.await(`"request":"last"`)
	if strings.Contains(logged, cookie.Value) || strings.Contains(logged, "code=") || strings.Contains(logged, w.owner) {
		t.Error("the log has a secret in it")
	}
	if !strings.Contains(logged, `"route":"POST /api/sessions","status":201`) || !strings.Contains(logged, `"identity":"local:owner"`) {
		t.Errorf("the log is %s", logged)
	}
}

// TestProxy has a trusted proxy in front, and others who only say so.
func TestProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *httpapi.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.PublicURL = "https://parley.example"
	})
	w.do("GET", "/healthz", "", nil, "X-Forwarded-For", "203.0.113.9, 198.51.100.7", "X-Request-Id", "proxied")
	if logged := w.log.await(`"request":"proxied"`); !strings.Contains(logged, `"client":"198.51.100.7"`) {
		t.Errorf("the log is %s", logged)
	}
	// Bad credentials from one place do not slow down another.
	bad := "ply_u_" + strings.Repeat("x", 43)
	for range 20 {
		w.do("GET", "/api/me", bad, nil, "X-Forwarded-For", "198.51.100.7")
	}
	w.must(429, "GET", "/api/me", bad, nil, "X-Forwarded-For", "198.51.100.7")
	w.must(401, "GET", "/api/me", bad, nil, "X-Forwarded-For", "198.51.100.8")
	link := w.must(201, "POST", "/api/links/login", w.owner, nil).get("url")
	code, ok := strings.CutPrefix(link, "https://parley.example/login?code=")
	if !ok {
		t.Fatalf("the link is %s", link)
	}
	a := w.must(303, "POST", "/login", "", "code="+code, "Origin", "https://parley.example")
	if cookie := a.header.Get("Set-Cookie"); !strings.Contains(cookie, "; Secure") {
		t.Errorf("the cookie is %s", cookie)
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	ask := []string{"Origin", "https://app.example", "Access-Control-Request-Method", "POST"}
	off := newWorld(t)
	if a := off.do("OPTIONS", "/api/sessions", "", nil, ask...); a.status != 405 || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without it: %d %v", a.status, a.header)
	}
	w := newWorld(t, func(c *httpapi.Config) { c.CORS = []string{"https://app.example"} })
	a := w.must(204, "OPTIONS", "/api/sessions", "", nil, ask...)
	if a.header.Get("Access-Control-Allow-Origin") != "https://app.example" || a.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("got %v", a.header)
	}
	if a := w.do("OPTIONS", "/api/sessions", "", nil, "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another site: %v", a.header)
	}
	if a := w.must(200, "GET", "/api/me", w.owner, nil, "Origin", "https://app.example"); a.header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("got %v", a.header)
	}
}

// TestOwnSignIn mounts the server under a prefix, with a sign-in of the program.
func TestOwnSignIn(t *testing.T) {
	t.Parallel()
	var owner access.Caller
	w := newWorld(t, func(c *httpapi.Config) {
		c.Prefix, c.CORS = "/parley", []string{"https://app.example"}
		c.AuthenticateFunc = func(r *http.Request) (access.Credential, error) {
			if r.Header.Get("X-Program-User") != "boss" {
				return access.Credential{}, errNobody
			}
			return access.Credential{Caller: owner}, nil
		}
		c.Web = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = rw.Write([]byte("page " + r.URL.Path)) })
	})
	owner = w.Owner
	me := []string{"X-Program-User", "boss"}
	w.must(401, "POST", "/parley/api/sessions", w.owner, map[string]any{})
	id := w.must(201, "POST", "/parley/api/sessions", "", map[string]any{"source": "web"}, me...).get("session.id")
	a := w.must(200, "POST", "/parley/api/sessions/"+id+"/messages?wait=20s", "", map[string]any{"text": "hi"}, me...)
	if a.get("message.parts.0.text") != "you said: hi" {
		t.Errorf("answered %s", a)
	}
	w.must(404, "GET", "/api/sessions", "", nil, me...)
	// The program may go by a cookie, which browsers send from any page.
	for _, from := range [][]string{{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site", "Origin", w.url}} {
		w.must(403, "POST", "/parley/api/sessions/"+id+"/reset", "", `{}`, append(from, me...)...)
		w.must(200, "GET", "/parley/api/sessions/"+id, "", nil, append(from, me...)...)
	}
	for _, from := range [][]string{{"Origin", "https://app.example"}, {"Origin", w.url}, {"Sec-Fetch-Site", "same-origin"}} {
		w.must(200, "PATCH", "/parley/api/sessions/"+id, "", `{"title":"a"}`, append(from, me...)...)
	}
	if a := w.must(200, "GET", "/parley/index.html", "", nil); string(a.body) != "page /index.html" {
		t.Errorf("the page is %s", a)
	}
	w.must(404, "GET", "/parley/api/nothing", "", nil)
	if a := w.must(308, "GET", "/parley", "", nil); a.header.Get("Location") != "/parley/" {
		t.Errorf("the address without its slash: %v", a.header)
	}
	if a := w.must(200, "GET", "/parley/api/openapi.json", "", nil); a.get("servers.0.url") != "/parley" {
		t.Errorf("servers: %s", a.get("servers"))
	}
}

// TestOwnSignInStreams: who comes by the sign-in of an embedding program loses their
// streams when their rights change, as everybody does.
func TestOwnSignInStreams(t *testing.T) {
	t.Parallel()
	eve := access.NewCaller(parley.Principal{Identity: "web:eve", User: "eve", Role: parley.RoleOwner, Via: "sso"})
	w := newWorld(t, func(c *httpapi.Config) {
		c.AuthenticateFunc = func(*http.Request) (access.Credential, error) { return access.Credential{Caller: eve}, nil }
	})
	if _, err := w.people.AddUser(t.Context(), eve, access.NewUser{ID: "eve", Role: parley.RoleOwner, Identity: "web:eve"}); err != nil {
		t.Fatal(err)
	}
	all := w.follow("/api/events", "", "")
	if err := w.people.RemoveUser(t.Context(), eve, "eve"); err != nil {
		t.Fatal(err)
	}
	f := all.until("session:status")
	if !strings.Contains(f.data, `"ended"`) || !strings.Contains(f.data, `"unauthorized"`) {
		t.Errorf("it ends with %s", f.data)
	}
	if f, ok := all.next(); ok {
		t.Errorf("it goes on with %s", f.data)
	}
}
