package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/parley-run/parley"
)

// checkPath refuses paths that mean something else than they look like.
func checkPath(r *http.Request) error {
	path := r.URL.Path
	if r.Method == http.MethodConnect || path == "" || path[0] != '/' {
		return invalidf("the address of the request is not a path")
	}
	if strings.ContainsFunc(path, unicode.IsControl) || strings.Contains(path, `\`) {
		return invalidf("the path holds characters that no path has")
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(path[1:], "/"), "/") {
		if segment == "." || segment == ".." || segment == "" && path != "/" {
			return parley.Errorf(parley.CodeNotFound, "there is nothing at this address")
		}
	}
	return nil
}

// client gives the address a request comes from: that of the connection, or, if a
// trusted proxy has it, the one the proxy names.
func (c *call) client() netip.Addr {
	host, _, err := net.SplitHostPort(c.r.RemoteAddr)
	if err != nil {
		host = c.r.RemoteAddr
	}
	at, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	at = at.Unmap()
	forwarded := strings.Split(strings.Join(c.r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(forwarded) {
		if !c.trusted(at) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break
		}
		at = next.Unmap()
	}
	return at
}

func (c *call) trusted(at netip.Addr) bool {
	return slices.ContainsFunc(c.cfg.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(at) })
}

// clientKey is what bad credentials are counted by: an address, or the network of
// one that belongs to a single site.
func (c *call) clientKey() string {
	at := c.client()
	if at.Is6() {
		if p, err := at.Prefix(64); err == nil {
			return p.String()
		}
	}
	return at.String()
}

// secure reports whether the client's connection is encrypted, to here or to a
// trusted proxy.
func (c *call) secure() bool {
	if c.r.TLS != nil || strings.HasPrefix(c.origin, "https:") {
		return true
	}
	host, _, err := net.SplitHostPort(c.r.RemoteAddr)
	if err != nil {
		return false
	}
	at, err := netip.ParseAddr(host)
	return err == nil && c.trusted(at.Unmap()) && c.r.Header.Get("X-Forwarded-Proto") == "https"
}

// recorder notes what is written, for the log.
type recorder struct {
	http.ResponseWriter
	limit  time.Duration // for the client to take it
	status int
	bytes  int64
	begun  bool
}

func (r *recorder) WriteHeader(status int) {
	r.begin(status)
	r.ResponseWriter.WriteHeader(status)
}

// begin notes the status, and from when on the client has to take what is written.
func (r *recorder) begin(status int) {
	if !r.begun {
		r.status, r.begun = status, true
		r.deadline(r.limit)
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.begin(http.StatusOK)
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// deadline limits how long the client may take to accept what is written next.
func (r *recorder) deadline(d time.Duration) {
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(d)) // not every server can
}
