package parley

import (
	"errors"
	"fmt"
	"time"
)

// Code says what kind of failure an [Error] is. The codes are the ones clients
// see.
type Code string

// The codes.
const (
	CodeInvalid        Code = "invalid"
	CodeUnauthorized   Code = "unauthorized"
	CodeForbidden      Code = "forbidden"
	CodeNotFound       Code = "not_found"
	CodeConflict       Code = "conflict"
	CodeBusy           Code = "busy"
	CodeTooLarge       Code = "too_large"
	CodeRateLimited    Code = "rate_limited"
	CodeBudgetExceeded Code = "budget_exceeded"
	CodeInternal       Code = "internal"
	CodeUnavailable    Code = "unavailable"
)

// Codes gives every code.
func Codes() []Code {
	return []Code{
		CodeInvalid, CodeUnauthorized, CodeForbidden, CodeNotFound, CodeConflict, CodeBusy,
		CodeTooLarge, CodeRateLimited, CodeBudgetExceeded, CodeInternal, CodeUnavailable,
	}
}

// Error is the error type of Parley. Message is written for the person who has
// to act on it: what is wrong and, where that is not obvious, what to do. It
// never holds a secret. Op names the operation for logs and is not shown to
// clients.
type Error struct {
	Code    Code
	Op      string
	Message string
	Err     error
	// RetryAfter is when trying again makes sense, if that is known.
	RetryAfter time.Duration
}

// Error gives the operation, the message and the cause.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = string(e.Code)
	}
	if e.Op != "" {
		text = e.Op + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the sentinel of e's code.
func (e *Error) Is(target error) bool {
	s, ok := target.(sentinel)
	return ok && Code(s) == e.Code
}

// sentinel is a code as an error, for [errors.Is].
type sentinel Code

func (s sentinel) Error() string { return string(s) }

// One sentinel per code: errors.Is(err, parley.ErrConflict) holds for every
// [Error] with that code, however deeply wrapped.
var (
	ErrInvalid        error = sentinel(CodeInvalid)
	ErrUnauthorized   error = sentinel(CodeUnauthorized)
	ErrForbidden      error = sentinel(CodeForbidden)
	ErrNotFound       error = sentinel(CodeNotFound)
	ErrConflict       error = sentinel(CodeConflict)
	ErrBusy           error = sentinel(CodeBusy)
	ErrTooLarge       error = sentinel(CodeTooLarge)
	ErrRateLimited    error = sentinel(CodeRateLimited)
	ErrBudgetExceeded error = sentinel(CodeBudgetExceeded)
	ErrInternal       error = sentinel(CodeInternal)
	ErrUnavailable    error = sentinel(CodeUnavailable)
)

// ErrOutcomeUnknown is in the chain of a failed [Store.Commit] whose batch may
// or may not have been written. Repeat it with the same input id, or read what
// is there.
var ErrOutcomeUnknown = errors.New("outcome unknown: the change may or may not have been written")

// ErrSuspended is what [Runner.Run] returns when the turn has to wait (for an
// approval, an outage, a restart). It is later run again from the top.
var ErrSuspended = errors.New("turn suspended")

// CodeOf gives the code of the first [Error] in err's chain, else of the first
// sentinel, or [CodeInternal] if there is neither, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if s, ok := errors.AsType[sentinel](err); ok {
		return Code(s)
	}
	return CodeInternal
}

// Errorf makes an [Error] with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalidf(format string, args ...any) error  { return Errorf(CodeInvalid, format, args...) }
func tooLargef(format string, args ...any) error { return Errorf(CodeTooLarge, format, args...) }
