package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/parley-run/parley"
)

// What is read of an answer at most: a page has up to a thousand messages.
const (
	maxAnswer  = 256 << 20
	maxProblem = 1 << 20
)

// errTimeout ends a request that takes too long.
var errTimeout = errors.New("the time limit of the request has passed")

// request is one thing to ask the server for.
type request struct {
	method string
	path   []string // below the server's URL, not escaped
	query  url.Values
	body   any // sent as JSON; nil: none
	// want is the name that the answer has for sure.
	want string
	// also is a status other than 200 to 299 that has the answer.
	also int
}

// at names a path below the server's URL, each part of it by itself.
func at(parts ...string) []string { return parts }

// call asks, and decodes the answer into out (nil: there is none to decode). It
// gives the status.
func (c *Client) call(ctx context.Context, r request, out any) (int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Timeout, errTimeout)
	defer cancel()
	req, err := c.request(ctx, r)
	if err != nil {
		return 0, err
	}
	res, err := c.send(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	good := res.StatusCode/100 == 2 || r.also != 0 && res.StatusCode == r.also
	data, e := c.read(ctx, res, good)
	if e != nil {
		return res.StatusCode, maybeDone(r.method, e)
	}
	if !good {
		return res.StatusCode, c.refusal(r.method, res, data)
	}
	if !isMedia(res, "application/json") || !has(data, r.want) || out != nil && !decodes(data, out) {
		return res.StatusCode, maybeDone(r.method, c.strange(res))
	}
	return res.StatusCode, nil
}

// has reports whether data is an object with a name: what another server says in
// JSON is not taken for an answer that happens to be empty.
func has(data []byte, name string) bool {
	var fields map[string]json.RawMessage
	return decodes(data, &fields) && fields[name] != nil
}

// request makes a request with its token.
func (c *Client) request(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return nil, &parley.Error{Code: parley.CodeInvalid, Message: "the request cannot be encoded", Err: err}
		}
		body = bytes.NewReader(data)
	}
	req, err := c.bare(ctx, r, body)
	if err == nil && r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

// bare makes a request with a body that is sent as it is.
func (c *Client) bare(ctx context.Context, r request, body io.Reader) (*http.Request, error) {
	var escaped strings.Builder
	escaped.WriteString(c.base.EscapedPath())
	for _, part := range r.path {
		if part == "" || part == "." || part == ".." {
			return nil, invalidf("%q is not a name", part)
		}
		escaped.WriteString("/" + url.PathEscape(part))
	}
	u := *c.base
	path, err := url.PathUnescape(escaped.String())
	if err != nil {
		return nil, invalidf("the path of the request cannot be written")
	}
	u.Path, u.RawPath, u.RawQuery = path, escaped.String(), r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeInvalid, Message: "the request cannot be made", Err: err}
	}
	req.Header.Set("User-Agent", c.cfg.UserAgent)
	token := c.cfg.Token
	if c.cfg.TokenFunc != nil {
		if token, err = c.cfg.TokenFunc(ctx); err != nil {
			return nil, &parley.Error{Code: parley.CodeUnauthorized, Message: "there is no token to send", Err: err}
		}
		token = strings.TrimSpace(token)
	}
	if token != "" {
		if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, parley.Errorf(parley.CodeUnauthorized, "the token holds characters that no token has")
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, nil
}

// send sends a request and gives the answer, whatever its status is.
func (c *Client) send(req *http.Request) (*http.Response, error) {
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
	res, err := c.http.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err == nil {
		return res, nil
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // the message names the server
	}
	e := c.lost(req.Context(), err, sent.Load())
	if !sent.Load() {
		return nil, e
	}
	return nil, maybeDone(req.Method, e)
}

// read reads the body of an answer, within limits.
func (c *Client) read(ctx context.Context, res *http.Response, good bool) ([]byte, *parley.Error) {
	limit := int64(maxProblem)
	if good {
		limit = c.maxAnswer
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, c.lost(ctx, err, true)
	}
	if int64(len(data)) > limit {
		if !good {
			return nil, c.strange(res)
		}
		return nil, parley.Errorf(parley.CodeTooLarge, "the answer is larger than %d bytes; ask for less at once", limit)
	}
	return data, nil
}

// refusal makes an error of an answer that has none of the good statuses.
func (c *Client) refusal(method string, res *http.Response, body []byte) error {
	if e, ok := failure(res, body); ok {
		return e
	}
	return maybeDone(method, c.strange(res))
}

// maybeDone marks the error of a request that may have changed something.
func maybeDone(method string, e *parley.Error) error {
	if method == http.MethodGet || method == http.MethodHead {
		return e
	}
	return unknownOutcome(e)
}

// isMedia reports whether an answer says that it is of a media type.
func isMedia(res *http.Response, want string) bool {
	got, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err == nil && got == want
}
