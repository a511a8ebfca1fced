package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/openai/openai-go/v3/option"

	"github.com/parley-run/parley"
)

const (
	maxVendorText = 300      // bytes of a vendor's message in an error
	maxErrorBody  = 64 << 10 // bytes that are read of an error
)

// failures makes the errors of one request. None of them holds the key, and none
// has a cause that could.
type failures struct {
	model *Model
	key   string
}

// check stands between the SDK and the connection: it makes errors of answers
// that are some, before the SDK reads them to the end, and bounds the others.
func (f failures) check(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		defer func() { _ = res.Body.Close() }()                       // it was only read
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what there is of it has to do
		return nil, f.refused(res.StatusCode, readVendor(body), retryAfter(res.Header))
	}
	res.Body = &boundedBody{ReadCloser: res.Body}
	return res, nil
}

// sent gives the error of a request that brought no answer.
func (f failures) sent(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return f.ended(ctx.Err())
	}
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e
	}
	return f.errorf(parley.CodeUnavailable, f.reason(err), "%s cannot be reached", f.model.info.Name)
}

// ended gives the error of a context that has ended.
func (f failures) ended(err error) error {
	return fmt.Errorf("ask %s: %w", f.model.info.Name, err)
}

// broken gives the error of a stream that ended before the answer did.
func (f failures) broken(err error, started bool) error {
	switch {
	case errors.Is(err, errTooLong):
		return f.nonsense("it is longer than any answer")
	case err != nil:
		return f.errorf(parley.CodeUnavailable, f.reason(err), "the answer of %s broke off", f.model.info.Name)
	case started:
		return f.errorf(parley.CodeUnavailable, "", "the answer of %s broke off", f.model.info.Name)
	}
	return f.errorf(parley.CodeUnavailable, "", "%s did not answer with a stream of events; if that stays so, look at the base URL", f.model.info.Name)
}

// nonsense gives the error of an answer that nobody can make sense of.
func (f failures) nonsense(problem string) error {
	return f.errorf(parley.CodeUnavailable, problem, "the answer of %s makes no sense", f.model.info.Name)
}

// inStream gives the error that a server sent in the middle of an answer.
func (f failures) inStream(raw []byte) error {
	v := readVendor([]byte(`{"error":` + string(raw) + `}`))
	return f.refused(v.status, v, 0)
}

// refused gives the error for what the server said, by its status, or by its
// words if that is 0.
func (f failures) refused(status int, v vendorError, after time.Duration) *parley.Error {
	name, provider := f.model.info.Name, f.model.cfg.Provider
	switch {
	case v.broke() || status == http.StatusPaymentRequired:
		return f.errorf(parley.CodeUnauthorized, v.message, "the account at %s has no credit left; look at its plan and billing", provider)
	case status == http.StatusUnauthorized || status == 0 && v.has("authentication", "invalid_api_key"):
		// What servers say here may hold parts of the key.
		return f.errorf(parley.CodeUnauthorized, "", "%s refused the API key; set one that is valid", provider)
	case status == http.StatusForbidden:
		return f.errorf(parley.CodeUnauthorized, v.message, "%s does not let this API key ask %s; set one that may, or look at the account", provider, name)
	case status == http.StatusRequestEntityTooLarge || v.tooLong():
		return f.errorf(parley.CodeTooLarge, v.message, "the request is longer than %s takes", name)
	case status == http.StatusTooManyRequests || status == 0 && v.has("rate_limit"):
		e := f.errorf(parley.CodeRateLimited, v.message, "%s takes no more requests for the moment", name)
		e.RetryAfter = after
		return e
	case v.elsewhere():
		return f.errorf(parley.CodeInvalid, v.message, "%s cannot be asked in this way over the Chat Completions API; choose another model", name)
	case status == http.StatusNotFound:
		return f.errorf(parley.CodeInvalid, v.message, "model %q is not known at %s; look at its name and the base URL", f.model.cfg.Model, f.model.cfg.BaseURL)
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= http.StatusInternalServerError:
		e := f.errorf(parley.CodeUnavailable, v.message, "%s is not available (status %d)", name, status)
		e.RetryAfter = after
		return e
	case status >= http.StatusBadRequest || status == 0 && v.has("invalid_request"):
		return f.errorf(parley.CodeInvalid, v.message, "%s refused the request", name)
	case status >= http.StatusMultipleChoices:
		return f.errorf(parley.CodeInvalid, "", "%s answered with status %d; look at the base URL", name, status)
	}
	return f.errorf(parley.CodeUnavailable, v.message, "the answer of %s broke off", name)
}

// errorf makes an error, with what others said about it.
func (f failures) errorf(code parley.Code, detail, format string, args ...any) *parley.Error {
	text := fmt.Sprintf(format, args...)
	if detail = f.clean(detail); detail != "" {
		text += ": " + detail
	}
	return &parley.Error{Code: code, Message: text}
}

// reason gives the text of an error of the network, without the URL.
func (f failures) reason(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return err.Error()
}

// clean makes one short line of what others said, without the key.
func (f failures) clean(text string) string {
	const shortest = 4 // a key that is shorter is no secret
	if len(f.key) >= shortest {
		text = strings.ReplaceAll(text, f.key, "[key]")
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(text) <= maxVendorText {
		return text
	}
	end := maxVendorText - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
