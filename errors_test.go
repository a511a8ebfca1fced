package parley_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/parley-run/parley"
)

// codes is every code with its sentinel.
var codes = []struct {
	code     parley.Code
	sentinel error
}{
	{parley.CodeInvalid, parley.ErrInvalid},
	{parley.CodeUnauthorized, parley.ErrUnauthorized},
	{parley.CodeForbidden, parley.ErrForbidden},
	{parley.CodeNotFound, parley.ErrNotFound},
	{parley.CodeConflict, parley.ErrConflict},
	{parley.CodeBusy, parley.ErrBusy},
	{parley.CodeTooLarge, parley.ErrTooLarge},
	{parley.CodeRateLimited, parley.ErrRateLimited},
	{parley.CodeBudgetExceeded, parley.ErrBudgetExceeded},
	{parley.CodeInternal, parley.ErrInternal},
	{parley.CodeUnavailable, parley.ErrUnavailable},
}

func TestCodesHasEveryCode(t *testing.T) {
	t.Parallel()
	var want []parley.Code
	for _, c := range codes {
		want = append(want, c.code)
	}
	if got := parley.Codes(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestErrorIsItsSentinel(t *testing.T) {
	t.Parallel()
	for _, c := range codes {
		t.Run(string(c.code), func(t *testing.T) {
			t.Parallel()
			plain := error(parley.Errorf(c.code, "no"))
			for name, err := range map[string]error{
				"plain":         plain,
				"wrapped":       fmt.Errorf("append events: %w", fmt.Errorf("commit: %w", plain)),
				"joined":        errors.Join(errors.New("first"), plain),
				"cause":         &parley.Error{Code: c.code, Err: context.Canceled},
				"sentinel":      c.sentinel,
				"sentinel deep": fmt.Errorf("look up: %w", c.sentinel),
			} {
				if !errors.Is(err, c.sentinel) {
					t.Errorf("%s: is not %v", name, c.sentinel)
				}
				if got := parley.CodeOf(err); got != c.code {
					t.Errorf("%s: has code %q", name, got)
				}
				for _, other := range codes {
					if other.code != c.code && errors.Is(err, other.sentinel) {
						t.Errorf("%s: is also %v", name, other.sentinel)
					}
				}
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk full")
	for _, test := range []struct {
		err  *parley.Error
		want string
	}{
		{&parley.Error{Code: parley.CodeBusy}, "busy"},
		{&parley.Error{Code: parley.CodeBusy, Message: "wait"}, "wait"},
		{&parley.Error{Code: parley.CodeUnavailable, Op: "commit", Message: "cannot write", Err: cause}, "commit: cannot write: disk full"},
		{&parley.Error{Code: parley.CodeUnavailable, Op: "commit", Err: cause}, "commit: unavailable: disk full"},
		{parley.Errorf(parley.CodeInvalid, "%d of %s", 2, "x"), "2 of x"},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	wrapped := fmt.Errorf("x: %w", &parley.Error{Code: parley.CodeUnavailable, Err: cause})
	if !errors.Is(wrapped, cause) {
		t.Error("the cause is lost")
	}
	if errors.Is(wrapped, parley.ErrOutcomeUnknown) {
		t.Error("every failure counts as unknown")
	}
}

func TestCodeOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		err  error
		want parley.Code
	}{
		{"none", nil, ""},
		{"foreign", context.DeadlineExceeded, parley.CodeInternal},
		{"outer wins", &parley.Error{Code: parley.CodeConflict, Err: parley.Errorf(parley.CodeNotFound, "x")}, parley.CodeConflict},
		{"outcome unknown", &parley.Error{Code: parley.CodeUnavailable, Err: parley.ErrOutcomeUnknown}, parley.CodeUnavailable},
		{"bare outcome unknown", parley.ErrOutcomeUnknown, parley.CodeInternal},
	} {
		if got := parley.CodeOf(test.err); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestErrorIsOnlySentinels(t *testing.T) {
	t.Parallel()
	a, b := parley.Errorf(parley.CodeBusy, "a"), parley.Errorf(parley.CodeBusy, "a")
	if errors.Is(a, b) {
		t.Error("two errors of one code count as the same")
	}
	if errors.Is(a, parley.ErrSuspended) || errors.Is(parley.ErrSuspended, parley.ErrOutcomeUnknown) {
		t.Error("sentinels without a code are mixed up")
	}
}
