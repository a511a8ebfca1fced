package client

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// Config is how a [Client] works. A zero field is its default.
type Config struct {
	// URL is where the server is, such as http://127.0.0.1:7788; a path is the
	// prefix that it is mounted under. It is required.
	URL string
	// Token goes with every request; empty: none does.
	Token string
	// TokenFunc gives the token of each request, in place of Token, for tokens
	// that change.
	TokenFunc func(ctx context.Context) (string, error)
	// Insecure lets the token go to another machine without encryption.
	Insecure bool
	// HTTP is what requests are made with; nil: a client of its own. Its Timeout
	// and CheckRedirect are not used.
	HTTP *http.Client
	// UserAgent is what the program calls itself. Empty: parley-client
	UserAgent string
	// Channel is whose accounts the senders of inputs are, for the credentials of
	// channels.
	Channel string

	// Timeout is for a whole request. 0: 30 seconds. Blobs and streams may take as
	// long as they want, but not stop for so long as Silence.
	Timeout time.Duration
	// Silence is how long a stream or a blob may stand still; a server that is
	// there shows a sign of life every 15 seconds. 0: 1 minute
	Silence time.Duration
	// Tries is how often a message is sent until its answer arrives. 0: 5
	Tries int
	// Pause is how long to wait before the first repetition; each further one waits
	// twice as long, up to MaxPause, and all of them up to half as long, by chance.
	// 0: 250 milliseconds, and 15 seconds
	Pause, MaxPause time.Duration

	// ReconnectFunc is told that the connection of a stream is lost: with the
	// error, and how many attempts have failed in a row. When it is back it is told
	// so with nil and the number of attempts it took. It is called in the goroutine
	// that reads the stream.
	ReconnectFunc func(err error, attempt int)
}

// Client talks to a server. Its methods may be called by many goroutines.
type Client struct {
	cfg  Config
	base *url.URL
	http *http.Client
	// What is read at most: of an answer, and of an event on a stream.
	maxAnswer int64
	maxEvent  int
}

var _ parley.Client = (*Client)(nil)

// Origin is the origin of inputs that are known by their ids alone.
const Origin = "server"

// New makes a client; it does not connect. A configuration that cannot work, or
// that would send a token over a network in the clear, is [parley.CodeInvalid].
func New(cfg Config) (*Client, error) {
	base, err := parseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	cfg.Token = strings.TrimSpace(cfg.Token) // it comes from files
	if cfg.Token != "" && cfg.TokenFunc != nil {
		return nil, invalidf("give a token or a function for it, not both")
	}
	if (cfg.Token != "" || cfg.TokenFunc != nil) && base.Scheme == "http" && !loopback(base.Hostname()) && !cfg.Insecure {
		return nil, invalidf("a token must not go to %s without encryption; use https", base.Host)
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Transport: newTransport()}
	}
	own := *cfg.HTTP
	own.Timeout = 0 // it would end streams
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	cfg.UserAgent = cmp.Or(cfg.UserAgent, "parley-client")
	cfg.Timeout = cmp.Or(max(cfg.Timeout, 0), 30*time.Second)
	cfg.Silence = cmp.Or(max(cfg.Silence, 0), time.Minute)
	cfg.Tries = cmp.Or(max(cfg.Tries, 0), 5)
	cfg.Pause = cmp.Or(max(cfg.Pause, 0), 250*time.Millisecond)
	cfg.MaxPause = max(cmp.Or(max(cfg.MaxPause, 0), 15*time.Second), cfg.Pause)
	return &Client{cfg: cfg, base: base, http: &own, maxAnswer: maxAnswer, maxEvent: maxEvent}, nil
}

// Close ends connections that nobody uses. Requests under way go on, and the
// client can be used afterwards.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// URL gives the address of the server.
func (c *Client) URL() string { return c.base.String() }

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

func parseURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, invalidf("the client needs the server's URL, such as http://127.0.0.1:7788")
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, invalidf("the server's URL must be one such as https://parley.example")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, invalidf("the server's URL must not hold a user, a query or a fragment")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	at, err := netip.ParseAddr(host)
	return err == nil && at.Unmap().IsLoopback()
}

func invalidf(format string, args ...any) error {
	return parley.Errorf(parley.CodeInvalid, format, args...)
}
