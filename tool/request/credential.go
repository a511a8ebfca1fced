package request

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
)

// Credential is what identifies the agent at one host. It is sent over https, or
// to an address of this machine that the guard allows, and only as long as
// redirects stay at the host and port that the model has asked for.
type Credential struct {
	// Host is the one it is for, exactly: a name or an address, with a port if it
	// is not the usual one.
	Host string
	// Header is where it stands. "": Authorization.
	Header string
	// Format is the value of the header, with %s for the secret. "": Bearer %s in
	// Authorization, else the secret alone.
	Format string
	// ValueFunc gives the secret, for each request at the last moment. It must have
	// at least [secret.MinScrub] bytes, as a shorter one could not be taken out of
	// answers.
	ValueFunc func(ctx context.Context) (secret.Value, error)
}

// readCredentials gives the credentials by host and port.
func readCredentials(list []Credential) (map[string][]Credential, error) {
	known := map[string][]Credential{}
	for _, c := range list {
		at, err := url.Parse("https://" + c.Host)
		if err != nil || at.Hostname() == "" || at.Host != c.Host || at.User != nil || strings.ContainsAny(c.Host, "*/?#@ ") {
			return nil, invalid("a credential is for one host, such as api.example.org or api.example.org:8443, and not for %q", c.Host)
		}
		if c.ValueFunc == nil {
			return nil, invalid("the credential for %s has no value", c.Host)
		}
		if c.Header == "" {
			c.Header = "Authorization"
		}
		if !token(c.Header) {
			return nil, invalid("the credential for %s cannot be sent in a header called %q", c.Host, c.Header)
		}
		c.Header = http.CanonicalHeaderKey(c.Header)
		if c.Format == "" {
			if c.Format = "%s"; c.Header == "Authorization" {
				c.Format = "Bearer %s"
			}
		}
		if strings.Count(c.Format, "%s") != 1 || strings.Count(c.Format, "%") != 1 {
			return nil, invalid("the format of the credential for %s must have one %%s, where the secret goes", c.Host)
		}
		key := origin(at)
		for _, other := range known[key] {
			if other.Header == c.Header {
				return nil, invalid("there are two credentials for %s in the header %s", c.Host, c.Header)
			}
		}
		known[key] = append(known[key], c)
	}
	return known, nil
}

// origin is host and port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		if port = "443"; u.Scheme == "http" {
			port = "80"
		}
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// signer is a transport that adds credentials. The client above it never has them,
// so it cannot take them along to another host.
type signer struct {
	next     http.RoundTripper
	known    map[string][]Credential
	scrubber *secret.Scrubber
}

// RoundTrip sends a request, with the credentials of its host.
func (s *signer) RoundTrip(req *http.Request) (*http.Response, error) {
	list := s.known[origin(req.URL)]
	if len(list) == 0 || !confidential(req.URL) || !direct(req) {
		return s.next.RoundTrip(req)
	}
	signed, err := s.sign(req, list)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	resp, err := s.next.RoundTrip(signed)
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// sign gives a copy of a request that has credentials in it.
func (s *signer) sign(req *http.Request, list []Credential) (*http.Request, error) {
	signed := req.Clone(req.Context())
	for _, c := range list {
		if req.Header.Get(c.Header) != "" {
			return nil, parley.Errorf(parley.CodeForbidden, "the header %s is set by the configuration for %s; leave it out", c.Header, c.Host)
		}
		value, err := c.ValueFunc(req.Context())
		if err != nil {
			// The cause is about how this machine is set up.
			return nil, parley.Errorf(parley.CodeInternal, "the credential for %s is not available; whoever runs the agent has to see to it", c.Host)
		}
		s.scrubber.Add(value)
		text := value.Reveal()
		if len(text) < secret.MinScrub || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			return nil, parley.Errorf(parley.CodeInternal, "the credential for %s is too short or has odd characters in it; whoever runs the agent has to see to it", c.Host)
		}
		signed.Header.Set(c.Header, strings.Replace(c.Format, "%s", text, 1))
	}
	return signed, nil
}

// confidential reports whether nobody on the way can read what is sent.
func confidential(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.IsLoopback()
}

// direct reports whether all redirects that led to a request stayed where the
// first one went: another host must not make us ask in our name.
func direct(req *http.Request) bool {
	for r := req; r.Response != nil && r.Response.Request != nil; r = r.Response.Request {
		before := r.Response.Request.URL
		if before.Scheme != req.URL.Scheme || origin(before) != origin(req.URL) {
			return false
		}
	}
	return true
}
