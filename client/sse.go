package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent is how large an event on a stream may be: a stored one has a body of at
// most [parley.MaxBodyBytes], which escapes can make several times longer.
const maxEvent = 16 << 20

// errEventTooLarge ends a stream whose events do not end.
var errEventTooLarge = errors.New("an event on the stream is too large")

// block is what stands between two empty lines of a stream of server-sent events.
type block struct {
	name  string
	data  []byte // nil: the block had none. Good until the next block is read
	id    string
	hasID bool
}

// eventReader reads server-sent events: lines that end with LF, CR or both, after
// an optional byte order mark.
type eventReader struct {
	r      *bufio.Reader
	limit  int
	begun  bool // the place for a byte order mark is over
	skipLF bool // the line before ended with CR
	line   []byte
	data   []byte
}

func newEventReader(r io.Reader, limit int) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 4<<10), limit: limit}
}

// next gives the next block that has data or an id. A block that the stream's end
// cuts off is dropped.
func (r *eventReader) next() (block, error) {
	var b block
	r.shrink()
	hasData, size := false, 0
	for {
		line, err := r.readLine(r.limit - size)
		if err != nil {
			return block{}, err
		}
		if len(line) == 0 {
			if hasData || b.hasID {
				break
			}
			b, size = block{}, 0
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			b.name = string(value)
		case "data":
			if hasData {
				r.data = append(r.data, '\n')
			}
			r.data, hasData = append(r.data, value...), true
		case "id":
			if bytes.IndexByte(value, 0) >= 0 {
				continue
			}
			b.id, b.hasID = string(value), true
		default:
			continue // a comment, a pause for browsers, or something of a later time
		}
		size += len(line)
	}
	if hasData {
		b.data = r.data
	}
	return b, nil
}

// shrink makes room for the next block, and gives back what a large one took.
func (r *eventReader) shrink() {
	const keep = 64 << 10
	if r.data == nil || cap(r.data) > keep {
		r.data = make([]byte, 0, 1<<10)
	}
	if cap(r.line) > keep {
		r.line = nil
	}
	r.data = r.data[:0]
}

// readLine gives the next line without its end. It is good until the next one is
// read. A line that is longer than limit is an error, and so is one without an end.
func (r *eventReader) readLine(limit int) ([]byte, error) {
	r.line = r.line[:0]
	for {
		if _, err := r.r.Peek(1); err != nil {
			return nil, err
		}
		chunk, _ := r.r.Peek(r.r.Buffered()) // they are there
		if r.skipLF {
			r.skipLF = false
			if chunk[0] == '\n' {
				_, _ = r.r.Discard(1) // it is there
				continue
			}
		}
		end := bytes.IndexByte(chunk, '\n')
		if cr := bytes.IndexByte(chunk[:max(end, 0)], '\r'); cr >= 0 {
			end = cr
		} else if end < 0 {
			end = bytes.IndexByte(chunk, '\r')
		}
		rest := chunk
		if end >= 0 {
			rest = chunk[:end]
			r.skipLF = chunk[end] == '\r'
		}
		if len(r.line)+len(rest) > limit {
			return nil, errEventTooLarge
		}
		r.line = append(r.line, rest...)
		_, _ = r.r.Discard(len(rest)) // it is there
		if end >= 0 {
			_, _ = r.r.Discard(1) // and so is the end of the line
			break
		}
	}
	if !r.begun {
		r.begun = true
		return bytes.TrimPrefix(r.line, []byte("\ufeff")), nil
	}
	return r.line, nil
}
