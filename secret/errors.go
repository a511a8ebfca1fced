package secret

import (
	"github.com/parley-run/parley"
)

func invalid(format string, args ...any) error {
	return parley.Errorf(parley.CodeInvalid, format, args...)
}

func notFound(format string, args ...any) error {
	return parley.Errorf(parley.CodeNotFound, format, args...)
}

func tooLarge(format string, args ...any) error {
	return parley.Errorf(parley.CodeTooLarge, format, args...)
}

// gaveUp is for a context that ended, and for a source that failed.
func gaveUp(message string, cause error) error {
	return &parley.Error{Code: parley.CodeUnavailable, Message: message, Err: cause}
}
