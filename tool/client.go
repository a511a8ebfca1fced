package tool

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// Limits are those of a client. The zero value of each is its default; a negative
// one means that there is none, or in the case of redirects none is followed.
type Limits struct {
	Timeout   time.Duration // of a request with all its redirects and the whole answer; 0: 30 seconds
	MaxHeader int64         // bytes of an answer's header, which always has a limit; 0: 64 KiB
	MaxBody   int64         // bytes of an answer's body, after it was unpacked; 0: 8 MiB
	Redirects int           // 0: 5
	// KeepAlive lets connections be used again. Who sets it closes them at the
	// end, with CloseIdleConnections.
	KeepAlive bool
}

func (l Limits) withDefaults() Limits {
	if l.Timeout == 0 {
		l.Timeout = 30 * time.Second
	}
	if l.MaxHeader <= 0 {
		l.MaxHeader = 64 << 10
	}
	if l.MaxBody == 0 {
		l.MaxBody = 8 << 20
	}
	if l.Redirects == 0 {
		l.Redirects = 5
	}
	return l
}

// Client makes a client whose connections go through the guard. It uses no proxy
// and keeps no cookies, and speaks HTTP/1.1.
//
// Redirects are followed as far as the limits go, by http and https only, and
// not from https to http. One that leads to another host or port loses all
// headers that could identify the sender, for good, also when a later one leads
// back; and a body is not sent there. A body that is too large fails while it is read.
//
// What the guard refuses, and limits that are exceeded, are in the chain of the
// client's errors as a [parley.Error].
func (g *Guard) Client(limits Limits) *http.Client {
	limits = limits.withDefaults()
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	transport := &http.Transport{
		DialContext:            g.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: g.cfg.RootCAs},
		TLSHandshakeTimeout:    g.cfg.DialTimeout,
		DisableKeepAlives:      !limits.KeepAlive,
		MaxResponseHeaderBytes: limits.MaxHeader,
		Protocols:              &protocols,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    2,
	}
	return &http.Client{
		Transport:     &limited{next: transport, maxBody: limits.MaxBody},
		CheckRedirect: func(req *http.Request, via []*http.Request) error { return checkRedirect(req, via, limits.Redirects) },
		Timeout:       max(limits.Timeout, 0),
	}
}

// harmless are the headers that a redirect to another host keeps: what the answer
// should be like, and nothing about who asks.
var harmless = []string{"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Range", "User-Agent"}

func checkRedirect(req *http.Request, via []*http.Request, most int) error {
	switch from := via[len(via)-1].URL; {
	case most < 0:
		return http.ErrUseLastResponse
	case len(via) > most:
		return parley.Errorf(parley.CodeForbidden, "more than %d redirects; the last one leads to %s", most, shown(req.URL))
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return parley.Errorf(parley.CodeForbidden, "a redirect leads to an address with %s:, which is neither http nor https", req.URL.Scheme)
	case from.Scheme == "https" && req.URL.Scheme == "http":
		return parley.Errorf(parley.CodeForbidden, "a redirect leads from https to http, to %s; this is not followed", shown(req.URL))
	case req.URL.User != nil:
		return parley.Errorf(parley.CodeForbidden, "a redirect to %s has a user name in it; this is not followed", shown(req.URL))
	}
	// The address before may have something in it that is not for others.
	req.Header.Del("Referer")
	start := via[0].URL
	left := func(r *http.Request) bool { return !sameOrigin(start, r.URL) }
	if !left(req) && !slices.ContainsFunc(via, left) {
		return nil
	}
	if req.Body != nil && req.Body != http.NoBody {
		return parley.Errorf(parley.CodeForbidden, "a redirect would send the body to another host, to %s; this is not followed", shown(req.URL))
	}
	for name := range req.Header {
		if !slices.Contains(harmless, name) {
			delete(req.Header, name)
		}
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// shown is an address without what may be confidential.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).Redacted()
}

// limited is a transport whose bodies end with an error when they get too large.
type limited struct {
	next    *http.Transport
	maxBody int64
}

// RoundTrip sends a request.
func (l *limited) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if l.maxBody >= 0 && resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = &limitedBody{ReadCloser: resp.Body, left: l.maxBody, most: l.maxBody}
	}
	return resp, nil
}

// CloseIdleConnections is called by the client's method of that name.
func (l *limited) CloseIdleConnections() { l.next.CloseIdleConnections() }

type limitedBody struct {
	io.ReadCloser
	left, most int64
}

// Read gives at most as much as is left, and fails when there is more.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.tooLarge()
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more, to see whether there is more
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.tooLarge()
	}
	return n, err
}

func (b *limitedBody) tooLarge() error {
	return parley.Errorf(parley.CodeTooLarge, "the answer has more than %d bytes", b.most)
}
