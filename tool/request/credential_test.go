package request_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/request"
)

const key = "s3cr3t-value-0123456789"

func value(text string) func(context.Context) (secret.Value, error) {
	return func(context.Context) (secret.Value, error) { return secret.NewValue(text), nil }
}

// world is a few servers over https that remember what they were sent.
type world struct {
	mu   sync.Mutex
	seen []string
	pool *x509.CertPool
}

func (w *world) add(t *testing.T, name string, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		got := "nothing"
		for _, header := range []string{"Authorization", "X-Key"} {
			if v := r.Header.Get(header); v != "" {
				got = header + "=" + v
			}
		}
		w.mu.Lock()
		w.seen = append(w.seen, name+r.URL.Path+" "+got)
		w.mu.Unlock()
		handler(rw, r)
	}))
	t.Cleanup(srv.Close)
	if w.pool == nil {
		w.pool = x509.NewCertPool()
	}
	w.pool.AddCert(srv.Certificate())
	return srv
}

func (w *world) guard() *tool.Guard {
	return tool.NewGuard(tool.GuardConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: w.pool})
}

func host(srv *httptest.Server) string { return srv.Listener.Addr().String() }

// TestCredentialHops follows a credential over redirects.
func TestCredentialHops(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		title   string
		start   string // a: the server that the credential is for; b: another one
		hops    map[string]string
		want    string
		refused string
	}{
		{title: "no redirect", start: "a/1", want: "a/1 KEY"},
		{title: "another host", start: "b/1", want: "b/1 nothing"},
		{title: "on the same host", start: "a/1", hops: map[string]string{"a/1": "a/2"}, want: "a/1 KEY, a/2 KEY"},
		{title: "to another host", start: "a/1", hops: map[string]string{"a/1": "b/2"}, want: "a/1 KEY, b/2 nothing"},
		{title: "there and back", start: "a/1", hops: map[string]string{"a/1": "b/2", "b/2": "a/3"}, want: "a/1 KEY, b/2 nothing, a/3 nothing"},
		{title: "from another host", start: "b/1", hops: map[string]string{"b/1": "a/2", "a/2": "a/3"}, want: "b/1 nothing, a/2 nothing, a/3 nothing"},
		{title: "from https to http", start: "a/1", hops: map[string]string{"a/1": "http/2"}, want: "a/1 KEY", refused: "from https to http"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			var w world
			address := map[string]string{}
			bounce := func(name string) http.HandlerFunc {
				return func(rw http.ResponseWriter, r *http.Request) {
					if to := tt.hops[name+r.URL.Path]; to != "" {
						server, path, _ := strings.Cut(to, "/")
						http.Redirect(rw, r, address[server]+"/"+path, http.StatusFound)
					}
				}
			}
			a := w.add(t, "a", bounce("a"))
			address["a"], address["b"] = a.URL, w.add(t, "b", bounce("b")).URL
			address["http"] = "http" + strings.TrimPrefix(a.URL, "https")
			server, path, _ := strings.Cut(tt.start, "/")
			cfg := request.Config{Guard: w.guard(), Credentials: []request.Credential{{Host: host(a), ValueFunc: value(key)}}}
			res := want(t, cfg, map[string]any{"url": address[server] + "/" + path}, tt.refused != "", tt.refused)
			got := strings.ReplaceAll(strings.Join(w.seen, ", "), "Authorization=Bearer "+key, "KEY")
			if got != tt.want || strings.Contains(res.Text, key) {
				t.Errorf("got  %s\nwant %s\nresult %q", got, tt.want, res.Text)
			}
		})
	}
}

// TestCredentialForms has the ways in which a credential is sent, or not.
func TestCredentialForms(t *testing.T) {
	t.Parallel()
	plain := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			_, _ = io.WriteString(w, "KNOWN")
		}
	})
	var w world
	// It says what it got, as it is and in disguise.
	a := w.add(t, "a", func(rw http.ResponseWriter, r *http.Request) {
		all := r.Header.Get("Authorization") + r.Header.Get("X-Key")
		rw.Header().Set("Etag", all)
		_, _ = fmt.Fprintf(rw, "you sent %s or %s.", all, base64.StdEncoding.EncodeToString([]byte(all)))
	})
	_, port, _ := strings.Cut(host(a), ":")
	cred := func(c request.Credential) request.Config {
		if c.Host == "" {
			c.Host = host(a)
		}
		if c.ValueFunc == nil {
			c.ValueFunc = value(key)
		}
		return request.Config{Guard: w.guard(), Credentials: []request.Credential{c}}
	}
	at := map[string]any{"url": a.URL + "/"}
	for _, tt := range []struct {
		title   string
		cfg     request.Config
		args    map[string]any
		sent    string
		refused string
	}{
		{title: "as it is by default", cfg: cred(request.Credential{}), args: at, sent: "Authorization=Bearer " + key},
		{title: "in another form", cfg: cred(request.Credential{Format: "token %s!"}), args: at, sent: "Authorization=token " + key + "!"},
		{title: "in another header", cfg: cred(request.Credential{Header: "x-key"}), args: at, sent: "X-Key=" + key},
		{title: "for another port", cfg: cred(request.Credential{Host: "127.0.0.1"}), args: at, sent: "nothing"},
		{title: "for another name", cfg: cred(request.Credential{Host: "example.com:" + port}), args: at, sent: "nothing"},
		{title: "the model sends its own elsewhere", cfg: cred(request.Credential{Host: "example.com"}), args: map[string]any{"url": a.URL + "/", "headers": map[string]any{"Authorization": "mine"}}, sent: "Authorization=mine"},
		{title: "the model sends its own here", cfg: cred(request.Credential{}), args: map[string]any{"url": a.URL + "/", "headers": map[string]any{"authorization": "mine"}}, refused: "is set by the configuration"},
		{title: "it is not there", cfg: cred(request.Credential{ValueFunc: func(context.Context) (secret.Value, error) { return secret.Value{}, errors.New("no /run/x") }}), args: at, refused: "is not available"},
		{title: "it is empty", cfg: cred(request.Credential{ValueFunc: value("")}), args: at, refused: "too short"},
		{title: "it is short", cfg: cred(request.Credential{ValueFunc: value("12345")}), args: at, refused: "too short"},
		{title: "it has a line break", cfg: cred(request.Credential{ValueFunc: value(key + "\r\nX: y")}), args: at, refused: "odd characters"},
		{title: "a body as well", cfg: cred(request.Credential{ValueFunc: value("")}), args: map[string]any{"url": a.URL + "/", "method": "POST", "body": "x"}, refused: "too short"},
	} {
		w.seen = nil
		res := want(t, tt.cfg, tt.args, tt.refused != "", tt.refused)
		got := strings.TrimPrefix(strings.Join(w.seen, ", "), "a/ ")
		if got != tt.sent {
			t.Errorf("%s: sent was %q, want %q", tt.title, got, tt.sent)
		}
		if strings.Contains(res.Text, key) || strings.Contains(res.Text, "/run/x") || strings.Contains(res.Text, base64.StdEncoding.EncodeToString([]byte(key))[:16]) {
			t.Errorf("%s: the result is %q", tt.title, res.Text)
		}
		if strings.Contains(tt.sent, key) && strings.Count(res.Text, secret.Mask) != 3 {
			t.Errorf("%s: it was not taken out: %q", tt.title, res.Text)
		}
	}
	// Without encryption it is sent to this machine, and to nobody else.
	local := cred(request.Credential{Host: host(plain)})
	local.Guard = nil
	want(t, local, map[string]any{"url": plain.URL}, false, "KNOWN")
	_, port, _ = strings.Cut(host(plain), ":")
	byName := cred(request.Credential{Host: "localhost:" + port})
	if res := want(t, byName, map[string]any{"url": "http://localhost:" + port}, false, "200 OK"); strings.Contains(res.Text, "KNOWN") {
		t.Error("it was sent to a name without encryption")
	}
}

// TestCredentialCut moves an echoed credential over the place where an answer is
// cut: no half of it may stay.
func TestCredentialCut(t *testing.T) {
	t.Parallel()
	var w world
	const most = 20_000
	a := w.add(t, "a", func(rw http.ResponseWriter, r *http.Request) {
		shift, _ := strconv.Atoi(r.URL.RawQuery)
		_, _ = io.WriteString(rw, strings.Repeat("-", most-shift)+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+strings.Repeat("-", most))
	})
	for shift := range len(key) + 2 {
		cfg := request.Config{Guard: w.guard(), MaxBody: most, Credentials: []request.Credential{{Host: host(a), ValueFunc: value(key)}}}
		res := want(t, cfg, map[string]any{"url": a.URL + "/?" + strconv.Itoa(shift)}, false, "this is its beginning")
		if strings.Contains(res.Text, key[:3]) || len(res.Text) < 10_000 {
			t.Fatalf("%d: got %q", shift, res.Text)
		}
	}
}

// TestCredentialInAddress has a server send a credential back in the address it
// sends to, where names of files come from, and in headers, which are cut.
func TestCredentialInAddress(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{key, "s3cr3t/value+0123456789"} {
		var w world
		a := w.add(t, "a", func(rw http.ResponseWriter, r *http.Request) {
			echo := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			shift, _ := strconv.Atoi(r.URL.Query().Get("n"))
			if r.URL.Path == "/" {
				http.Redirect(rw, r, "/got-"+url.PathEscape(echo)+".png?"+strings.Repeat("x", shift)+echo, http.StatusFound)
				return
			}
			rw.Header().Set("Etag", r.URL.RawQuery)
			_, _ = io.WriteString(rw, "\x89PNG\x0D\x0A\x1A\x0A\x00\x00\x00")
		})
		keep := func(_ context.Context, r io.Reader) (parley.Blob, error) {
			n, err := io.Copy(io.Discard, r)
			return parley.Blob{Handle: "abc", Type: "image/png", Size: n}, err
		}
		cfg := request.Config{Guard: w.guard(), KeepFunc: keep, Credentials: []request.Credential{{Host: host(a), ValueFunc: value(secret)}}}
		for shift := 400; shift < 520; shift += 5 {
			res := want(t, cfg, map[string]any{"url": a.URL + "/?n=" + strconv.Itoa(shift)}, false, "Url: ", "Etag: ", "kept as abc")
			if res.Media == nil || res.Media.Name != "got-[secret].png" || strings.Contains(res.Text, secret[:5]) {
				t.Fatalf("%d: got %+v with %+v", shift, res.Text, res.Media)
			}
		}
	}
}

func TestBadCredentials(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		c    request.Credential
		want string
	}{
		{request.Credential{Host: "api.example.org", ValueFunc: value(key)}, ""},
		{request.Credential{Host: "[2001:db8::1]:8443", ValueFunc: value(key)}, ""},
		{request.Credential{ValueFunc: value(key)}, "for one host"},
		{request.Credential{Host: "*.example.org", ValueFunc: value(key)}, "for one host"},
		{request.Credential{Host: "https://example.org", ValueFunc: value(key)}, "for one host"},
		{request.Credential{Host: "example.org/path", ValueFunc: value(key)}, "for one host"},
		{request.Credential{Host: "a@example.org", ValueFunc: value(key)}, "for one host"},
		{request.Credential{Host: "example.org"}, "has no value"},
		{request.Credential{Host: "example.org", Header: "a b", ValueFunc: value(key)}, "header"},
		{request.Credential{Host: "example.org", Format: "Bearer", ValueFunc: value(key)}, "one %s"},
		{request.Credential{Host: "example.org", Format: "%s%s", ValueFunc: value(key)}, "one %s"},
		{request.Credential{Host: "example.org", Format: "%d %s", ValueFunc: value(key)}, "one %s"},
	} {
		_, err := request.New(request.Config{Credentials: []request.Credential{tt.c}})
		if tt.want == "" {
			if err != nil {
				t.Errorf("%+v: %v", tt.c.Host, err)
			}
			continue
		}
		if parley.CodeOf(err) != parley.CodeInvalid || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.c.Host, err, tt.want)
		}
	}
	two := request.Credential{Host: "example.org", ValueFunc: value(key)}
	if _, err := request.New(request.Config{Credentials: []request.Credential{two, {Host: "EXAMPLE.org:443", ValueFunc: value(key)}}}); parley.CodeOf(err) != parley.CodeInvalid {
		t.Errorf("two for one host give %v", err)
	}
}
