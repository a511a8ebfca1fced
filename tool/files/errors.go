package files

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// refusal is an answer to the model that says why something was not done, and
// what to do instead. It names no path of the host.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusef(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// errChanged says that a name led elsewhere a moment later. The path is walked
// again.
var errChanged = errors.New("it changed while it was opened")

// outside refuses a path that leads out of the folder.
func outside(path string) error {
	return refusef("%s leads out of the folder you work in; use a path inside it, such as src/main.go", show(path))
}

// systemText says what the file system refused. Errors of package os hold paths of
// the host; what is at their root does not.
func systemText(err error) string {
	switch {
	case errors.Is(err, errChanged):
		return "the file keeps being exchanged by somebody else; try again later"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, fs.ErrNotExist):
		return "the file or folder is not there any more"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	}
	if code, ok := errors.AsType[syscall.Errno](err); ok {
		return "the file system refused: " + code.Error()
	}
	return "the file system refused the path"
}

// systemError is an error of the file system about a path of the model.
func systemError(path string, err error) error {
	if errors.Is(err, errChanged) {
		return err
	}
	return refusef("%s: %s", show(path), systemText(err))
}

// showRunes is how much of a name is repeated in an answer.
const showRunes = 200

// show gives a path as it is put into an answer: on one line, quoted if it holds
// what does not show.
func show(path string) string {
	if utf8.RuneCountInString(path) > showRunes {
		path = string([]rune(path)[:showRunes]) + "…"
	}
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
	if path == "" || strings.ContainsFunc(path, odd) || strings.TrimSpace(path) != path {
		return strconv.Quote(path)
	}
	return path
}
