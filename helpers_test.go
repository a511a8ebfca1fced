package parley_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// at is the instant of everything that needs one.
var at = time.Date(2026, 3, 1, 12, 30, 45, 123456000, time.UTC)

// wantCode fails unless err has the code, "" being none, and is fit to be shown
// to people.
func wantCode(t *testing.T, err error, code parley.Code) {
	t.Helper()
	if got := parley.CodeOf(err); got != code {
		t.Fatalf("got code %q (%v), want %q", got, err, code)
	}
	if err == nil {
		return
	}
	text := err.Error()
	if len(text) > 600 || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\n\r\x1b") {
		t.Errorf("the error is not fit to be shown: %d bytes, %.200q", len(text), text)
	}
	var e *parley.Error
	if errors.As(err, &e) && e.Message == "" {
		t.Errorf("the error does not say what is wrong: %v", err)
	}
}

// nested is JSON that is depth arrays deep.
func nested(depth int) []byte {
	return []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
}

// badID is an id that must be refused, and how.
type badID struct {
	name string
	id   string
	code parley.Code
}

// badNames cannot stand in anything that is shown on one line.
func badNames() []badID {
	return []badID{
		{"NUL", "a:b\x00c", parley.CodeInvalid},
		{"newline", "a:b\nc", parley.CodeInvalid},
		{"carriage return", "a:b\rc", parley.CodeInvalid},
		{"escape", "a:\x1b[31m", parley.CodeInvalid},
		{"newline among wide characters", "a:\n" + strings.Repeat("漢", 40), parley.CodeInvalid},
		{"delete", "a:b\x7f", parley.CodeInvalid},
		{"next line", "a:b\u0085c", parley.CodeInvalid},
		{"broken UTF-8", "a:b\xff", parley.CodeInvalid},
		{"half a rune", "a:\xe2\x82", parley.CodeInvalid},
		{"surrogate", "a:\xed\xa0\x80", parley.CodeInvalid},
		{"a megabyte", "a:" + strings.Repeat("x", 1<<20), parley.CodeTooLarge},
		{"a megabyte of NUL", strings.Repeat("\x00", 1<<20), parley.CodeTooLarge},
	}
}

// badIDs cannot name anything.
func badIDs() []badID {
	return append(badNames(),
		badID{"nothing", "", parley.CodeInvalid},
		badID{"space", "a:b c", parley.CodeInvalid},
		badID{"tab", "a:b\tc", parley.CodeInvalid},
		badID{"no-break space", "a:b\u00a0c", parley.CodeInvalid},
		badID{"line separator", "a:b\u2028c", parley.CodeInvalid},
		badID{"slash", "a:../../etc/passwd", parley.CodeInvalid},
		badID{"backslash", `a:..\..\x`, parley.CodeInvalid},
		badID{"a byte too long", "a:" + strings.Repeat("x", parley.MaxIDBytes-1), parley.CodeTooLarge},
	)
}
