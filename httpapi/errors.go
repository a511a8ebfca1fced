package httpapi

import (
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/parley-run/parley"
)

// statuses is the status of each code.
var statuses = map[parley.Code]int{
	parley.CodeInvalid:        http.StatusBadRequest,
	parley.CodeUnauthorized:   http.StatusUnauthorized,
	parley.CodeForbidden:      http.StatusForbidden,
	parley.CodeNotFound:       http.StatusNotFound,
	parley.CodeConflict:       http.StatusConflict,
	parley.CodeBusy:           http.StatusConflict,
	parley.CodeTooLarge:       http.StatusRequestEntityTooLarge,
	parley.CodeRateLimited:    http.StatusTooManyRequests,
	parley.CodeBudgetExceeded: http.StatusPaymentRequired,
	parley.CodeInternal:       http.StatusInternalServerError,
	parley.CodeUnavailable:    http.StatusServiceUnavailable,
}

// errorBody is the body of every answer that is an error.
type errorBody struct {
	Error problem `json:"error"`
}

// problem is what went wrong, for programs and for people.
type problem struct {
	Code    parley.Code    `json:"code" jsonschema:"what kind of error it is"`
	Message string         `json:"message" jsonschema:"what is wrong and what to do, for people"`
	Details map[string]any `json:"details,omitempty" jsonschema:"what a program needs to go on"`
}

// detailedError carries details to the client.
type detailedError struct {
	err     error
	details map[string]any
}

func (e *detailedError) Error() string { return e.err.Error() }
func (e *detailedError) Unwrap() error { return e.err }

// problemOf gives what the client is shown of an error, and its status. What went
// wrong inside is not shown.
func problemOf(err error) (problem, int) {
	p := problem{Code: parley.CodeOf(err)}
	status, known := statuses[p.Code]
	if !known {
		p.Code, status = parley.CodeInternal, http.StatusInternalServerError
	}
	if e, ok := errors.AsType[*parley.Error](err); ok {
		p.Message = e.Message
	}
	switch {
	case p.Code == parley.CodeInternal:
		p.Message = "something went wrong here; the log has more under the request id"
	case p.Message == "":
		p.Message = messages[p.Code]
	}
	if d, ok := errors.AsType[*detailedError](err); ok {
		p.Details = d.details
	} else if e, ok := errors.AsType[*parley.ExpectError](err); ok {
		p.Details = actual(e)
	}
	return p, status
}

// messages are for errors that come without one.
var messages = map[parley.Code]string{
	parley.CodeInvalid:        "the request is not valid",
	parley.CodeUnauthorized:   "sign in, or send a valid token",
	parley.CodeForbidden:      "this is not allowed",
	parley.CodeNotFound:       "there is no such thing",
	parley.CodeConflict:       "it was changed meanwhile; read it again",
	parley.CodeBusy:           "it is busy; try again later",
	parley.CodeTooLarge:       "the request is too large",
	parley.CodeRateLimited:    "too many requests; try again later",
	parley.CodeBudgetExceeded: "the budget is used up",
	parley.CodeUnavailable:    "this cannot be done at the moment; try again",
}

// actual says how something is that was expected otherwise, where a client can go
// on from that.
func actual(e *parley.ExpectError) map[string]any {
	switch e.Expect.(type) {
	case parley.KeyIs:
		return map[string]any{"current": e.Actual}
	case parley.ApprovalIs:
		return map[string]any{"outcome": e.Actual}
	}
	return nil
}

// fail answers with an error, and logs what went wrong inside.
func (c *call) fail(err error) {
	if c.w.begun && c.took {
		c.log.Warn("an answer was cut short", "request", c.id, "error", err)
		return
	}
	p, status := problemOf(err)
	if p.Code == parley.CodeInternal {
		c.log.Error("a request failed", "request", c.id, "route", c.pattern, "error", err)
	}
	c.retryAfter(err, p.Code)
	if p.Code == parley.CodeUnauthorized {
		c.w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if c.refused != 0 {
		status = c.refused
	}
	c.w.Header().Del("ETag")
	c.write(status, errorBody{Error: p})
}

// retryAfter says when to come back, where that is known.
func (c *call) retryAfter(err error, code parley.Code) {
	if e, ok := errors.AsType[*parley.Error](err); ok && e.RetryAfter > 0 {
		c.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	} else if code == parley.CodeRateLimited {
		c.w.Header().Set("Retry-After", "1")
	}
}

func invalidf(format string, args ...any) error {
	return parley.Errorf(parley.CodeInvalid, format, args...)
}
