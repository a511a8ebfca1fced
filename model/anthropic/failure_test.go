package anthropic_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/modelserver"
	"github.com/parley-run/parley/model/anthropic"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	says400 := func(text string) modelserver.Reply {
		return modelserver.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"` + text + `"}}`}
	}
	for name, c := range map[string]struct {
		reply modelserver.Reply
		code  parley.Code
		text  string
	}{
		"a bad request":    {says400("messages.0: no"), parley.CodeInvalid, "refused the request (status 400): messages.0: no"},
		"a long prompt":    {says400("prompt is too long: 250000 tokens > 200000 maximum"), parley.CodeTooLarge, "longer than the model takes: prompt is too long"},
		"no room":          {says400("input length and `max_tokens` exceed context limit: 1 + 2 > 2"), parley.CodeTooLarge, "longer"},
		"no credit":        {says400("Your credit balance is too low to access the Anthropic API."), parley.CodeUnauthorized, "add some"},
		"no payment":       {modelserver.Reply{Status: 402}, parley.CodeUnauthorized, "add some"},
		"a wrong key":      {modelserver.Reply{Status: 401}, parley.CodeUnauthorized, "refused the API key: set one"},
		"not allowed":      {modelserver.Reply{Status: 403}, parley.CodeUnauthorized, "refused the API key: set one"},
		"an unknown model": {modelserver.Reply{Status: 404}, parley.CodeInvalid, "model " + currentModel + " is not known"},
		"too large":        {modelserver.Reply{Status: 413}, parley.CodeTooLarge, "longer"},
		"unprocessable":    {modelserver.Reply{Status: 422}, parley.CodeInvalid, "status 422"},
		"slow":             {modelserver.Reply{Status: 408}, parley.CodeUnavailable, "status 408"},
		"a conflict":       {modelserver.Reply{Status: 409}, parley.CodeUnavailable, "status 409"},
		"too many":         {modelserver.Reply{Status: 429}, parley.CodeRateLimited, "no more requests"},
		"broken":           {modelserver.Reply{Status: 500}, parley.CodeUnavailable, "status 500"},
		"overloaded":       {modelserver.Reply{Status: 529}, parley.CodeUnavailable, "status 529"},
		"no content":       {modelserver.Reply{Status: 202}, parley.CodeUnavailable, "status 202"},
		"a page":           {modelserver.Reply{Status: 502, Body: "<html>" + strings.Repeat("Bad gateway ", 100)}, parley.CodeUnavailable, "status 502"},
		"a list":           {modelserver.Reply{Status: 500, Body: `[{"error":"x"}]`}, parley.CodeUnavailable, "status 500"},
		"elsewhere": {
			modelserver.Reply{Status: 307, Header: http.Header{"Location": {"/v1/messages"}}, Body: "-"},
			parley.CodeInvalid, "set the base URL",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.Anthropic(t, says(c.reply))
			a := collect(t, model(t, s, nil).Stream(t.Context(), hello()))
			if got := parley.CodeOf(a.err); got != c.code {
				t.Errorf("got %s, want %s", got, c.code)
			}
			if !strings.Contains(a.err.Error(), c.text) || strings.Contains(a.err.Error(), "html") {
				t.Errorf("got %v", a.err)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}

func TestErrorEvents(t *testing.T) {
	t.Parallel()
	for kind, code := range map[string]parley.Code{
		"overloaded_error": parley.CodeUnavailable, "api_error": parley.CodeUnavailable, "timeout_error": parley.CodeUnavailable,
		"rate_limit_error": parley.CodeRateLimited, "authentication_error": parley.CodeUnauthorized,
		"permission_error": parley.CodeUnauthorized, "billing_error": parley.CodeUnauthorized,
		"invalid_request_error": parley.CodeInvalid, "not_found_error": parley.CodeInvalid, "request_too_large": parley.CodeTooLarge,
		"never_heard_of": parley.CodeUnavailable,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := modelserver.Anthropic(t, says(modelserver.Reply{
				Text: []string{"a", "b"}, Fault: modelserver.AnthropicFaultError,
				Body: `{"type":"error","error":{"type":"` + kind + `","message":"so it is"}}`,
			}))
			a := collect(t, model(t, s, nil).Stream(t.Context(), hello()))
			if parley.CodeOf(a.err) != code || !strings.HasSuffix(a.err.Error(), "so it is") {
				t.Errorf("got %v", a.err)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    int
		header    http.Header
		low, high time.Duration
	}{
		"none":         {429, nil, 0, 0},
		"seconds":      {429, http.Header{"Retry-After": {"12"}}, 12 * time.Second, 12 * time.Second},
		"parts":        {429, http.Header{"Retry-After": {"0.5"}}, 500 * time.Millisecond, 500 * time.Millisecond},
		"milliseconds": {529, http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, 250 * time.Millisecond, 250 * time.Millisecond},
		"a date": {
			503,
			http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}},
			59 * time.Minute, time.Hour,
		},
		"the past":     {429, http.Header{"Retry-After": {"Mon, 02 Jan 2006 15:04:05 GMT"}}, 0, 0},
		"negative":     {429, http.Header{"Retry-After": {"-5"}}, 0, 0},
		"far too long": {429, http.Header{"Retry-After": {"1e300"}}, 7 * 24 * time.Hour, 7 * 24 * time.Hour},
		"no number":    {429, http.Header{"Retry-After": {"soon"}}, 0, 0},
		"a bad key":    {401, http.Header{"Retry-After": {"12"}}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.Anthropic(t, says(modelserver.Reply{Status: c.status, Header: c.header}))
			a := collect(t, model(t, s, nil).Stream(t.Context(), hello()))
			e, ok := errors.AsType[*parley.Error](a.err)
			if !ok || e.RetryAfter < c.low || e.RetryAfter > c.high {
				t.Errorf("got %v of %v", e.RetryAfter, a.err)
			}
		})
	}
}

// TestErrorsAreShort holds that a message is one line with at most 300 bytes of
// the vendor's.
func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, says(modelserver.Reply{
		Status: 400, Body: `{"error":{"message":"a\nb\u0000 ` + strings.Repeat("ü", 5000) + `"}}`,
	}))
	a := collect(t, model(t, s, nil).Stream(t.Context(), hello()))
	_, words, _ := strings.Cut(a.err.Error(), "(status 400): ")
	if !strings.HasPrefix(words, "a b ü") || !strings.HasSuffix(words, "ü…") || len(words) > 300+len("…") {
		t.Errorf("got %d bytes: %q", len(words), words)
	}
}

// TestKeyIsNotShown looks for the key in every error there is.
func TestKeyIsNotShown(t *testing.T) {
	t.Parallel()
	echo := `{"type":"error","error":{"type":"authentication_error","message":"no such key: ` + testKey + `"}}`
	replies := map[string]modelserver.Reply{
		"status": {Status: 401, Body: echo}, "forbidden": {Status: 403, Body: echo}, "request": {Status: 400, Body: echo},
		"page":  {Status: 500, Body: testKey},
		"event": {Text: []string{"a"}, Fault: modelserver.AnthropicFaultError, Body: echo},
		"bad":   {Text: []string{"a"}, Fault: modelserver.AnthropicFaultError, Body: testKey},
		"half":  {Text: []string{"a"}, Fault: modelserver.FaultHalf}, "cut": {Text: []string{"a"}, Fault: modelserver.FaultCut},
		"garbage": {Text: []string{"a"}, Fault: modelserver.FaultGarbage}, "json": {Text: []string{"a"}, Fault: modelserver.FaultBadJSON},
	}
	for name, reply := range replies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modelserver.Anthropic(t, says(reply))
			a := collect(t, model(t, s, nil).Stream(t.Context(), hello()))
			if a.err == nil || strings.Contains(a.err.Error(), testKey) {
				t.Errorf("got %v", a.err)
			}
			if got := s.Requests()[0].Header.Get("X-Api-Key"); got != testKey {
				t.Errorf("the server got the key %q", got)
			}
		})
	}
	t.Run("in a transport's error", func(t *testing.T) {
		t.Parallel()
		m := model(t, modelserver.Anthropic(t, nil), func(c *anthropic.Config) {
			c.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return nil, errors.New("no route with " + r.Header.Get("X-Api-Key"))
			})}
		})
		a := collect(t, m.Stream(t.Context(), hello()))
		if !strings.HasSuffix(a.err.Error(), "no route with [key]") {
			t.Errorf("got %v", a.err)
		}
	})
}

// TestKeyAtTheCut moves the key over the place where the vendor's words are cut.
func TestKeyAtTheCut(t *testing.T) {
	t.Parallel()
	pad := 0
	refuse := func(modelserver.Request) modelserver.Reply {
		text := strings.Repeat("x", pad) + " " + testKey
		return modelserver.Reply{Status: 400, Body: `{"error":{"type":"invalid_request_error","message":"` + text + `"}}`}
	}
	m := model(t, modelserver.Anthropic(t, refuse), nil)
	for pad = 270; pad < 305; pad++ {
		a := collect(t, m.Stream(t.Context(), hello()))
		if !strings.Contains(a.err.Error(), "xxx") || strings.Contains(a.err.Error(), testKey[:4]) {
			t.Errorf("%d bytes before it: %v", pad, a.err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestKeys(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, says(modelserver.Reply{Text: []string{"a"}}))
	with := func(key string, err error) func(*anthropic.Config) {
		return func(c *anthropic.Config) {
			c.KeyFunc = func(context.Context) (string, error) { return key, err }
		}
	}
	locked := errors.New("the keyring is locked")
	for name, c := range map[string]struct {
		key  string
		err  error
		want string
	}{
		"cannot be had": {"", locked, "cannot get the API key of anthropic: the keyring is locked"},
		"empty":         {" \n", nil, "is empty or not one word"},
		"two words":     {"a\r\nb", nil, "is empty or not one word"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := collect(t, model(t, s, with(c.key, c.err)).Stream(t.Context(), hello()))
			if parley.CodeOf(a.err) != parley.CodeUnauthorized || !strings.Contains(a.err.Error(), c.want) || !errors.Is(a.err, c.err) && c.err != nil {
				t.Errorf("got %v", a.err)
			}
		})
	}
	t.Run("with a line break", func(t *testing.T) {
		t.Parallel()
		ask(t, model(t, s, with(testKey+"\n", nil)), hello())
	})
	t.Run("not needed", func(t *testing.T) {
		t.Parallel()
		a := collect(t, model(t, s, func(c *anthropic.Config) { c.KeyFunc = nil }).Stream(t.Context(), hello()))
		if !strings.Contains(a.err.Error(), "x-api-key header is required") {
			t.Errorf("a key was sent, or something else is wrong: %v", a.err)
		}
	})
	t.Run("each time", func(t *testing.T) {
		t.Parallel()
		calls := 0
		m := model(t, s, func(c *anthropic.Config) {
			c.KeyFunc = func(context.Context) (string, error) { calls++; return testKey, nil }
		})
		pieces := m.Stream(t.Context(), hello())
		if calls != 0 {
			t.Error("the key was got before the request was wanted")
		}
		collect(t, pieces)
		collect(t, m.Stream(t.Context(), hello()))
		if calls != 2 {
			t.Errorf("the key was got %d times", calls)
		}
	})
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	s := modelserver.Anthropic(t, nil)
	m := model(t, s, nil)
	s.Close()
	a := collect(t, m.Stream(t.Context(), hello()))
	if parley.CodeOf(a.err) != parley.CodeUnavailable || !strings.Contains(a.err.Error(), "connection refused") || strings.Contains(a.err.Error(), "/v1/messages") {
		t.Errorf("got %v", a.err)
	}
}

// TestLongEvents holds that a server cannot fill the memory with an event, or
// with the body of an error, that does not end.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		piece  string
	}{
		"a line": {200, strings.Repeat("x", 1000)}, "an event": {200, "data: x\n"}, "an error": {500, strings.Repeat("x", 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := &endless{piece: c.piece}
			m := model(t, modelserver.Anthropic(t, nil), func(cfg *anthropic.Config) {
				cfg.HTTPClient = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: c.status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
				})}
			})
			a := collect(t, m.Stream(t.Context(), hello()))
			if parley.CodeOf(a.err) != parley.CodeUnavailable {
				t.Errorf("got %v", a.err)
			}
			if body.read > 4<<20 || !body.closed {
				t.Errorf("read %d bytes; closed: %t", body.read, body.closed)
			}
		})
	}
}

// endless is a body that repeats itself.
type endless struct {
	piece  string
	read   int
	closed bool
}

func (b *endless) Read(p []byte) (int, error) {
	if b.read > 64<<20 {
		return 0, io.EOF
	}
	n := copy(p, b.piece)
	b.read += n
	return n, nil
}

func (b *endless) Close() error { b.closed = true; return nil }
