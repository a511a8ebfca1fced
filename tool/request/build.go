package request

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley"
)

// request makes a request of the arguments of a call.
func (t *Tool) request(ctx context.Context, args arguments) (*http.Request, error) {
	at, err := address(args.URL)
	if err != nil {
		return nil, err
	}
	header, err := t.headers(args.Headers)
	if err != nil {
		return nil, err
	}
	if args.Method == "" {
		args.Method = http.MethodGet
	}
	var body *strings.Reader
	if args.Body != nil {
		if len(*args.Body) > maxRequest {
			return nil, invalid("the body has %d bytes; at most %d are allowed", len(*args.Body), maxRequest)
		}
		body = strings.NewReader(*args.Body)
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "text/plain; charset=utf-8")
			if json.Valid([]byte(*args.Body)) {
				header.Set("Content-Type", "application/json")
			}
		}
	}
	var req *http.Request
	if body == nil {
		req, err = http.NewRequestWithContext(ctx, args.Method, at.String(), http.NoBody)
	} else {
		req, err = http.NewRequestWithContext(ctx, args.Method, at.String(), body)
	}
	if err != nil {
		return nil, invalid("the request cannot be made: %v", err)
	}
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", t.cfg.UserAgent)
	}
	req.Header = header
	return req, nil
}

func invalid(format string, args ...any) error {
	return parley.Errorf(parley.CodeInvalid, format, args...)
}

// address reads an address. What it leads to is the guard's business; here is what
// must not be sent at all.
func address(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, invalid("the url has %d bytes; at most %d are allowed", len(text), maxURL)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, invalid("the url cannot be read; it looks like https://example.org/path?query")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, invalid("the url must start with http:// or https://")
	case u.User != nil:
		return nil, invalid("the url has a user name or a password in it; send them as a header, if at all")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, invalid("the url has no host; it looks like https://example.org/path?query")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// reserved are the headers that the client sets itself, and those that are about
// the connection: with them a request could be made to look like two.
var reserved = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Via",
}

// headers reads the headers of a call.
func (t *Tool) headers(given map[string]string) (http.Header, error) {
	header, size := http.Header{}, 0
	for name, value := range given {
		size += len(name) + len(value)
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !token(name):
			name = t.cfg.Scrubber.Text(name)
			return nil, invalid("%s cannot be the name of a header", strconv.QuoteToASCII(name[:min(len(name), 64)]))
		case slices.Contains(reserved, canonical) || strings.HasPrefix(canonical, "Proxy-"):
			return nil, invalid("the header %s is set by the client itself; leave it out", canonical)
		case header[canonical] != nil:
			return nil, invalid("the header %s is there twice", canonical)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return nil, invalid("the header %s has a line break or another control character in it", canonical)
		}
		header.Set(canonical, value)
	}
	if size > maxHeaders {
		return nil, invalid("the headers have %d bytes; at most %d are allowed", size, maxHeaders)
	}
	return header, nil
}

// token reports whether a text can be the name of a header.
func token(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
