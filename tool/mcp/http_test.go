package mcp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/mcp"
)

// loopback is a guard that lets tests reach their servers.
var loopback = tool.NewGuard(tool.GuardConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})

// requests records what a server gets.
type requests struct {
	mu   sync.Mutex
	list []*http.Request
	body []string
}

func (r *requests) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		r.mu.Lock()
		r.list, r.body = append(r.list, req), append(r.body, string(body))
		r.mu.Unlock()
		next.ServeHTTP(w, req)
	})
}

// with gives the number of requests whose method or body holds a text.
func (r *requests) with(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for i, req := range r.list {
		if req.Method == text || strings.Contains(r.body[i], text) {
			n++
		}
	}
	return n
}

// sessions is a handler for a good server, which keeps sessions.
func sessions(t *testing.T) *sdk.StreamableHTTPHandler {
	t.Helper()
	server := goodServer(nil)
	t.Cleanup(func() {
		for s := range server.Sessions() {
			_ = s.Close()
		}
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
}

// remote makes a server that is reached by HTTP.
func remote(t *testing.T, handler http.Handler, change func(*mcp.Config)) (*mcp.Server, *requests, *warned) {
	t.Helper()
	var got requests
	web := httptest.NewServer(got.wrap(handler))
	t.Cleanup(web.Close)
	told := &warned{}
	cfg := mcp.Config{
		Name: "web", URL: web.URL + "/mcp", Guard: loopback, WarnFunc: told.add,
		Headers: map[string]mcp.Setting{"Authorization": {Text: "Bearer ", SecretFunc: secretOf(hidden)}, "X-Plain": {Text: "plain"}},
	}
	if change != nil {
		change(&cfg)
	}
	s, err := mcp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 {
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})
	return s, &got, told
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	s, got, _ := remote(t, sessions(t), nil)
	all := tools(t, s)
	want(t, call(t.Context(), t, all["web_echo"], `{"a":12345678901234567890}`), false, `{"a":12345678901234567890}`)
	want(t, call(t.Context(), t, all["web_structured"], `{}`), false, `{"id":1234567890123456789}`)
	want(t, call(t.Context(), t, all["web_refuse"], `{}`), true, "not today, [secret]")
	want(t, call(t.Context(), t, all["web_progress"], `{}`), false, "done")
	asked := call(t.Context(), t, all["web_ask"], `{}`)
	want(t, asked, false, "ping: <nil>", "sampling: ", "elicitation: ", "roots: ")
	if strings.Count(asked.Text, "<nil>") != 1 {
		t.Errorf("more than the ping was answered: %s", asked.Text)
	}
	want(t, call(t.Context(), t, all["web_grow"], `{}`), false, "grew")
	if tools(t, s)["web_grown"] == nil {
		t.Error("the list is an old one")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got.with("DELETE") != 1 || got.with("GET") != 0 {
		t.Errorf("%d sessions ended, %d streams opened", got.with("DELETE"), got.with("GET"))
	}
	session := ""
	for i, req := range got.list {
		if req.Header.Get("Authorization") != "Bearer "+hidden || req.Header.Get("X-Plain") != "plain" {
			t.Errorf("request %d has not the headers that were configured", i)
		}
		if i == 0 {
			continue
		}
		if i == 1 {
			session = req.Header.Get("Mcp-Session-Id")
		}
		if id := req.Header.Get("Mcp-Session-Id"); id == "" || id != session || req.Header.Get("Mcp-Protocol-Version") != "2025-11-25" {
			t.Errorf("request %d is of session %q, version %q", i, id, req.Header.Get("Mcp-Protocol-Version"))
		}
	}
}

// TestHTTPStateless: servers without sessions work as well, and have none to end.
func TestHTTPStateless(t *testing.T) {
	t.Parallel()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return goodServer(nil) }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	s, _, _ := remote(t, handler, nil)
	want(t, call(t.Context(), t, tools(t, s)["web_echo"], `{"a":1}`), false, `{"a":1}`)
}

// TestHTTPModern: a server that refuses the older handshake is asked in the later
// way.
func TestHTTPModern(t *testing.T) {
	t.Parallel()
	server := goodServer(nil)
	server.AddReceivingMiddleware(onlyModern)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true})
	s, got, _ := remote(t, handler, nil)
	want(t, call(t.Context(), t, tools(t, s)["web_echo"], `{"a":1}`), false, `{"a":1}`)
	want(t, call(t.Context(), t, tools(t, s)["web_structured"], `{}`), false, `{"id":1234567890123456789}`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	last := got.list[len(got.list)-1]
	if v := last.Header.Get("Mcp-Protocol-Version"); v <= "2025-11-25" || got.with("server/discover") != 1 || got.with("subscriptions/listen") != 0 {
		t.Errorf("the version is %s, asked %d times, listening %d times", v, got.with("server/discover"), got.with("subscriptions/listen"))
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for name, guard := range map[string]*tool.Guard{"none": nil, "strict": tool.NewGuard(tool.GuardConfig{})} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, got, _ := remote(t, sessions(t), func(c *mcp.Config) { c.Guard = guard })
			wantError(t, s.Connect(t.Context()), parley.CodeForbidden, "127.0.0.1 is a loopback address")
			_, err := s.Tools(t.Context())
			wantError(t, err, parley.CodeForbidden, "127.0.0.1 is a loopback address")
			if len(got.list) != 0 {
				t.Errorf("%d requests arrived", len(got.list))
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var other requests
	elsewhere := httptest.NewServer(other.wrap(sessions(t)))
	t.Cleanup(elsewhere.Close)
	good := sessions(t)
	to := func(target string, code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/mcp/" && target != "/mcp/loop" {
				good.ServeHTTP(w, req)
				return
			}
			http.Redirect(w, req, target, code)
		})
	}
	tests := map[string]struct {
		handler http.Handler
		want    string
	}{
		"same server":       {to("/mcp/", http.StatusTemporaryRedirect), ""},
		"another server":    {to(elsewhere.URL, http.StatusTemporaryRedirect), "redirects to another server"},
		"for good":          {to(elsewhere.URL+"/mcp", http.StatusPermanentRedirect), "redirects to another server"},
		"another scheme":    {to("gopher://127.0.0.1/", http.StatusTemporaryRedirect), "redirects to another server"},
		"another method":    {to("/mcp/", http.StatusFound), "redirects in a way that changes the request"},
		"round in a circle": {to("/mcp/loop", http.StatusTemporaryRedirect), "more than 3 redirects"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, _ := remote(t, test.handler, nil)
			err := s.Connect(t.Context())
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				want(t, call(t.Context(), t, tools(t, s)["web_echo"], `{"a":1}`), false, `{"a":1}`)
				return
			}
			wantError(t, err, parley.CodeForbidden, test.want)
		})
	}
	t.Cleanup(func() {
		if len(other.list) != 0 {
			t.Errorf("%d requests went to another server", len(other.list))
		}
	})
}

// TestSessionForgotten: the call that finds out is not repeated, the next one has
// a session of its own; a list is asked for again.
func TestSessionForgotten(t *testing.T) {
	t.Parallel()
	var handler atomic.Pointer[sdk.StreamableHTTPHandler]
	handler.Store(sessions(t))
	s, got, _ := remote(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { handler.Load().ServeHTTP(w, req) }), nil)
	all := tools(t, s)
	handler.Store(sessions(t))
	want(t, call(t.Context(), t, all["web_echo"], `{"once":1}`), true, "has forgotten the session and did not run the call")
	if n := got.with(`{"once":1}`); n != 1 {
		t.Errorf("the call was sent %d times", n)
	}
	want(t, call(t.Context(), t, all["web_echo"], `{"then":1}`), false, `{"then":1}`)
	handler.Store(sessions(t))
	if len(tools(t, s)) != len(all) {
		t.Error("the list is another one")
	}
}

// faulty is a good server that does something else for calls.
func faulty(t *testing.T, fault http.HandlerFunc) http.Handler {
	t.Helper()
	good := sessions(t)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"method":"tools/call"`)) {
			fault(w, req)
			return
		}
		good.ServeHTTP(w, req)
	})
}

func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func TestHTTPCallFails(t *testing.T) {
	t.Parallel()
	const unknown = "unknown whether the call took effect"
	huge := strings.Repeat("x", mcp.MaxMessage+1)
	tests := map[string]struct {
		fault http.HandlerFunc
		want  []string
	}{
		"hangs up":     {func(w http.ResponseWriter, _ *http.Request) { hangUp(w) }, []string{unknown}},
		"server error": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "x", http.StatusInternalServerError) }, []string{"Internal Server Error", unknown}},
		"bad gateway":  {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "x", http.StatusBadGateway) }, []string{unknown}},
		"unauthorized": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, hidden, http.StatusUnauthorized) }, []string{"refused the call", "Unauthorized"}},
		"huge answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, huge)
		}, []string{fmt.Sprintf("more than %d bytes", mcp.MaxMessage), unknown}},
		"huge error": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusTeapot)
			for range 100 {
				if _, err := io.WriteString(w, huge); err != nil {
					return
				}
			}
		}, []string{"refused the call"}},
		"huge event": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+huge+"\n\n")
		}, []string{"exceeded", unknown}},
		"bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, huge)
			_ = z.Close()
		}, []string{fmt.Sprintf("more than %d bytes", mcp.MaxMessage), unknown}},
		"not JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "<html>")
		}, []string{unknown}},
		"not even that": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
		}, []string{unknown}},
		"stream ends": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": nothing\n\n")
		}, []string{unknown}},
		"stream breaks": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "retry: 1\nid: nowhere_1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
		}, []string{unknown}},
		"never answers": {func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }, []string{"did not answer within 700ms", unknown}},
		"never ends": {func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for req.Context().Err() == nil {
				if _, err := io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n"); err != nil {
					return
				}
			}
		}, []string{"did not answer within 700ms", unknown}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, got, _ := remote(t, faulty(t, test.fault), func(c *mcp.Config) {
				if strings.HasPrefix(name, "never") {
					c.Timeout = 700 * time.Millisecond
				}
			})
			result := call(t.Context(), t, tools(t, s)["web_echo"], `{"once":1}`)
			want(t, result, true, test.want...)
			if n := got.with(`{"once":1}`); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			if err := s.Connect(t.Context()); err != nil {
				t.Errorf("it cannot be used any more: %v", err)
			}
		})
	}
}

// TestHTTPNotSent: a server that cannot be reached has not got the call.
func TestHTTPNotSent(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &httptest.Server{Listener: ln, Config: &http.Server{Handler: sessions(t), ReadHeaderTimeout: time.Minute}}
	web.Start()
	s, err := mcp.New(mcp.Config{Name: "web", URL: web.URL, Guard: loopback})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	all := tools(t, s)
	web.Close()
	want(t, call(t.Context(), t, all["web_echo"], `{}`), true, "The call was not sent to MCP server web", "cannot connect to 127.0.0.1")
	if got := tools(t, s); len(got) != len(all) {
		t.Errorf("got %d tools, want the last list", len(got))
	}
}

func TestHTTPCancel(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	s, got, _ := remote(t, faulty(t, func(_ http.ResponseWriter, req *http.Request) {
		close(started)
		<-req.Context().Done()
	}), nil)
	all := tools(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := all["web_echo"].Run(ctx, parley.ToolCaller{}, parley.ToolCall{})
		done <- err
	}()
	<-started
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, "the notification", func() bool { return got.with("notifications/cancelled") == 1 })
}

// TestHTTPStuck: a server that answers nothing any more keeps neither a start nor
// an end.
func TestHTTPStuck(t *testing.T) {
	t.Parallel()
	stuck := http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	s, _, _ := remote(t, stuck, func(c *mcp.Config) { c.ConnectTimeout = 200 * time.Millisecond })
	wantError(t, s.Connect(t.Context()), parley.CodeUnavailable, "it was not ready within 200ms")

	good := sessions(t)
	s, got, _ := remote(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodDelete {
			stuck(w, req)
			return
		}
		good.ServeHTTP(w, req)
	}), func(c *mcp.Config) { c.StopTimeout = 200 * time.Millisecond })
	tools(t, s)
	began := time.Now()
	if err := s.Close(); err != nil || time.Since(began) > 5*time.Second || got.with("DELETE") != 1 {
		t.Errorf("it took %v to close, %d times told: %v", time.Since(began), got.with("DELETE"), err)
	}
}

// TestHTTPFlood: requests of the server within an answer are refused a few at a
// time, and do not keep the answer.
func TestHTTPFlood(t *testing.T) {
	t.Parallel()
	s, got, _ := remote(t, faulty(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 5000 {
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q%d\",\"method\":\"sampling/createMessage\",\"params\":{}}\n\n", i)
		}
		body, _ := io.ReadAll(req.Body)
		_, rest, _ := strings.Cut(string(body), `"id":`)
		id, _, _ := strings.Cut(rest, ",")
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"answer\"}]}}\n\n", id)
	}), nil)
	want(t, call(t.Context(), t, tools(t, s)["web_echo"], `{}`), false, "answer")
	if n := got.with("not supported by this client"); n == 5000 {
		t.Error("each request was answered, however many there were")
	}
}
