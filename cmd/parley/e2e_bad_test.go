package main_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// lastUse is what changes in a list of tokens by reading it.
var lastUse = regexp.MustCompile(`,"last_used_at":"[^"]*"`)

// state is what is stored, as far as requests can change it.
func (d *process) state() string {
	d.t.Helper()
	var b strings.Builder
	for _, path := range []string{"/api/sessions?include_inactive=true&limit=1000", "/api/users", "/api/identities", "/api/tokens"} {
		got := d.get(path)
		if got.status != http.StatusOK {
			d.t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
		b.WriteString(lastUse.ReplaceAllString(got.body, ""))
	}
	return b.String()
}

// unharmed fails unless what is stored is as before, and the daemon is well.
func (d *process) unharmed(before string) {
	d.t.Helper()
	if after := d.state(); after != before {
		d.t.Errorf("what is stored has changed from\n%s\nto\n%s", before, after)
	}
	d.ready()
	if log := d.err.String(); strings.Contains(log, "panic") || strings.Contains(log, "level=ERROR") {
		d.t.Errorf("something went wrong inside:\n%s", log)
	}
}

// memory gives the resident memory of the process, now and at its most, in MiB; 0 where
// it cannot be told.
func (d *process) memory() (now, most int) {
	d.t.Helper()
	if runtime.GOOS != "linux" {
		return 0, 0
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		d.t.Fatal(err)
	}
	size := func(name string) int {
		_, rest, _ := strings.Cut(string(data), name+":")
		n, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			d.t.Fatal(err)
		}
		return n >> 10
	}
	return size("VmRSS"), size("VmHWM")
}

// dial opens a connection to the daemon. It is closed at the end of the test.
func (d *process) dial() net.Conn {
	d.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(d.t.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close() }) // the daemon may have done so
	return conn
}

// raw sends bytes as they are and gives the answer; its status is 0 if the connection
// was closed without one. In them $TOKEN is the owner's.
func (d *process) raw(request string) reply {
	d.t.Helper()
	conn := d.dial()
	_ = conn.SetDeadline(time.Now().Add(patience))                              // it is a connection
	_, _ = io.WriteString(conn, strings.ReplaceAll(request, "$TOKEN", d.token)) // it may be refused before its end
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return reply{}
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		d.t.Error(err)
	}
	return reply{resp.StatusCode, resp.Header, string(body)}
}

func TestBad_Bodies(t *testing.T) {
	t.Parallel()
	d := daemonOn(t, t.TempDir())
	session := d.open(`{"title":"as it was"}`)
	before := d.state()
	messages, opening := "/api/sessions/"+session+"/messages", "/api/sessions"
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"no JSON":                  {"POST", messages, `hello`, 400, "not JSON"},
		"half a JSON":              {"POST", messages, `{"text":"hel`, 400, "ends in the middle"},
		"more than JSON":           {"POST", messages, `{"text":"hello"} x`, 400, "goes on"},
		"two values":               {"POST", messages, `{"text":"a"}{"text":"b"}`, 400, "goes on"},
		"nothing":                  {"POST", messages, ``, 400, "nothing to say"},
		"null":                     {"POST", messages, `null`, 400, "nothing to say"},
		"a list":                   {"POST", messages, `[]`, 400, "object"},
		"a text":                   {"POST", messages, `"hello"`, 400, "object"},
		"a field twice":            {"POST", messages, `{"text":"a","text":"b"}`, 400, "text is there twice"},
		"another case":             {"POST", messages, `{"Text":"a"}`, 400, "Text"},
		"unknown field":            {"POST", messages, `{"text":"a","frobnicate":1}`, 400, "frobnicate"},
		"unknown field inside":     {"POST", messages, `{"text":"a","sender":{"channel":"c","id":"1","rank":9}}`, 400, "sender.rank"},
		"number for a text":        {"POST", messages, `{"text":1}`, 400, "text must be"},
		"list for a text":          {"POST", messages, `{"text":["a"]}`, 400, "text must be"},
		"object for a text":        {"POST", messages, `{"text":{"a":"b"}}`, 400, "text must be"},
		"text for a flag":          {"POST", messages, `{"text":"a","mentioned":"yes"}`, 400, "mentioned must be"},
		"text and content":         {"POST", messages, `{"text":"a","content":[{"type":"text","text":"b"}]}`, 400, "not both"},
		"content of the agent":     {"POST", messages, `{"content":[{"type":"tool_call","call":{"name":"x"}}]}`, 400, "content[0]"},
		"a note of the runtime":    {"POST", messages, `{"content":[{"type":"text","text":"x","note":true}]}`, 400, "content[0]"},
		"unknown busy":             {"POST", messages, `{"text":"a","busy":"never"}`, 400, "busy"},
		"half a sender":            {"POST", messages, `{"text":"a","sender":{"channel":"telegram"}}`, 400, "sender"},
		"forged sender":            {"POST", messages, `{"text":"a","sender":{"channel":"telegram","id":"7"}}`, 403, ""},
		"invalid UTF-8":            {"POST", messages, "{\"text\":\"a\xff\"}", 400, "UTF-8"},
		"invalid UTF-8 in a name":  {"POST", messages, "{\"te\xfft\":\"a\"}", 400, "UTF-8"},
		"deep":                     {"POST", messages, `{"content":` + strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) + `}`, 400, ""},
		"deep and open":            {"POST", messages, `{"content":` + strings.Repeat(`{"a":`, 100_000), 400, ""},
		"wait forever":             {"POST", messages + "?wait=forever", `{"text":"a"}`, 400, "wait"},
		"wait before now":          {"POST", messages + "?wait=-1s", `{"text":"a"}`, 400, "wait"},
		"wait for hours":           {"POST", messages + "?wait=10h", `{"text":"a"}`, 400, "wait"},
		"unknown parameter":        {"POST", messages + "?frobnicate=1", `{"text":"a"}`, 400, "frobnicate"},
		"parameter twice":          {"POST", messages + "?wait=1s&wait=2s", `{"text":"a"}`, 400, "twice"},
		"bad escape":               {"POST", messages + "?wait=%zz", `{"text":"a"}`, 400, "query"},
		"to nobody":                {"POST", "/api/sessions/api:none/messages", `{"text":"a"}`, 404, ""},
		"to no id":                 {"POST", "/api/sessions/%20/messages", `{"text":"a"}`, 0, ""},
		"too long an input id":     {"POST", messages, `{"text":"a","input_id":"` + strings.Repeat("x", 5_000) + `"}`, 0, ""},
		"id and key":               {"POST", opening, `{"session_id":"api:a","key":"b"}`, 400, "one of"},
		"bad id":                   {"POST", opening, `{"session_id":"no namespace"}`, 400, ""},
		"id with a line break":     {"POST", opening, `{"session_id":"api:a\nb"}`, 400, ""},
		"unknown agent":            {"POST", opening, `{"agent":"nobody"}`, 400, "nobody"},
		"the runtime's metadata":   {"POST", opening, `{"metadata":{"parley.x":"1"}}`, 400, "parley.x"},
		"metadata of numbers":      {"POST", opening, `{"metadata":{"a":1}}`, 400, "metadata.a"},
		"too much metadata":        {"POST", opening, `{"metadata":{"a":"` + strings.Repeat("x", 900_000) + `"}}`, 0, ""},
		"too long a title":         {"PATCH", "/api/sessions/" + session, `{"title":"` + strings.Repeat("x", 100_000) + `"}`, 0, ""},
		"title of a number":        {"PATCH", "/api/sessions/" + session, `{"title":7}`, 400, "title must be"},
		"status of nobody's":       {"GET", "/api/sessions?status=asleep", "", 400, "status"},
		"limit of words":           {"GET", "/api/sessions?limit=many", "", 400, "limit"},
		"a time that is none":      {"GET", "/api/sessions?active_since=yesterday", "", 400, "active_since"},
		"a cursor that is none":    {"GET", "/api/sessions?cursor=nonsense", "", 400, "cursor"},
		"seq below zero":           {"GET", "/api/sessions/" + session + "/events?after=-1", "", 400, "after"},
		"seq of the future":        {"GET", "/api/sessions/" + session + "/events?after=99", "", 400, "99"},
		"seq beyond numbers":       {"GET", "/api/sessions/" + session + "/events?after=99999999999999999999999", "", 400, "after"},
		"all events, but no SSE":   {"GET", "/api/events", "", 400, "text/event-stream"},
		"rewind to nowhere":        {"POST", "/api/sessions/" + session + "/rewind", `{"to_seq":99}`, 0, ""},
		"rewind below zero":        {"POST", "/api/sessions/" + session + "/rewind", `{"turns":-1}`, 400, ""},
		"fork at the future":       {"POST", "/api/sessions/" + session + "/fork", `{"at_seq":99}`, 0, ""},
		"approve what is not":      {"POST", "/api/sessions/" + session + "/approvals/none", `{"decision":"approve"}`, 404, ""},
		"another decision":         {"POST", "/api/sessions/" + session + "/approvals/none", `{"decision":"maybe"}`, 0, ""},
		"a token of another kind":  {"POST", "/api/tokens", `{"kind":"king"}`, 400, "kind"},
		"a token for no time":      {"POST", "/api/tokens", `{"expires_in":"-1h"}`, 400, "expires_in"},
		"resolve nonsense":         {"POST", "/api/resolve", `{"context":7}`, 400, ""},
		"a method that is not":     {"PUT", messages, `{"text":"a"}`, 405, ""},
		"a route that is not":      {"POST", "/api/frobnicate", `{}`, 404, ""},
		"a body in another coding": {"POST", messages, "\x1f\x8b\x08", 400, ""},
	} {
		got := d.do(c.method, c.path, c.body)
		if c.status == 0 && got.status/100 == 4 {
			c.status = got.status // any that says it is the client's fault
		}
		if got.status != c.status || got.code() == "" || !strings.Contains(got.body, c.says) {
			t.Errorf("%s: %d %s; want %d with %q", name, got.status, got.body, c.status, c.says)
		}
	}
	d.unharmed(before)
}

func TestBad_Requests(t *testing.T) {
	t.Parallel()
	d := daemonOn(t, t.TempDir())
	session := d.open(`{}`)
	before := d.state()
	post := "POST /api/sessions/" + session + "/messages HTTP/1.1\r\nHost: parley\r\n"
	const token, end, body = "Authorization: Bearer $TOKEN\r\n", "Connection: close\r\n\r\n", "{\"text\":\"a\"}"
	const length = "Content-Length: 12\r\n"
	get := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: parley\r\n" + token + end }
	for name, c := range map[string]struct {
		request string
		status  []int // 0: the connection is closed
	}{
		"up a folder":             {get("/api/sessions/../users"), []int{404}},
		"up a folder, escaped":    {get("/api/sessions/%2e%2e/users"), []int{404}},
		"up and out":              {get("/../../../../etc/passwd"), []int{404}},
		"up and out, escaped":     {get("/%2e%2e/%2e%2e/etc/passwd"), []int{404}},
		"up and out, all escaped": {get("/..%2f..%2fetc%2fpasswd"), []int{404}},
		"backslashes":             {get(`/..\..\etc\passwd`), []int{400, 404}},
		"slash in an id":          {get("/api/sessions/api%2fx"), []int{400, 404}},
		"NUL":                     {get("/api/sessions/api:x%00"), []int{400}},
		"NUL, not escaped":        {get("/api/sessions/\x00"), []int{400}},
		"line break":              {get("/api/sessions/x%0d%0aSet-Cookie:%20a=b"), []int{400}},
		"two slashes":             {get("/api//sessions"), []int{404}},
		"slash at the end":        {get("/api/sessions/"), []int{404}},
		"bytes that are no text":  {get("/api/sessions/%ff%fe"), []int{400, 404}},
		"a long path":             {get("/api/sessions/" + strings.Repeat("x", 20_000)), []int{400, 404, 413, 414, 431}},
		"no path":                 {"OPTIONS * HTTP/1.1\r\nHost: parley\r\n" + end, []int{200, 400, 404}},
		"connect":                 {"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n" + end, []int{400, 404, 405}},
		"trace":                   {"TRACE /api/sessions HTTP/1.1\r\nHost: parley\r\n" + token + end, []int{405}},
		"no host":                 {"GET /api/sessions HTTP/1.1\r\n" + token + end, []int{400}},
		"two hosts":               {"GET /api/sessions HTTP/1.1\r\nHost: a\r\nHost: b\r\n" + token + end, []int{400}},
		"no HTTP":                 {"hello\r\n\r\n", []int{400}},
		"HTTP of the future":      {"GET /api/sessions HTTP/9.9\r\nHost: parley\r\n" + end, []int{505, 400}},
		"TLS":                     {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{0, 400}},

		"two tokens":             {post + token + "Authorization: Bearer x\r\n" + length + end + body, []int{401}},
		"a token and a password": {post + "Authorization: Basic b3duZXI6\r\n" + length + end + body, []int{401}},
		"no token":               {post + length + end + body, []int{401}},
		"an empty token":         {post + "Authorization: Bearer \r\n" + length + end + body, []int{401}},
		"space before the colon": {post + "Authorization : Bearer $TOKEN\r\n" + length + end + body, []int{400}},
		"a header over two lines": {
			post + "X-Folded: a\r\n Authorization: Bearer $TOKEN\r\n" + length + end + body, []int{400, 401},
		},
		"two lengths":          {post + token + length + "Content-Length: 5\r\n" + end + body, []int{400}},
		"length below zero":    {post + token + "Content-Length: -1\r\n" + end + body, []int{400}},
		"length of words":      {post + token + "Content-Length: twelve\r\n" + end + body, []int{400}},
		"unknown coding":       {post + token + "Transfer-Encoding: frob\r\n" + end + body, []int{400, 501}},
		"two codings":          {post + token + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n" + end + body, []int{400, 501}},
		"chunk below zero":     {post + token + "Transfer-Encoding: chunked\r\n" + end + "-1\r\n" + body, []int{400}},
		"chunk beyond numbers": {post + token + "Transfer-Encoding: chunked\r\n" + end + "fffffffffffffffff\r\n" + body, []int{400}},
		"compressed":           {post + token + "Content-Encoding: gzip\r\n" + length + end + body, []int{400}},
		"large headers":        {post + token + "X-Large: " + strings.Repeat("x", 64<<10) + "\r\n" + length + end + body, []int{431, 0}},
		"many headers":         {post + token + strings.Repeat("X-Many: x\r\n", 10_000) + length + end + body, []int{431, 0}},

		"forged cookie":              {post + "Cookie: parley_device=ply_d_" + strings.Repeat("A", 43) + "\r\nOrigin: http://parley\r\n" + length + end + body, []int{401}},
		"two cookies":                {post + "Cookie: parley_device=$TOKEN; parley_device=x\r\nOrigin: http://parley\r\n" + length + end + body, []int{401}},
		"signing in from elsewhere":  {"POST /login HTTP/1.1\r\nHost: parley\r\nOrigin: http://evil.example\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n" + end + "code=x", []int{403}},
		"signing in with no origin":  {"POST /login HTTP/1.1\r\nHost: parley\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n" + end + "code=x", []int{403}},
		"signing out from elsewhere": {"POST /logout HTTP/1.1\r\nHost: parley\r\nCookie: parley_device=$TOKEN\r\nOrigin: http://evil.example\r\nContent-Length: 0\r\n" + end, []int{403}},
	} {
		got := d.raw(c.request)
		found := false
		for _, status := range c.status {
			found = found || got.status == status
		}
		if !found || strings.Contains(got.body, "root:") || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v %s; want %v", name, got.status, got.header, got.body, c.status)
		}
	}
	d.unharmed(before)
}

// TestBad_CrossSite has the cookie of a person who is signed in sent along by pages of
// other sites.
func TestBad_CrossSite(t *testing.T) {
	t.Parallel()
	d := daemonOn(t, t.TempDir())
	session := d.open(`{}`)
	_, code, _ := strings.Cut(d.link, "code=")
	in := d.do(http.MethodPost, "/login", "code="+code, "Authorization:", "Origin: "+d.url)
	cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
	if in.status != http.StatusSeeOther || cookie == "" {
		t.Fatalf("signing in: %d %s", in.status, in.body)
	}
	if again := d.do(http.MethodPost, "/login", "code="+code, "Authorization:", "Origin: "+d.url); again.status/100 != 4 || again.header.Get("Set-Cookie") != "" {
		t.Errorf("the link works twice: %d", again.status)
	}
	before := d.state()
	path := "/api/sessions/" + session + "/messages"
	for name, headers := range map[string][]string{
		"another site":              {"Origin: http://evil.example"},
		"another port":              {"Origin: http://127.0.0.1:1"},
		"no origin":                 nil,
		"a page without one":        {"Origin: null"},
		"another site, as it says":  {"Sec-Fetch-Site: cross-site", "Origin: " + d.url},
		"the same site, not origin": {"Sec-Fetch-Site: same-site"},
		"two origins":               {"Origin: " + d.url, "Origin: http://evil.example"},
		"a form's":                  {"Origin: http://evil.example", "Content-Type: text/plain"},
	} {
		for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodDelete} {
			to := path
			if method != http.MethodPost {
				to = "/api/sessions/" + session
			}
			got := d.do(method, to, `{"text":"a"}`, append(headers, "Authorization:", "Cookie: "+cookie)...)
			if got.status != http.StatusForbidden || got.code() != "forbidden" {
				t.Errorf("%s: %s %d %s", name, method, got.status, got.body)
			}
		}
	}
	for _, header := range []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"} {
		got := d.get("/api/sessions", "Origin: http://evil.example")
		if value := got.header.Get(header); value != "" {
			t.Errorf("%s is %q", header, value)
		}
	}
	d.unharmed(before)
	if got := d.do(http.MethodPost, path, `{"text":"a"}`, "Authorization:", "Cookie: "+cookie, "Origin: "+d.url); got.status != http.StatusAccepted {
		t.Errorf("its own page: %d %s", got.status, got.body)
	}
}

// TestBad_Cursors has the cursors of one list used for another.
func TestBad_Cursors(t *testing.T) {
	t.Parallel()
	d := daemonOn(t, t.TempDir())
	first, second := d.open(`{}`), d.open(`{}`)
	d.say(first, "hello")
	d.say(second, "hello")
	cursor := func(path string) string {
		return into[struct{ Cursor string }](t, d.get(path)).Cursor
	}
	messages, sessions := cursor("/api/sessions/"+first+"/messages?limit=1"), cursor("/api/sessions?limit=1")
	if messages == "" || sessions == "" {
		t.Fatal("there is no cursor")
	}
	for _, path := range []string{
		"/api/sessions/" + second + "/messages?cursor=" + messages, "/api/sessions/" + first + "/messages?cursor=" + sessions,
		"/api/sessions?cursor=" + messages, "/api/tokens?cursor=" + sessions,
	} {
		if got := d.get(path); got.status != http.StatusBadRequest || got.code() != "invalid" || !strings.Contains(got.body, "cursor") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := d.get("/api/sessions/" + first + "/messages?limit=1&cursor=" + messages); got.status != http.StatusOK {
		t.Errorf("its own cursor: %d %s", got.status, got.body)
	}
}

// TestBad_Credentials guesses tokens. Who does is slowed down; who has one is not.
func TestBad_Credentials(t *testing.T) {
	t.Parallel()
	d := daemonOn(t, t.TempDir())
	before := d.state()
	slowed := reply{}
	for i := range 200 {
		got := d.get("/api/sessions", fmt.Sprintf("Authorization: Bearer ply_o_%043d", i))
		if got.status == http.StatusTooManyRequests {
			slowed = got
			break
		}
		if got.status != http.StatusUnauthorized {
			t.Fatalf("a guess: %d %s", got.status, got.body)
		}
	}
	if slowed.status == 0 || slowed.header.Get("Retry-After") == "" || slowed.code() != "rate_limited" {
		t.Errorf("nobody slows down who guesses: %v", slowed)
	}
	if got := d.get("/api/sessions"); got.status != http.StatusOK {
		t.Errorf("who has a token is slowed down with who guesses: %d %s", got.status, got.body)
	}
	d.unharmed(before)
}

// TestBad_Large sends bodies of 20 MB, several at once.
func TestBad_Large(t *testing.T) {
	t.Parallel()
	d := daemonOn(t, t.TempDir())
	session := d.open(`{}`)
	before := d.state()
	path := "/api/sessions/" + session + "/messages"
	now, _ := d.memory()
	large := `{"text":"` + strings.Repeat("x", 20<<20) + `"}`
	var sending sync.WaitGroup
	for i := range 20 {
		sending.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var body io.Reader = strings.NewReader(large)
			if i%2 == 0 {
				body = io.MultiReader(body) // whose length is not known before
			}
			resp, err := d.client.Do(d.request(ctx, http.MethodPost, path, body, "Connection: close"))
			if err != nil {
				return // it was refused, and closed before all was sent
			}
			data, err := io.ReadAll(resp.Body)
			if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(data), "too_large") {
				t.Errorf("%d %s, %v", resp.StatusCode, data, err)
			}
		})
	}
	sending.Wait()
	if _, most := d.memory(); most > now+100 {
		t.Errorf("the daemon had %d MiB before, and %d at its most", now, most)
	}
	d.unharmed(before)
	if !strings.Contains(d.err.String(), "status=413") {
		t.Error("no body was refused as too large")
	}
}
