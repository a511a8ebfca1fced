package blob

import (
	"errors"
	"syscall"

	"github.com/parley-run/parley"
)

// What can be wrong with a file whose blob is registered. Each is in the chain
// of a [parley.Error] that says which blob it is and what to do.
var (
	// ErrMissing says that there is no file.
	ErrMissing = errors.New("the file is missing")
	// ErrDamaged says that the file does not hold what was put.
	ErrDamaged = errors.New("the file is damaged")
	// ErrSecret says that the file is encrypted and the store is not, or the
	// other way round.
	ErrSecret = errors.New("the file is not in the form this store reads")
)

func missing(handle parley.BlobHandle) error {
	return &parley.Error{
		Code: parley.CodeInternal, Op: "open media", Err: ErrMissing,
		Message: "the content of media " + string(handle) + " cannot be found; restore the folder of media from a backup",
	}
}

func damaged(handle parley.BlobHandle, why string) error {
	return &parley.Error{
		Code: parley.CodeInternal, Op: "open media", Err: ErrDamaged,
		Message: "the content of media " + string(handle) + " cannot be used, " + why + "; restore the folder of media from a backup",
	}
}

func wrongForm(handle parley.BlobHandle, why string) error {
	return &parley.Error{
		Code: parley.CodeUnavailable, Op: "open media", Err: ErrSecret, Message: "media " + string(handle) + " " + why,
	}
}

// unwritable is for what the file system refuses.
func unwritable(op string, err error) error {
	e := &parley.Error{Code: parley.CodeUnavailable, Op: op, Message: "the folder of media cannot be read or written", Err: err}
	if errors.Is(err, syscall.ENOSPC) {
		e.Message = "the disk is full; free some space and try again"
	}
	return e
}

func canceled(err error) error {
	return &parley.Error{Code: parley.CodeUnavailable, Op: "media", Message: "it was given up before it was done", Err: err}
}
