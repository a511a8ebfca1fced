package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/disk"
)

// translate turns an error of the driver into one of the domain. Errors of the
// domain pass.
func translate(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	e := &parley.Error{Code: parley.CodeInternal, Op: op, Err: err}
	var code sqlite3.ErrorCode
	var extended sqlite3.ExtendedErrorCode
	_, _ = errors.As(err, &code), errors.As(err, &extended)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Code, e.Message = parley.CodeUnavailable, "gave up waiting for the store"
	case isFull(err):
		e.Code, e.Message = parley.CodeUnavailable, diskFull
		if op == opOpen {
			e.Message = diskFullAtStart
		}
	case extended == sqlite3.IOERR_SHMSIZE:
		e.Code, e.Message = parley.CodeUnavailable, "the index of the store's write-ahead log cannot grow; free some space if the disk is full, and look whether the file may be written"
	case code == sqlite3.CANTOPEN, code == sqlite3.READONLY:
		e.Code, e.Message = parley.CodeUnavailable, filesNotWritable
	case code == sqlite3.IOERR, code == sqlite3.PERM:
		e.Code, e.Message = parley.CodeUnavailable, "the store's files cannot be read or written"
	case code == sqlite3.BUSY, code == sqlite3.LOCKED, code == sqlite3.INTERRUPT:
		e.Code, e.Message = parley.CodeUnavailable, "the store is busy; try again"
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Message = parley.CodeUnavailable, "a file of the store may not be used; give it to the user who runs Parley, or run Parley as the user it belongs to"
	case damaged(code):
		e.Message = "the store's file is damaged; stop Parley and restore a backup; `parley doctor` says what else is damaged, as far as it can be read"
	}
	return e
}

// openError says what could not be done with a store that is to be opened, why, and what to do where that is known.
func openError(what string, err error) error {
	said := translate(opOpen, fmt.Errorf("%s: %w", what, err))
	if parley.CodeOf(said) == parley.CodeInternal {
		return &parley.Error{Code: parley.CodeUnavailable, Op: opOpen, Message: what, Err: err}
	}
	return said
}

// damaged reports whether err says that the file is not as SQLite has written it.
func damaged(err error) bool {
	var code sqlite3.ErrorCode
	return errors.As(err, &code) && (code == sqlite3.CORRUPT || code == sqlite3.NOTADB)
}

// isFull reports whether err says that the disk is full.
func isFull(err error) bool { return errors.Is(err, sqlite3.FULL) || disk.IsFull(err) }

// opOpen is the operation in which there is no store yet that could go on by itself.
const opOpen = "open store"

const (
	diskFull        = "the disk is full; free some space, the store goes on by itself"
	diskFullAtStart = "the disk is full; free some space and try again"

	// filesNotWritable is for files and for the folder alike: SQLite does not tell which it was.
	filesNotWritable = "the store's files cannot be opened or written; the folder they are in has to be writable, also for who only reads, " +
		"because SQLite keeps an index of its write-ahead log there; run Parley as the user they belong to"
)

// refused reports whether err says that this batch cannot be applied, while the
// store is well.
func refused(err error) bool {
	switch parley.CodeOf(err) {
	case parley.CodeInvalid, parley.CodeTooLarge, parley.CodeNotFound, parley.CodeConflict:
		return true
	}
	return false
}

// fatal reports whether a connection that gave err is not to be used again: its
// file failed, or what it has in memory may be wrong. Mistakes in a statement
// and broken constraints are not.
func fatal(err error) bool {
	var code sqlite3.ErrorCode
	if err == nil || refused(err) || !errors.As(err, &code) {
		return false
	}
	switch code {
	case sqlite3.CONSTRAINT, sqlite3.ERROR, sqlite3.MISMATCH, sqlite3.RANGE, sqlite3.TOOBIG, sqlite3.INTERRUPT, sqlite3.BUSY:
		return false
	}
	return true
}

// orEnd gives the end of the context in place of the error that it brought about. A refusal
// stays: it is an answer.
func orEnd(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !refused(err) {
		return ctx.Err()
	}
	return err
}

func notFound(format string, args ...any) error {
	return parley.Errorf(parley.CodeNotFound, format, args...)
}

func conflict(format string, args ...any) error {
	return parley.Errorf(parley.CodeConflict, format, args...)
}

func invalid(format string, args ...any) error {
	return parley.Errorf(parley.CodeInvalid, format, args...)
}

// unknownOutcome is for a batch that may or may not have been written.
func unknownOutcome(cause error) error {
	message := "the store could not confirm the change; repeat it with the same input id"
	if isFull(cause) {
		message = "the disk is full, and the store could not confirm the change; free some space and repeat it with the same input id"
	}
	return &parley.Error{
		Code: parley.CodeUnavailable, Op: "commit",
		Message: message,
		Err:     fmt.Errorf("%w: %w", parley.ErrOutcomeUnknown, cause),
	}
}
