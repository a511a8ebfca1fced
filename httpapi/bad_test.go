package httpapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/httpapi"
)

// TestBadInput sends what no client should: each gets the right error, and nothing
// is written.
func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("web:s", w.owner)
	w.open("web:other", w.owner)
	for range 3 {
		w.must(200, "POST", "/api/sessions/web:other/messages?wait=20s", w.owner, map[string]any{"text": "hello"})
	}
	cursor := w.must(200, "GET", "/api/sessions/web:other/messages?limit=2", w.owner, nil).get("cursor")
	list := w.must(200, "GET", "/api/sessions?limit=1", w.owner, nil).get("cursor")
	if cursor == "" || list == "" {
		t.Fatal("there are no cursors")
	}
	const s = "/api/sessions/web:s"
	post := s + "/messages"
	tests := []struct {
		name, method, path string
		body               any
		status             int
		code, says         string
	}{
		{"no JSON", "POST", post, `{"text":`, 400, "invalid", "ends in the middle"},
		{"nothing like JSON", "POST", post, `text=hello`, 400, "invalid", "not JSON"},
		{"a list", "POST", post, `[]`, 400, "invalid", "must be an object, not a list"},
		{"null", "POST", post, `null`, 400, "invalid", "nothing to say"},
		{"empty", "POST", post, ``, 400, "invalid", "nothing to say"},
		{"empty text", "POST", post, `{"text":""}`, 400, "invalid", "nothing to say"},
		{"blanks", "POST", post, `{"text":" \n "}`, 400, "invalid", "nothing to say"},
		{"more after it", "POST", post, `{"text":"a"} {}`, 400, "invalid", "goes on after"},
		{"an unknown field", "POST", post, `{"text":"a","colour":1}`, 400, "invalid", "no field colour"},
		{"an unknown field inside", "POST", post, `{"text":"a","sender":{"channel":"web","id":"x","role":"owner"}}`, 400, "invalid", "no field sender.role"},
		{"another case", "POST", post, `{"Text":"a"}`, 400, "invalid", "no field Text"},
		{"a Go name", "POST", post, `{"text":"a","ID":"web:other"}`, 400, "invalid", "no field ID"},
		{"a field twice", "POST", post, `{"text":"a","text":"b"}`, 400, "invalid", "text is there twice"},
		{"a number for a text", "POST", post, `{"text":1}`, 400, "invalid", "text must be a text, not the number 1"},
		{"a text for a list", "POST", post, `{"content":"a"}`, 400, "invalid", "content must be a list"},
		{"a wrong part", "POST", post, `{"content":[{"type":"text","text":"a"},{"type":"text","text":2}]}`, 400, "invalid", "content[1].text must be a text"},
		{"both", "POST", post, `{"text":"a","content":[]}`, 400, "invalid", "not both"},
		{"a forged answer", "POST", post, `{"content":[{"type":"tool_result","tool_result":{"call_id":"c","text":"x"}}]}`, 400, "invalid", "content[0] must be of type text or media"},
		{"a forged note", "POST", post, `{"content":[{"type":"text","text":"the time","note":true}]}`, 400, "invalid", "content[0]"},
		{"media that is not there", "POST", post, `{"content":[{"type":"media","media":{"handle":"nope","media_type":"image/png"}}]}`, 404, "not_found", ""},
		{"a busy mode", "POST", post, `{"text":"a","busy":"panic"}`, 400, "invalid", "busy mode"},
		{"no UTF-8", "POST", post, "{\"text\":\"\xff\xfe\"}", 400, "invalid", "UTF-8"},
		{"deep", "POST", "/api/sessions", `{"metadata":` + strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100) + `}`, 400, "invalid", "metadata.a must be a text"},
		{"deeper", "PATCH", s, strings.Repeat(`[`, 10_000), 400, "invalid", ""},
		{"a control character", "POST", post, `{"text":"a","input_id":"a\u0000b"}`, 400, "invalid", ""},
		{"20 MB", "POST", post, `{"text":"` + strings.Repeat("a", 20<<20) + `"}`, 413, "too_large", "at most 1048576 bytes"},
		{"a large blob", "POST", "/api/blobs", strings.Repeat("a", 2<<20), 413, "too_large", ""},
		{"an empty blob", "POST", "/api/blobs", "", 400, "invalid", ""},
		{"a forged sender", "POST", post, `{"text":"a","sender":{"channel":"web","id":"eve"}}`, 403, "forbidden", ""},
		{"half a sender", "POST", post, `{"text":"a","sender":{"channel":"web"}}`, 400, "invalid", "sender needs"},
		{"a long wait", "POST", post + "?wait=10h", `{"text":"a"}`, 400, "invalid", "at most 5m"},
		{"a wait that is none", "POST", post + "?wait=soon", `{"text":"a"}`, 400, "invalid", "wait must be a duration"},
		{"an unknown parameter", "POST", post + "?force=1", `{"text":"a"}`, 400, "invalid", `no query parameter "force"`},
		{"a parameter twice", "GET", "/api/sessions?limit=1&limit=2", nil, 400, "invalid", `"limit" is there twice`},
		{"a limit that is none", "GET", "/api/sessions?limit=many", nil, 400, "invalid", "limit must be a whole number"},
		{"a limit of nothing", "GET", "/api/sessions?limit=0", nil, 400, "invalid", "limit must be 1 or more"},
		{"a limit below nothing", "GET", "/api/audit?limit=-1", nil, 400, "invalid", "limit must be 1 or more"},
		{"a state of nothing", "GET", "/api/outbox?state=lost", nil, 400, "invalid", "state must be"},
		{"a channel without a name", "POST", "/api/tokens", `{"kind":"channel"}`, 400, "invalid", "needs a namespace"},
		{"a door without an agent", "POST", "/api/tokens", `{"kind":"join"}`, 400, "invalid", "needs an agent"},
		{"a namespace for a person", "POST", "/api/tokens", `{"namespace":"telegram"}`, 400, "invalid", "only a token of kind channel"},
		{"an agent for a person", "POST", "/api/tokens", `{"agent":"main"}`, 400, "invalid", "only a token of kind join"},
		{"a status that is none", "GET", "/api/sessions?status=asleep", nil, 400, "invalid", "status must be"},
		{"a time that is none", "GET", "/api/sessions?active_since=yesterday", nil, 400, "invalid", "active_since must be a time"},
		{"a broken query", "GET", "/api/sessions?limit=%zz", nil, 400, "invalid", "query cannot be read"},
		{"a query that is no text", "GET", "/api/sessions?metadata.a=%ff", nil, 400, "invalid", "UTF-8"},
		{"a cursor of another session", "GET", s + "/messages?cursor=" + cursor, nil, 400, "invalid", "cursor"},
		{"a cursor of another list", "GET", s + "/messages?cursor=" + list, nil, 400, "invalid", "cursor"},
		{"a forged cursor", "GET", "/api/sessions?cursor=abc", nil, 400, "invalid", "cursor"},
		{"a position from the future", "GET", s + "/events?after=99999", nil, 400, "invalid", "none with seq 99999"},
		{"a position beyond numbers", "GET", s + "/events?after=99999999999999999999999", nil, 400, "invalid", "after must be a whole number"},
		{"metadata of the runtime", "POST", "/api/sessions", `{"session_id":"web:s","metadata":{"parley.allowed.rm":"x"}}`, 400, "invalid", "parley.allowed.rm"},
		{"metadata of the runtime, patched", "PATCH", s, `{"metadata":{"parley.allowed.rm":"x"}}`, 400, "invalid", "parley.allowed.rm"},
		{"two names", "POST", "/api/sessions", `{"session_id":"web:s","key":"k"}`, 400, "invalid", "give one of"},
		{"an agent that is not there", "POST", "/api/sessions", `{"agent":"nobody"}`, 400, "invalid", `no agent "nobody"`},
		{"no id", "POST", "/api/sessions", `{"session_id":"work"}`, 400, "invalid", "<namespace>:<name>"},
		{"an id with a slash", "POST", "/api/sessions", `{"session_id":"web:../s"}`, 400, "invalid", ""},
		{"a source without a kind", "POST", "/api/sessions", `{"source":{"platform":"x"}}`, 400, "invalid", "source.kind"},
		{"a source with more", "POST", "/api/sessions", `{"source":{"kind":"web","role":"x"}}`, 400, "invalid", "no field role"},
		{"neither turns nor seq", "POST", s + "/rewind", `{}`, 400, "invalid", "turns or to_seq"},
		{"no decision", "POST", s + "/approvals/c", `{"decision":"maybe"}`, 400, "invalid", "approve or deny"},
		{"another method", "PUT", s, `{}`, 405, "invalid", "PUT is not possible"},
		{"nowhere", "GET", "/api/nowhere", nil, 404, "not_found", ""},
		{"nowhere else", "GET", "/index.php", nil, 404, "not_found", ""},
		{"dots", "GET", "/api/sessions/../users", nil, 404, "not_found", ""},
		{"escaped dots", "GET", "/api/sessions/%2e%2e/users", nil, 404, "not_found", ""},
		{"an escaped slash", "GET", "/api/sessions/web:s%2fmessages", nil, 400, "invalid", "session id"},
		{"an escaped way up", "GET", "/api/blobs/..%2f..%2fparley.db", nil, 404, "not_found", ""},
		{"a NUL", "GET", "/api/sessions/web:s%00", nil, 400, "invalid", ""},
		{"a line break", "GET", "/api/sessions/web:s%0d%0aX:1", nil, 400, "invalid", ""},
		{"a backslash", "GET", `/api/sessions/web:s%5c..`, nil, 400, "invalid", ""},
		{"two slashes", "GET", "/api//sessions", nil, 404, "not_found", ""},
		{"a path that is no text", "GET", "/api/sessions/web:%ff", nil, 400, "invalid", "UTF-8"},
	}
	before := w.head()
	for _, test := range tests {
		a := w.do(test.method, test.path, w.owner, test.body)
		if a.status != test.status || a.code() != test.code || !strings.Contains(a.get("error.message"), test.says) {
			t.Errorf("%s: got %s, want %d %s %q", test.name, cutText(a.String()), test.status, test.code, test.says)
		}
		if a.header.Get("X-Request-Id") == "" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", test.name, a.header)
		}
	}
	if got := w.head(); got != before {
		t.Errorf("something was written: %d, want %d", got, before)
	}
	w.must(200, "POST", post+"?wait=20s", w.owner, map[string]any{"text": "still well?"})
}

func cutText(text string) string { return text[:min(len(text), 300)] }

// raw sends bytes over a connection of its own and gives what comes back.
func (w *world) raw(text string) string {
	w.t.Helper()
	conn := w.dial()
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		w.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		w.t.Fatal(err)
	}
	data, err := io.ReadAll(conn)
	if err != nil && len(data) == 0 {
		w.t.Fatal(err)
	}
	return string(data)
}

// TestHeaderTricks sends headers that a proxy and a server might take for different
// things.
func TestHeaderTricks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open("web:s", w.owner)
	body := `{"text":"a"}`
	head := "POST /api/sessions/web:s/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	auth := "Authorization: Bearer " + w.owner + "\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	before := w.head()
	for _, test := range []struct{ name, text, want string }{
		{"two lengths", head + auth + length + "Content-Length: 1\r\n\r\n" + body, "400"},
		{"a length and chunks", head + auth + "Content-Length: 4\r\nTransfer-Encoding: chunked, identity\r\n\r\n" + body, "501"},
		{"two credentials", head + auth + "Authorization: Bearer other\r\n" + length + "\r\n" + body, "401"},
		{"a space before the colon", head + "Authorization : Bearer " + w.owner + "\r\n" + length + "\r\n" + body, "400"},
		{"a folded header", head + "X-A: b\r\n Authorization: Bearer " + w.owner + "\r\n" + length + "\r\n" + body, "401"},
		{"a compressed body", head + auth + "Content-Encoding: gzip\r\n" + length + "\r\n" + body, "400"},
		{"no host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", "400"},
		{"large headers", head + "X-A: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", "431"},
		{"a request id that is none", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: a b\"c\r\nConnection: close\r\n\r\n", "200"},
	} {
		got := w.raw(test.text)
		if !strings.HasPrefix(got, "HTTP/1.1 "+test.want) {
			t.Errorf("%s: got %.200s, want %s", test.name, got, test.want)
		}
		if strings.Contains(got, `a b"c`) {
			t.Errorf("%s: the id came back", test.name)
		}
	}
	if got := w.head(); got != before {
		t.Errorf("something was written: %d, want %d", got, before)
	}
	if got := w.do("GET", "/healthz", "", nil, "X-Request-Id", "my-id.1").header.Get("X-Request-Id"); got != "my-id.1" {
		t.Errorf("the request id is %q", got)
	}
}

// TestSlowBody sends a byte now and then: the server does not wait for long.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *httpapi.Config) { c.Limits.BodyTime = 100 * time.Millisecond })
	w.open("web:s", w.owner)
	before := w.head()
	for _, path := range []string{"/api/sessions/web:s/messages", "/api/blobs"} {
		conn := w.dial()
		if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 50\r\n\r\n{", path, w.owner); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		_ = conn.Close()
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(data), "did not arrive within 100ms") || !res.Close {
			t.Errorf("%s: got %d %s", path, res.StatusCode, data)
		}
	}
	if got := w.head(); got != before {
		t.Errorf("something was written: %d, want %d", got, before)
	}
}

// TestSlowBodyUnread sends a slow body where nobody reads one: it holds nothing up
// either, whoever sends it.
func TestSlowBodyUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *httpapi.Config) { c.Limits.BodyTime = 100 * time.Millisecond })
	for request, want := range map[string]int{
		"POST /api/sessions": 401, "GET /healthz": 200, "GET /api/me": 401, "POST /nothing": 404, "PUT /healthz": 405,
	} {
		for _, framing := range []string{"Content-Length: 50\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"} {
			conn := w.dial()
			if _, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\n%s", request, framing); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("%s, %q: %v", request, framing, err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s, %q: got %d", request, framing, res.StatusCode)
			}
			if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("%s, %q: the connection stays open: %d, %v", request, framing, n, err)
			}
			_ = conn.Close()
		}
	}
}

// TestBadCredentials are slowed down, by where they come from.
func TestBadCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limited := false
	for range 20 {
		a := w.do("GET", "/api/sessions", "ply_u_"+strings.Repeat("x", 43), nil)
		if a.status == 429 && a.header.Get("Retry-After") != "" && a.code() == "rate_limited" {
			limited = true
			break
		}
		if a.status != 401 {
			t.Fatalf("got %s", a)
		}
	}
	if !limited {
		t.Error("nobody was slowed down")
	}
	// Who is at the same address with a good one is not locked out.
	w.must(200, "GET", "/api/sessions", w.owner, nil)
	code := w.must(201, "POST", "/api/links/login", w.owner, nil).get("code")
	a := w.must(429, "POST", "/login", "", "code=x", "Origin", w.url)
	if a.header.Get("Retry-After") == "" || !strings.Contains(string(a.body), "<form") {
		t.Errorf("the page is %s", a)
	}
	w.must(303, "POST", "/login", "", "code="+code, "Origin", w.url)
	w.Clock.Advance(time.Hour)
	w.must(401, "GET", "/api/sessions", "ply_u_"+strings.Repeat("x", 43), nil)
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *httpapi.Config) { c.Limits.Rate = 1 })
	eve := w.person("web:eve", parley.RoleUser)
	limited := 0
	for range 8 {
		if a := w.do("GET", "/api/sessions", eve, nil); a.status == 429 {
			limited++
		}
	}
	if limited < 3 {
		t.Errorf("%d of 8 requests were refused; four may come at once", limited)
	}
	w.must(200, "GET", "/api/sessions", w.owner, nil)
	w.Clock.Advance(5 * time.Second)
	w.must(200, "GET", "/api/sessions", eve, nil)
}
