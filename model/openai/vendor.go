package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// vendorError is an error in the words of a server.
type vendorError struct {
	message, kind, code string
	status              int // if the code is one
}

// readVendor reads the body of an error. OpenAI has an object under "error";
// others have a text there, or the fields at the top, or a list around them.
func readVendor(raw []byte) vendorError {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	var outer struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(raw, &outer) != nil {
		return vendorError{}
	}
	for _, field := range []json.RawMessage{outer.Error, outer.Detail} {
		var text string
		if !empty(field) && json.Unmarshal(field, &text) == nil {
			return vendorError{message: text}
		}
	}
	if !empty(outer.Error) {
		raw = outer.Error
	}
	var inner struct {
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(raw, &inner) != nil {
		return vendorError{}
	}
	v := vendorError{message: plain(inner.Message), kind: plain(inner.Type), code: plain(inner.Code)}
	if v.code == "" && !empty(inner.Code) {
		v.code = string(inner.Code)
	}
	if n, err := strconv.Atoi(v.code); err == nil && n >= http.StatusBadRequest && n < 600 {
		v.status = n
	}
	return v
}

// has reports whether the error's type or code holds one of the words.
func (v vendorError) has(words ...string) bool {
	for _, word := range words {
		if strings.Contains(v.kind, word) || strings.Contains(v.code, word) {
			return true
		}
	}
	return false
}

// says reports whether the message holds one of the phrases.
func (v vendorError) says(phrases ...string) bool {
	text := strings.ToLower(v.message)
	for _, phrase := range phrases {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// broke reports whether the account cannot pay.
func (v vendorError) broke() bool {
	return v.has("insufficient_quota", "billing_hard_limit", "billing_not_active", "insufficient_balance")
}

// tooLong reports whether the request is longer than the model takes. Servers
// agree on no code for it. OpenAI says it as a limit of the rate if the request
// alone exceeds that: no waiting helps then either.
func (v vendorError) tooLong() bool {
	return v.has("context_length_exceeded", "exceed_context_size", "string_above_max_length", "request_too_large") ||
		v.says("maximum context length", "context length exceeded", "exceeds the context", "context window", "context size",
			"prompt is too long", "input is too long", "request too large")
}

// elsewhere reports whether OpenAI has the model, or what was asked of it, only
// over another of its APIs.
func (v vendorError) elsewhere() bool {
	return v.says("v1/responses", "not a chat model", "v1/completions")
}

// retryAfter gives how long to wait, if the server said it.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return wait(ms / 1000)
	}
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		return wait(seconds)
	}
	if at, err := http.ParseTime(text); err == nil {
		// By the server's own clock, if it tells: ours may be another.
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return wait(at.Sub(now).Seconds())
	}
	var longest time.Duration
	for _, kind := range []string{"Requests", "Tokens"} {
		reset, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + kind))
		if left := h.Get("X-Ratelimit-Remaining-" + kind); err == nil && (left == "" || left == "0") {
			longest = max(longest, wait(reset.Seconds()))
		}
	}
	return longest
}

// wait gives a number of seconds that makes sense: not negative, and a day at
// most.
func wait(seconds float64) time.Duration {
	const day = 24 * 60 * 60
	return time.Duration(max(0, min(seconds, day)) * float64(time.Second))
}

const (
	maxEvent  = 4 << 20   // bytes of one event
	maxAnswer = 256 << 20 // bytes of all events of an answer
)

// errTooLong is what reading more than the limits gives.
var errTooLong = errors.New("too long")

// boundedBody is a body whose events, and all of them together, are not longer
// than the limits.
type boundedBody struct {
	io.ReadCloser
	event, total int
	filled       bool // the current line has something in it
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.total += n
	for _, c := range p[:n] {
		b.event++
		switch {
		case c == '\n' && !b.filled:
			b.event = 0
		case c == '\n':
			b.filled = false
		case c != '\r':
			b.filled = true
		}
		if b.event > maxEvent {
			return 0, errTooLong
		}
	}
	if b.total > maxAnswer {
		return 0, errTooLong
	}
	return n, err
}
