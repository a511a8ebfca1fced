package client_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

// answer is a server that gives everybody the same answer.
func answer(t testing.TB, status int, media, body string, header ...string) *client.Client {
	t.Helper()
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return newClient(t, client.Config{URL: url, Token: "ply_u_secret"})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const ours = "application/json"
	tests := []struct {
		name, media, body string
		status            int
		header            []string
		want              error
		text              string
		retry             time.Duration
	}{
		{"invalid", ours, `{"error":{"code":"invalid","message":"give text"}}`, 400, nil, parley.ErrInvalid, "give text", 0},
		{"unauthorized", ours, `{"error":{"code":"unauthorized","message":"sign in"}}`, 401, nil, parley.ErrUnauthorized, "sign in", 0},
		{"budget", ours, `{"error":{"code":"budget_exceeded","message":"no money"}}`, 402, nil, parley.ErrBudgetExceeded, "no money", 0},
		{"forbidden", ours, `{"error":{"code":"forbidden","message":"no"}}`, 403, nil, parley.ErrForbidden, "no", 0},
		{"not found", ours, `{"error":{"code":"not_found","message":"none"}}`, 404, nil, parley.ErrNotFound, "none", 0},
		{"conflict", ours, `{"error":{"code":"conflict","message":"changed"}}`, 409, nil, parley.ErrConflict, "changed", 0},
		{"busy", ours, `{"error":{"code":"busy","message":"wait"}}`, 409, nil, parley.ErrBusy, "wait", 0},
		{"too large", "application/json; charset=utf-8", `{"error":{"code":"too_large","message":"less"}}`, 413, nil, parley.ErrTooLarge, "less", 0},
		{"rate", ours, `{"error":{"code":"rate_limited","message":"slow"}}`, 429, []string{"Retry-After", "7"}, parley.ErrRateLimited, "slow", 7 * time.Second},
		{"internal", ours, `{"error":{"code":"internal","message":"broken"}}`, 500, nil, parley.ErrInternal, "broken", 0},
		{"unavailable", ours, `{"error":{"code":"unavailable","message":"later"}}`, 503, []string{"Retry-After", "x"}, parley.ErrUnavailable, "later", 0},
		{"a code of a later version", ours, `{"error":{"code":"teapot","message":"short"}}`, 409, nil, parley.ErrConflict, "short", 0},
		{"and an unknown status", ours, `{"error":{"code":"teapot","message":"short"}}`, 418, nil, parley.ErrInternal, "short", 0},
		{"a wait for ever", ours, `{"error":{"code":"rate_limited","message":"slow"}}`, 429, []string{"Retry-After", "2000000000"}, parley.ErrRateLimited, "slow", 24 * time.Hour},

		{"a proxy's page", "text/html", "<h1>Bad gateway</h1>", 502, nil, parley.ErrUnavailable, "proxy", 0},
		{"a proxy's not found", "text/html", "<h1>Not found</h1>", 404, nil, parley.ErrUnavailable, "proxy", 0},
		{"a page in place of an answer", "text/html", "<h1>Welcome</h1>", 200, nil, parley.ErrUnavailable, "proxy", 0},
		{"another server's JSON", ours, `{"hello":"world"}`, 200, nil, parley.ErrUnavailable, "proxy", 0},
		{"another server's error", ours, `{"error":"no"}`, 500, nil, parley.ErrUnavailable, "proxy", 0},
		{"no JSON", ours, `{"session":`, 200, nil, parley.ErrUnavailable, "proxy", 0},
		{"the answer twice", ours, `{"session":{"id":"a:b"}}{"session":{"id":"a:b"}}`, 200, nil, parley.ErrUnavailable, "proxy", 0},
		{"cut", ours, `{"session":{`, 200, []string{"Content-Length", "500"}, parley.ErrUnavailable, "lost", 0},
		{"a large page", "text/html", strings.Repeat("x", 2<<20), 500, nil, parley.ErrUnavailable, "proxy", 0},
		{"redirected", "text/plain", "", 307, []string{"Location", "/other"}, parley.ErrUnavailable, "elsewhere", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := answer(t, test.status, test.media, test.body, test.header...)
			_, err := c.Session(t.Context(), "cli:a")
			e, ok := errors.AsType[*parley.Error](err)
			if !errors.Is(err, test.want) || !ok || !strings.Contains(err.Error(), test.text) {
				t.Fatalf("got %v, want %v with %q", err, test.want, test.text)
			}
			if e.RetryAfter != test.retry {
				t.Errorf("retry after %s, want %s", e.RetryAfter, test.retry)
			}
			if errors.Is(err, parley.ErrOutcomeUnknown) {
				t.Errorf("a read has no outcome: %v", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the token: %v", err)
			}
		})
	}
}

func TestDetails(t *testing.T) {
	t.Parallel()
	c := answer(t, 409, "application/json",
		`{"error":{"code":"conflict","message":"go on in the current one","details":{"current":"cli:b","outcome":7,"more":[1]}}}`, "X-Request-Id", "r1")
	_, err := c.Post(t.Context(), "cli:a", text("hello"))
	remote, ok := errors.AsType[*client.RemoteError](err)
	if !ok || remote.Current != "cli:b" || remote.Outcome != "" || string(remote.Details["more"]) != "[1]" || remote.Request != "r1" || remote.Status != 409 {
		t.Fatalf("got %v, %+v", err, remote)
	}
	if id, ok := client.Current(err); id != "cli:b" || !ok {
		t.Errorf("current %q", id)
	}
	if _, ok := client.Current(parley.ErrConflict); ok {
		t.Error("nothing is current")
	}
}

// TestUnknownCertificate asks a server that nobody vouches for.
func TestUnknownCertificate(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	c := newClient(t, client.Config{URL: srv.URL, Token: "ply_u_secret", Tries: 1})
	_, err := c.Post(t.Context(), "cli:a", text("hello"))
	wantCode(t, err, parley.CodeUnavailable)
	if errors.Is(err, parley.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	c = newClient(t, client.Config{URL: srv.URL, HTTP: srv.Client(), Tries: 1})
	_, err = c.Post(t.Context(), "cli:a", text("hello"))
	if !errors.Is(err, parley.ErrUnavailable) || !strings.Contains(err.Error(), "status 404") {
		t.Errorf("with a client that knows it: %v", err)
	}
}

// TestPatience has servers that ask for a while, and for longer than anybody waits.
func TestPatience(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]int32{"0": 3, "3600": 1} {
		var asked atomic.Int32
		url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"code":"rate_limited","message":"slow"}}`)
		}))
		c := newClient(t, client.Config{URL: url, Tries: 3, Pause: time.Millisecond})
		_, err := c.Post(t.Context(), "cli:a", text("hello"))
		wantCode(t, err, parley.CodeRateLimited)
		if asked.Load() != want || errors.Is(err, parley.ErrOutcomeUnknown) {
			t.Errorf("after %s: asked %d times, want %d: %v", after, asked.Load(), want, err)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	c := answer(t, 200, "application/json", `{"session":{"id":"`+strings.Repeat("x", 5000)+`"}}`)
	client.Limits(c, 1000, 1000)
	_, err := c.Session(t.Context(), "cli:a")
	wantCode(t, err, parley.CodeTooLarge)
	c = answer(t, 200, "text/event-stream", "data: "+strings.Repeat("x", 5000)+"\n\n")
	client.Limits(c, 1000, 1000)
	for _, err := range c.Events(t.Context(), "cli:a", parley.Position{}) {
		wantCode(t, err, parley.CodeTooLarge)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cfg  client.Config
		want parley.Code
	}{
		{"nothing", client.Config{}, parley.CodeInvalid},
		{"no scheme", client.Config{URL: "localhost:7788"}, parley.CodeInvalid},
		{"another scheme", client.Config{URL: "ftp://localhost"}, parley.CodeInvalid},
		{"no host", client.Config{URL: "http://:7788"}, parley.CodeInvalid},
		{"a user", client.Config{URL: "https://me:secret@parley.example"}, parley.CodeInvalid},
		{"a query", client.Config{URL: "https://parley.example?a=b"}, parley.CodeInvalid},
		{"both tokens", client.Config{URL: "https://parley.example", Token: "t", TokenFunc: func(context.Context) (string, error) { return "", nil }}, parley.CodeInvalid},
		{"in the clear", client.Config{URL: "http://parley.example", Token: "t"}, parley.CodeInvalid},
		{"in the clear, later", client.Config{URL: "http://10.0.0.1", TokenFunc: func(context.Context) (string, error) { return "", nil }}, parley.CodeInvalid},
		{"a name that looks like it", client.Config{URL: "http://localhost.example", Token: "t"}, parley.CodeInvalid},
		{"on purpose", client.Config{URL: "http://parley.example", Token: "t", Insecure: true}, ""},
		{"without a token", client.Config{URL: "http://parley.example"}, ""},
		{"encrypted", client.Config{URL: "https://parley.example/prefix/", Token: "t"}, ""},
		{"loopback", client.Config{URL: "http://127.0.0.1:7788", Token: "t"}, ""},
		{"loopback, all of it", client.Config{URL: "http://127.8.9.1:7788", Token: "t"}, ""},
		{"loopback 6", client.Config{URL: "http://[::1]:7788", Token: "t"}, ""},
		{"localhost", client.Config{URL: "http://LocalHost:7788", Token: "t"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := client.New(test.cfg)
			wantCode(t, err, test.want)
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the password: %v", err)
			}
			if err == nil && strings.HasSuffix(c.URL(), "/") {
				t.Errorf("URL %s", c.URL())
			}
		})
	}
}

// TestTokenStaysHere has a server that sends the client to another host.
func TestTokenStaysHere(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	other := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	var got atomic.Value
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization") + " " + r.UserAgent() + " " + r.URL.Path)
		http.Redirect(w, r, other+"/api", http.StatusTemporaryRedirect)
	}))
	n := 0
	c := newClient(t, client.Config{URL: url + "/prefix", UserAgent: "me/1", Tries: 1, TokenFunc: func(context.Context) (string, error) {
		switch n++; n {
		case 1:
			return "t1\n", nil
		case 2:
			return "", errors.New("the keyring is locked")
		}
		return "t\nX-Forged: 1", nil
	}})
	_, err := c.Post(t.Context(), "cli:a", text("hello"))
	wantCode(t, err, parley.CodeUnavailable)
	if got.Load() != "Bearer t1 me/1 /prefix/api/sessions/cli:a/messages" || asked.Load() != 0 {
		t.Errorf("the server got %q; another was asked %d times", got.Load(), asked.Load())
	}
	for range 2 {
		_, err = c.Session(t.Context(), "cli:a")
		wantCode(t, err, parley.CodeUnauthorized)
	}
}
