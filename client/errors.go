package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// RemoteError is the part of a server's answer that is in no [parley.Error]. It is
// in the chain of every error that a server answered with.
type RemoteError struct {
	// Status is that of the answer; 0: the error came on a stream.
	Status int
	// Request is the id under which the server's log has the request.
	Request string
	// Current is the session to go on in, if the one that was asked for is not its
	// key's current one any more.
	Current parley.SessionID
	// Outcome is what was decided, if an approval was answered before.
	Outcome parley.ApprovalState
	// Details are all that the server added, by name.
	Details map[string]json.RawMessage
}

// Error names the answer, for logs.
func (e *RemoteError) Error() string {
	text := "the server said so on a stream"
	if e.Status != 0 {
		text = fmt.Sprintf("HTTP status %d", e.Status)
	}
	if e.Request != "" {
		text += ", request " + e.Request
	}
	return text
}

// Current gives the session to go on in, if err says that another one was not its
// key's current one any more.
func Current(err error) (parley.SessionID, bool) {
	e, ok := errors.AsType[*RemoteError](err)
	if !ok || e.Current == "" {
		return "", false
	}
	return e.Current, true
}

// problem is what went wrong, as the server says it.
type problem struct {
	Code    parley.Code                `json:"code"`
	Message string                     `json:"message"`
	Details map[string]json.RawMessage `json:"details"`
}

// codes are what a status means if the server's code is one of a later version.
var codes = map[int]parley.Code{
	http.StatusBadRequest:            parley.CodeInvalid,
	http.StatusUnauthorized:          parley.CodeUnauthorized,
	http.StatusPaymentRequired:       parley.CodeBudgetExceeded,
	http.StatusForbidden:             parley.CodeForbidden,
	http.StatusNotFound:              parley.CodeNotFound,
	http.StatusMethodNotAllowed:      parley.CodeInvalid,
	http.StatusConflict:              parley.CodeConflict,
	http.StatusRequestEntityTooLarge: parley.CodeTooLarge,
	http.StatusTooManyRequests:       parley.CodeRateLimited,
	http.StatusInternalServerError:   parley.CodeInternal,
	http.StatusServiceUnavailable:    parley.CodeUnavailable,
}

// asError makes an error of what the server says is wrong.
func (p *problem) asError(remote *RemoteError) *parley.Error {
	remote.Details = p.Details
	// What is of another type is left out here, and is still among the details.
	_ = json.Unmarshal(p.Details["current"], &remote.Current)
	_ = json.Unmarshal(p.Details["outcome"], &remote.Outcome)
	code := p.Code
	if !slices.Contains(parley.Codes(), code) {
		code = parley.CodeInternal
		if c, ok := codes[remote.Status]; ok {
			code = c
		}
	}
	return &parley.Error{Code: code, Message: p.Message, Err: remote}
}

// failure reads the error of an answer; ok is false if it is none of a Parley
// server.
func failure(res *http.Response, body []byte) (*parley.Error, bool) {
	var got struct {
		Error *problem `json:"error"`
	}
	if !isMedia(res, "application/json") || !decodes(body, &got) || got.Error == nil || got.Error.Code == "" {
		return nil, false
	}
	err := got.Error.asError(&RemoteError{Status: res.StatusCode, Request: res.Header.Get("X-Request-Id")})
	err.RetryAfter = retryAfter(res.Header.Get("Retry-After"))
	return err, true
}

// decodes reports whether data is JSON that fits v, and fills v.
func decodes(data []byte, v any) bool { return json.Unmarshal(data, v) == nil }

// retryAfter reads a header that has seconds, or an instant.
func retryAfter(text string) time.Duration {
	const most = 24 * time.Hour
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, most)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), most)
	}
	return 0
}

// strange is for an answer that no Parley server gives.
func (c *Client) strange(res *http.Response) *parley.Error {
	where := c.base.Host
	if to := res.Header.Get("Location"); to != "" && res.StatusCode >= 300 && res.StatusCode < 400 {
		return parley.Errorf(parley.CodeUnavailable, "%s sends requests elsewhere (status %d), which is not followed; use the server's own URL", where, res.StatusCode)
	}
	return parley.Errorf(parley.CodeUnavailable, "%s did not answer as a Parley server does (status %d, %q); is the URL right, or a proxy in the way?",
		where, res.StatusCode, cut(res.Header.Get("Content-Type")))
}

// errSilent ends what stands still for too long.
var errSilent = errors.New("nothing came for too long")

// lost is for a request whose answer did not arrive, or, if it was not sent, never
// will.
func (c *Client) lost(ctx context.Context, err error, sent bool) *parley.Error {
	cause := err
	message := "the server at " + c.base.Host + " cannot be reached"
	switch why := context.Cause(ctx); {
	case why == nil:
		if sent {
			message = "the connection to " + c.base.Host + " was lost"
		}
	case errors.Is(why, errSilent):
		cause, message = why, "the connection to "+c.base.Host+" was lost"
	case errors.Is(why, errTimeout):
		cause, message = nil, fmt.Sprintf("the server at %s did not answer within %s", c.base.Host, c.cfg.Timeout)
	default:
		cause, message = why, "the request was given up"
	}
	return &parley.Error{Code: parley.CodeUnavailable, Message: message, Err: cause}
}

// unknownOutcome marks an error of a change that may have been made.
func unknownOutcome(e *parley.Error) *parley.Error {
	if errors.Is(e.Err, parley.ErrOutcomeUnknown) {
		return e
	}
	marked := *e
	marked.Err = parley.ErrOutcomeUnknown
	if e.Err != nil {
		marked.Err = fmt.Errorf("%w (%w)", e.Err, parley.ErrOutcomeUnknown)
	}
	return &marked
}

// cut shortens what is quoted in an error.
func cut(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
