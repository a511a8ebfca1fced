package tool_test

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
)

// TestRedirects has servers that send a client elsewhere.
func TestRedirects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		title string
		to    string // GOOD, BAD and SELF stand for host and port
		want  string // "": it is followed, to the end
		code  int
		body  string
	}{
		{title: "on the same host", to: "/end"},
		{title: "by its whole address", to: "http://SELF/end"},
		{title: "to another that is allowed", to: "http://GOOD/end"},
		{title: "to a forbidden address", to: "http://BAD/end", want: "127.0.0.1 is a loopback address"},
		{title: "to a forbidden address, without a scheme", to: "//BAD/end", want: "127.0.0.1 is a loopback address"},
		{title: "to a private address", to: "http://10.0.0.1/", want: "private"},
		{title: "to an address in decimal", to: "http://2130706433/", want: "neither a name nor an address"},
		{title: "to metadata by its number", to: "http://169.254.169.254/latest/", want: "cloud metadata"},
		{title: "to metadata by its name", to: "http://metadata.google.internal/", want: "name of cloud metadata"},
		{title: "to another port", to: "http://8.8.8.8:22/", want: "port 22"},
		{title: "to a file", to: "file:///etc/passwd", want: "neither http nor https"},
		{title: "to gopher", to: "gopher://GOOD/_x", want: "neither http nor https"},
		{title: "to a script", to: "javascript:alert(1)", want: "neither http nor https"},
		{title: "to data", to: "data:text/plain,x", want: "neither http nor https"},
		{title: "with a user name", to: "http://u:p@GOOD/end", want: "user name"},
		{title: "in circles", to: "/", want: "more than 5 redirects"},
		{title: "with its body, here", to: "/end", code: http.StatusTemporaryRedirect, body: "x"},
		{title: "with its body, elsewhere", to: "http://GOOD/end", code: http.StatusTemporaryRedirect, body: "x", want: "would send the body to another host"},
		{title: "with its body, elsewhere, for good", to: "http://GOOD/end", code: http.StatusPermanentRedirect, body: "x", want: "would send the body to another host"},
		{title: "without its body, elsewhere", to: "http://GOOD/end", code: http.StatusSeeOther, body: "x"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			var to string
			ended := func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/end" {
					_, _ = io.WriteString(w, "end")
					return
				}
				w.Header().Set("Location", to)
				w.WriteHeader(max(tt.code, http.StatusFound))
			}
			self, victim := pair(t, ended)
			other := mustSite(t, good, ended)
			port := strconv.Itoa(int(self.port))
			to = strings.NewReplacer("GOOD", good+":"+strconv.Itoa(int(other.port)), "BAD", bad+":"+port, "SELF", good+":"+port).Replace(tt.to)
			client := tool.NewGuard(tool.GuardConfig{Allow: []netip.Prefix{netip.MustParsePrefix(good + "/32")}}).Client(tool.Limits{})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+good+":"+port+"/", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if tt.want != "" {
				wantForbidden(t, err, tt.want)
			} else if err != nil {
				t.Errorf("it is not followed: %v", err)
			}
			if err == nil {
				text, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if string(text) != "end" {
					t.Errorf("got %q", text)
				}
			}
			if victim.hits.Load() != 0 {
				t.Error("the forbidden address was reached")
			}
		})
	}
}

// TestRedirectHeaders sends a request through three redirects, to another host
// and back, and looks at what each hop gets.
func TestRedirectHeaders(t *testing.T) {
	t.Parallel()
	headers := func(r *http.Request) string {
		var got []string
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "Referer", "Accept", "User-Agent"} {
			if r.Header.Get(name) != "" {
				got = append(got, name)
			}
		}
		return strings.Join(got, " ")
	}
	var seen []string
	var first, second *site
	address := func(s *site) string { return "http://" + good + ":" + strconv.Itoa(int(s.port)) }
	first = mustSite(t, good, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path+": "+headers(r))
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b", http.StatusFound)
		case "/b":
			http.Redirect(w, r, address(second)+"/c", http.StatusFound)
		}
	})
	second = mustSite(t, good, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path+": "+headers(r))
		http.Redirect(w, r, address(first)+"/d", http.StatusFound)
	})
	client := tool.NewGuard(tool.GuardConfig{Allow: []netip.Prefix{netip.MustParsePrefix(good + "/32")}}).Client(tool.Limits{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address(first)+"/a?token=x", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "Accept"} {
		req.Header.Set(name, "x")
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	want := "/a: Authorization Cookie X-Api-Key Accept User-Agent|/b: Authorization Cookie X-Api-Key Accept User-Agent|/c: Accept User-Agent|/d: Accept User-Agent"
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestTLS holds that certificates are checked, and that nothing leads from https
// to http.
func TestTLS(t *testing.T) {
	t.Parallel()
	plain := mustSite(t, "127.0.0.1", nil)
	to := "http://127.0.0.1:" + strconv.Itoa(int(plain.port)) + "/"
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		if r.ProtoMajor != 1 {
			t.Errorf("it speaks %s", r.Proto)
		}
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains about who does not trust it
	srv.StartTLS()
	t.Cleanup(srv.Close)
	local := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	if _, err := get(t.Context(), tool.NewGuard(tool.GuardConfig{Allow: local}).Client(tool.Limits{}), srv.URL); !isUnknownAuthority(err) {
		t.Errorf("a certificate that nobody knows gives %v", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	client := tool.NewGuard(tool.GuardConfig{Allow: local, RootCAs: pool}).Client(tool.Limits{})
	if _, err := get(t.Context(), client, srv.URL); err != nil {
		t.Errorf("a certificate that is known gives %v", err)
	}
	_, err := get(t.Context(), client, srv.URL+"/down")
	wantForbidden(t, err, "from https to http")
	if plain.hits.Load() != 0 {
		t.Error("it was followed all the same")
	}
}

func isUnknownAuthority(err error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}

// TestNoProxy cannot run beside others, as it changes the environment.
func TestNoProxy(t *testing.T) {
	proxy := mustSite(t, "127.0.0.1", nil)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+strconv.Itoa(int(proxy.port)))
	}
	_, err := get(t.Context(), tool.NewGuard(tool.GuardConfig{}).Client(tool.Limits{}), "http://10.0.0.1/")
	wantForbidden(t, err, "private")
	if proxy.hits.Load() != 0 {
		t.Error("the proxy of the environment was used")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	var cookies atomic.Int64
	s := mustSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		if r.URL.Path == "/gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, size))
			_ = z.Close()
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		if r.Header.Get("Cookie") != "" {
			cookies.Add(1)
		}
		w.Header().Set("X-Fill", strings.Repeat("h", size%1_000_000))
		_, _ = w.Write(make([]byte, size/1_000_000))
	})
	at := "http://127.0.0.1:" + strconv.Itoa(int(s.port))
	guard := tool.NewGuard(tool.GuardConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	small := tool.Limits{MaxBody: 100, MaxHeader: 2000}
	for _, tt := range []struct {
		path   string
		limits tool.Limits
		want   int // bytes; less than 0: too large
	}{
		{"/?size=100000000", small, 100},
		{"/?size=101000000", small, -1},
		{"/?size=0", small, 0},
		{"/gzip?size=100", small, 100},
		{"/gzip?size=101", small, -1},
		{"/gzip?size=9000000", tool.Limits{}, -1}, // eight MiB are the default
		{"/gzip?size=9000000", tool.Limits{MaxBody: -1}, 9000000},
		{"/?size=1000", small, 0},
		{"/?size=5000", small, -2},
		{"/?size=60000", tool.Limits{}, 0},
		{"/?size=70000", tool.Limits{}, -2},
	} {
		client := guard.Client(tt.limits)
		text, err := get(t.Context(), client, at+tt.path)
		switch {
		case tt.want == -1 && (parley.CodeOf(err) != parley.CodeTooLarge || len(text) > 8<<20):
			t.Errorf("%s: got %d bytes, %v", tt.path, len(text), err)
		case tt.want == -2 && (err == nil || !strings.Contains(err.Error(), "header")):
			t.Errorf("%s: got %v", tt.path, err)
		case tt.want >= 0 && (err != nil || len(text) != tt.want):
			t.Errorf("%s: got %d bytes, %v", tt.path, len(text), err)
		}
	}
	again := guard.Client(tool.Limits{})
	for range 2 {
		if _, err := get(t.Context(), again, at+"/?size=0"); err != nil || cookies.Load() != 0 {
			t.Errorf("a cookie was kept: %v", err)
		}
	}
	// A client that follows no redirects gives them back.
	bounce := mustSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) })
	if _, err := get(t.Context(), guard.Client(tool.Limits{Redirects: -1}), "http://127.0.0.1:"+strconv.Itoa(int(bounce.port))); err != nil || bounce.hits.Load() != 1 {
		t.Errorf("got %v after %d requests", err, bounce.hits.Load())
	}
	// One that keeps connections is told when to let go of them.
	keeping := guard.Client(tool.Limits{KeepAlive: true})
	if _, err := get(t.Context(), keeping, at+"/?size=0"); err != nil {
		t.Error(err)
	}
	keeping.CloseIdleConnections()
}

// TestTimeout has a server that never answers.
func TestTimeout(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 1)
	s := mustSite(t, "127.0.0.1", func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			arrived <- struct{}{}
		}
		<-r.Context().Done()
	})
	at := "http://127.0.0.1:" + strconv.Itoa(int(s.port))
	guard := tool.NewGuard(tool.GuardConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	_, err := get(t.Context(), guard.Client(tool.Limits{Timeout: 50 * time.Millisecond}), at)
	if e, ok := errors.AsType[*url.Error](err); !ok || !e.Timeout() {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		<-arrived
		cancel()
	})
	if _, err := get(ctx, guard.Client(tool.Limits{Timeout: -1}), at+"/wait"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
