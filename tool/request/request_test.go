package request_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/request"
)

// echo answers with what it got.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Set-Cookie", "a=b")
	w.Header().Set("Retry-After", "7")
	w.WriteHeader(http.StatusTeapot)
	_, _ = fmt.Fprintf(w, "%s %s host=%s type=%s agent=%s x=%q encoding=%s body=%s",
		r.Method, r.URL, r.Host, r.Header.Get("Content-Type"), r.Header.Get("User-Agent"), r.Header.Get("X-One"), r.Header.Get("Accept-Encoding"), body)
}

func TestRequest(t *testing.T) {
	t.Parallel()
	srv := serve(t, echo)
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, tt := range []struct {
		title string
		args  map[string]any
		want  string
	}{
		{"plain", map[string]any{"url": srv.URL + "/a?b=c#d"}, "GET /a?b=c host=" + host + " type= agent=parley x=\"\" encoding=gzip body="},
		{"with everything", map[string]any{"method": "PUT", "url": srv.URL, "headers": map[string]any{"x-one": "é\t1", "User-Agent": "me", "content-type": "a/b"}, "body": "hello", "timeout_seconds": 5}, "PUT / host=" + host + " type=a/b agent=me x=\"é\\t1\" encoding=gzip body=hello"},
		{"text", map[string]any{"method": "POST", "url": srv.URL, "body": "hello"}, "type=text/plain; charset=utf-8"},
		{"JSON", map[string]any{"method": "POST", "url": srv.URL, "body": `{"a": 1}`}, "type=application/json"},
		{"an empty body", map[string]any{"method": "POST", "url": srv.URL, "body": ""}, "POST /"},
		{"delete", map[string]any{"method": "DELETE", "url": srv.URL}, "DELETE /"},
		{"spelled in capitals", map[string]any{"url": "HTTP://" + host}, "GET /"},
	} {
		res := want(t, request.Config{}, tt.args, false, "418 I'm a teapot\nContent-Type: text/plain\nRetry-After: 7\n\n", tt.want)
		if strings.Contains(res.Text, "Cookie") || res.CallID != "c1" {
			t.Errorf("%s: got %+v", tt.title, res)
		}
	}
	want(t, request.Config{}, map[string]any{"method": "HEAD", "url": srv.URL}, false, "418", "(no body)")
	want(t, request.Config{UserAgent: "bot"}, map[string]any{"url": srv.URL}, false, "agent=bot")
}

func TestRefusedArguments(t *testing.T) {
	t.Parallel()
	srv := serve(t, echo)
	header := func(name, value string) map[string]any {
		return map[string]any{"url": srv.URL, "headers": map[string]any{name: value}}
	}
	want(t, request.Config{}, header("X-One", "fine"), false, `x="fine"`)
	own := "is set by the client itself"
	for _, tt := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{}, "url"},
		{map[string]any{"url": srv.URL, "method": "CONNECT"}, "method"},
		{map[string]any{"url": srv.URL, "method": "get\r\nX: y"}, "method"},
		{map[string]any{"url": srv.URL, "redirects": 3}, `there is no argument "redirects"`},
		{map[string]any{"url": srv.URL, "timeout_seconds": 0}, "timeout_seconds"},
		{map[string]any{"url": srv.URL, "timeout_seconds": 31}, "timeout_seconds"},
		{map[string]any{"url": ""}, "url"},
		{map[string]any{"url": "ftp://127.0.0.1/"}, "must start with http:// or https://"},
		{map[string]any{"url": "file:///etc/passwd"}, "must start with"},
		{map[string]any{"url": "127.0.0.1/x"}, "must start with"},
		{map[string]any{"url": "//127.0.0.1/x"}, "must start with"},
		{map[string]any{"url": "http:127.0.0.1"}, "has no host"},
		{map[string]any{"url": "http:///x"}, "has no host"},
		{map[string]any{"url": "http://:80/"}, "has no host"},
		{map[string]any{"url": strings.Replace(srv.URL, "http://", "http://u:p@", 1)}, "user name or a password"},
		{map[string]any{"url": strings.Replace(srv.URL, "http://", "http://example.org@", 1)}, "user name or a password"},
		{map[string]any{"url": srv.URL + "/\r\nX: y"}, "cannot be read"},
		{map[string]any{"url": strings.Replace(srv.URL, "127", "a\\@127", 1)}, "cannot be read"},
		{map[string]any{"url": srv.URL + "/" + strings.Repeat("a", 9000)}, "url"},
		{map[string]any{"url": srv.URL, "method": "POST", "body": strings.Repeat("é", 110_000)}, "at most 204800 are allowed"},
		{header("Host", "evil"), own},
		{header("host", "evil"), own},
		{header("Content-Length", "0"), own},
		{header("Connection", "close"), own},
		{header("Transfer-Encoding", "chunked"), own},
		{header("TE", "trailers"), own},
		{header("Upgrade", "websocket"), own},
		{header("Keep-Alive", "1"), own},
		{header("Trailer", "X"), own},
		{header("Expect", "100-continue"), own},
		{header("Accept-Encoding", "br"), own},
		{header("Proxy-Authorization", "x"), own},
		{header("proxy-anything", "x"), own},
		{header("X-One", "a\r\nHost: evil"), "control character"},
		{header("X-One", "a\nb"), "control character"},
		{header("X-One", "a\rb"), "control character"},
		{header("X-One", "a\x00b"), "control character"},
		{header("X-One\r\nHost", "a"), "cannot be the name of a header"},
		{header("X One", "a"), "cannot be the name of a header"},
		{header("X:One", "a"), "cannot be the name of a header"},
		{header("Host ", "a"), "cannot be the name of a header"},
		{header("", "a"), "cannot be the name of a header"},
		{header("Hóst", "a"), "cannot be the name of a header"},
		{header("X-One", strings.Repeat("a", 20_000)), "at most 16384"},
		{map[string]any{"url": srv.URL, "headers": map[string]any{"X-One": "a", "x-one": "b"}}, "is there twice"},
	} {
		want(t, request.Config{}, tt.args, true, tt.want)
	}
}

// TestForbidden holds that the guard is asked, however the address is written; the
// guard itself has the long table.
func TestForbidden(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was reached") })
	port := srv.URL[strings.LastIndexByte(srv.URL, ':'):]
	var portNumber uint16
	if _, err := fmt.Sscan(port[1:], &portNumber); err != nil {
		t.Fatal(err)
	}
	for host, text := range map[string]string{
		"127.0.0.1": "loopback", "localhost": "loopback", "0.0.0.0": "this machine", "[::ffff:127.0.0.1]": "loopback", "１２７.0.0.1": "loopback",
		"2130706433": "neither a name nor an address", "0x7f.1": "neither a name nor an address", "0177.0.0.1": "neither a name nor an address",
		"127.0.0.1.": "neither a name nor an address", "[::1%25lo]": "interface", "[64:ff9b::7f00:1]": "a form of 127.0.0.1",
		"169.254.169.254": "metadata", "metadata.google.internal": "metadata", "10.0.0.1": "private", "[fd00:ec2::254]": "metadata",
	} {
		cfg := request.Config{Guard: tool.NewGuard(tool.GuardConfig{Ports: []uint16{portNumber}})}
		want(t, cfg, map[string]any{"url": "http://" + host + port}, true, text)
	}
	// By itself the tool has a guard that allows nothing but the web.
	h, err := request.New(request.Config{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := h.Run(t.Context(), parley.ToolCaller{}, parley.ToolCall{Arguments: []byte(`{"url": "` + srv.URL + `"}`)})
	if err != nil || !res.IsError || !strings.Contains(res.Text, "loopback address; requests to it are not allowed") {
		t.Errorf("got %+v, %v", res, err)
	}
	if res, err := h.Run(t.Context(), parley.ToolCaller{}, parley.ToolCall{Arguments: []byte(`{"uri": "x"}`)}); err != nil || !res.IsError {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestCharsets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ title, kind, body, want string }{
		{"UTF-8", "text/plain; charset=utf-8", "grüße €", "grüße €"},
		{"nothing said", "", "grüße €", "grüße €"},
		{"a mark at the start", "text/plain", "\ufeffhello", "\n\nhello"},
		{"Latin", "text/html; charset=ISO-8859-1", "gr\xfc\xdfe", "grüße"},
		{"Windows", "text/html; charset=windows-1252", "\x80 5 \x96 gr\xfc\xdfe", "€ 5 – grüße"},
		{"UTF-16, little", "text/plain; charset=utf-16le", "h\x00i\x00\xac\x20", "hi€"},
		{"UTF-16, big", "text/plain; charset=utf-16be", "\x00h\x00i\x20\xac", "hi€"},
		{"UTF-16 by its mark", "text/plain", "\xff\xfeh\x00i\x00", "hi"},
		{"UTF-16 by its other mark", "application/octet-stream", "\xfe\xff\x00h\x00i", "hi"},
		{"broken", "text/plain; charset=utf-8", "a\xffb", "a\uFFFDb"},
		{"an unknown one", "text/plain; charset=klingon", "a\xffb", "a\uFFFDb"},
		{"a type that cannot be read", ";;;", "hello", "hello"},
		{"JSON", "application/problem+json", "{\"a\": \"\xff\"}", "{\"a\": \"\uFFFD\"}"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{tt.kind}
				_, _ = io.WriteString(w, tt.body)
			})
			want(t, request.Config{}, map[string]any{"url": srv.URL}, false, "200 OK", tt.want)
		})
	}
}

func TestBinary(t *testing.T) {
	t.Parallel()
	picture := "\x89PNG\x0D\x0A\x1A\x0A\x00\x00\x00"
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, picture) })
	var kept bytes.Buffer
	keep := func(_ context.Context, r io.Reader) (parley.Blob, error) {
		n, err := kept.ReadFrom(r)
		return parley.Blob{Handle: "abc", Type: "image/png", Size: n}, err
	}
	args := map[string]any{"url": srv.URL + "/x/cat.png"}
	if res := want(t, request.Config{}, args, false, "(the body is not text: image/png, 11 bytes; it is not kept)"); res.Media != nil {
		t.Errorf("got %+v", res.Media)
	}
	res := want(t, request.Config{KeepFunc: keep}, args, false, "(the body is not text: image/png, 11 bytes; kept as abc)")
	if m := res.Media; m == nil || m.Handle != "abc" || m.Type != "image/png" || m.Size != 11 || m.Name != "cat.png" || kept.String() != picture {
		t.Errorf("got %+v and kept %q", m, kept.String())
	}
	full := func(context.Context, io.Reader) (parley.Blob, error) { return parley.Blob{}, errors.New("full") }
	want(t, request.Config{KeepFunc: full}, args, false, "it could not be stored")
	want(t, request.Config{KeepFunc: keep, MaxBody: 5}, args, false, "more than 5 bytes; it is not kept")
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-arrived
		cancel()
	}()
	res, err := run(ctx, t, request.Config{}, map[string]any{"url": srv.URL})
	if !errors.Is(err, context.Canceled) || res.Text != "" {
		t.Errorf("got %+v, %v", res, err)
	}
	<-done
}
