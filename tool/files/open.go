package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"
)

// open opens the regular file at the spot for reading. It does not wait: not for
// the other end of a pipe, not for a device.
func (s *spot) open() (*os.File, error) {
	switch {
	case s.info == nil:
		return nil, s.missing(s.given, s.name)
	case s.info.IsDir():
		return nil, refusef("%s is a folder; list_files shows what is in it", show(s.given))
	case !s.info.Mode().IsRegular():
		return nil, refusef("%s is not a regular file but %s", show(s.given), kind(s.info.Mode()))
	}
	f, err := openRegular(s.top().root, s.name, s.info)
	if err != nil {
		return nil, systemError(s.given, err)
	}
	return f, nil
}

// openRegular opens a file by its name in a folder, if it is the one that info is
// about.
func openRegular(dir *os.Root, name string, info fs.FileInfo) (*os.File, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, changedOr(dir, name, info, err)
	}
	is, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(is, info) || !is.Mode().IsRegular():
		err = errChanged
	case ofProcesses(f):
		err = fs.ErrPermission
	}
	if err != nil {
		_ = f.Close() // it was not used
		return nil, err
	}
	return f, nil
}

// kind says in a word or two what is no regular file.
func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "something else"
}

// What makes a file unfit to be read as text.
var (
	errLarge  = errors.New("the file is too large")
	errBinary = errors.New("the file is binary")
	errCoding = errors.New("the file is not UTF-8")
)

// chunk is how much is read between two looks at the context.
const chunk = 256 << 10

// readAll reads at most limit bytes of a file. More are errLarge: what its size
// says does not matter, since it may grow.
func readAll(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	var data []byte
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := len(data)
		data = append(data, make([]byte, min(chunk, limit+1-int64(n)))...)
		got, err := io.ReadFull(r, data[n:])
		data = data[:n+got]
		switch {
		case int64(len(data)) > limit:
			return nil, errLarge
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return data, nil
		case err != nil:
			return nil, err
		}
	}
}

// checkText reports what is wrong with bytes that should be text.
func checkText(data []byte) error {
	if bytes.IndexByte(data, 0) >= 0 {
		return errBinary
	}
	if !utf8.Valid(data) {
		return errCoding
	}
	return nil
}

// text reads the whole file at the spot as text, and gives what it was read from.
func (s *spot) text(ctx context.Context) (string, fs.FileInfo, error) {
	f, err := s.open()
	if err != nil {
		return "", nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	is, err := f.Stat()
	if err != nil {
		return "", nil, systemError(s.given, err)
	}
	data, err := readAll(ctx, f, s.f.cfg.MaxFile)
	if err == nil {
		err = checkText(data)
	}
	if err != nil {
		return "", nil, s.unfit(err, is.Size())
	}
	return string(data), is, nil
}

// unfit tells the model why a file cannot be read as text.
func (s *spot) unfit(err error, size int64) error {
	switch {
	case errors.Is(err, errLarge):
		return refusef("%s has %d bytes, more than the %d that are read at once; read a part of it with from_line and lines, or use search_files",
			show(s.given), size, s.f.cfg.MaxFile)
	case errors.Is(err, errBinary):
		return refusef("%s is a binary file of %d bytes; only text can be read", show(s.given), size)
	case errors.Is(err, errCoding):
		return refusef("%s is not UTF-8 text (%d bytes)", show(s.given), size)
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return systemError(s.given, err)
}
