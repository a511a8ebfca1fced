package anthropic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/parley-run/parley"
)

// maxMessage is how much of the vendor's words an error repeats.
const maxMessage = 300

// maxRetryAfter is the longest wait that is believed.
const maxRetryAfter = 7 * 24 * time.Hour

// garbage is an answer that makes no sense.
type garbage string

func (g garbage) Error() string { return string(g) }

// failure makes of what went wrong an error for people. Nothing of the SDK's or
// the network's own error types is in it, since those show addresses and bodies.
func (m *Model) failure(ctx context.Context, key string, err error) error {
	op := "ask " + m.info.Name
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("%s: %w", op, ended)
	}
	e := &parley.Error{Code: parley.CodeUnavailable, Op: op}
	var (
		own        *parley.Error
		refused    *refusedError
		inStream   *sdk.Error
		nonsense   garbage
		netTimeout net.Error
	)
	switch {
	case errors.As(err, &own):
		return err
	case errors.As(err, &refused):
		m.refusal(e, refused, key)
	case errors.As(err, &inStream):
		kind, message := vendorError(inStream.RawJSON())
		e.Code, e.Message = codeOfType(kind, message), m.config.Provider+" broke off the answer"+quoted(message, key)
	case errors.As(err, &nonsense):
		e.Message = "the answer of " + m.config.Provider + " " + string(nonsense)
	case errors.Is(err, errEvent):
		e.Message = "the answer of " + m.config.Provider + " makes no sense: an event is too long"
	case errors.As(err, &netTimeout) && netTimeout.Timeout():
		e.Message, e.Err = m.config.Provider+" did not answer in time", context.DeadlineExceeded
	default:
		e.Message = "the connection to " + m.config.Provider + " failed" + quoted(cause(err), key)
	}
	return e
}

// refusal fills in e for an answer with an error status.
func (m *Model) refusal(e *parley.Error, r *refusedError, key string) {
	said := quoted(r.message, key)
	provider := m.config.Provider
	switch {
	case r.status == http.StatusTooManyRequests:
		e.Code, e.Message = parley.CodeRateLimited, provider+" takes no more requests for the moment"+said
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		e.Code, e.Message = parley.CodeUnauthorized, provider+" refused the API key: set one that may use this model"+said
	case r.status == http.StatusPaymentRequired || unpaid(r.kind, r.message):
		e.Code, e.Message = parley.CodeUnauthorized, "the account at "+provider+" has no credit: add some there"+said
	case r.status == http.StatusNotFound:
		e.Code, e.Message = parley.CodeInvalid, fmt.Sprintf("model %s is not known to %s, or the base URL is wrong%s", m.config.Model, provider, said)
	case r.status == http.StatusRequestEntityTooLarge || tooLong(r.message):
		e.Code, e.Message = parley.CodeTooLarge, "the request is longer than the model takes"+said
	case r.status >= 300 && r.status < 400:
		e.Code, e.Message = parley.CodeInvalid, provider+" sends requests elsewhere: set the base URL to where it is"
	case r.status == http.StatusRequestTimeout || r.status == http.StatusConflict || r.status >= 500 || r.status < 300:
		e.Message = fmt.Sprintf("%s is not available (status %d)%s", provider, r.status, said)
	default:
		e.Code, e.Message = parley.CodeInvalid, fmt.Sprintf("%s refused the request (status %d)%s", provider, r.status, said)
	}
	if e.Code == parley.CodeRateLimited || e.Code == parley.CodeUnavailable {
		e.RetryAfter = retryAfter(r.header, time.Now())
	}
}

// codeOfType gives the code for an error in the middle of a stream, where there
// is no status.
func codeOfType(kind, message string) parley.Code {
	switch kind {
	case "rate_limit_error":
		return parley.CodeRateLimited
	case "authentication_error", "permission_error", "billing_error":
		return parley.CodeUnauthorized
	case "request_too_large":
		return parley.CodeTooLarge
	case "invalid_request_error", "not_found_error":
		switch {
		case tooLong(message):
			return parley.CodeTooLarge
		case unpaid(kind, message):
			return parley.CodeUnauthorized
		}
		return parley.CodeInvalid
	}
	return parley.CodeUnavailable
}

// tooLong recognises the refusals of requests that do not fit the model. The API
// has no type of error for them.
func tooLong(message string) bool {
	return strings.Contains(message, "prompt is too long") || strings.Contains(message, "exceed context limit") ||
		strings.Contains(message, "exceeds the context window")
}

func unpaid(kind, message string) bool {
	return kind == "billing_error" || strings.Contains(message, "credit balance is too low")
}

// retryAfter gives when trying again makes sense, if the header says so.
func retryAfter(h http.Header, now time.Time) time.Duration {
	after := func(text string, unit time.Duration) (time.Duration, bool) {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(n) {
			return 0, false
		}
		return time.Duration(min(max(n*float64(unit), 0), float64(maxRetryAfter))), true
	}
	if d, ok := after(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	if d, ok := after(h.Get("Retry-After"), time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// quoted gives foreign words for the end of a message: without the key, on one
// line, and not too many.
func quoted(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "[key]") // a part of it would not be found later
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	}), " ")
	if text == "" {
		return ""
	}
	if len(text) > maxMessage {
		cut := maxMessage
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return ": " + text
}

// cause gives the words of a network error without the address it was for.
func cause(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return err.Error()
}
