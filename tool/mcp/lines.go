package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/parley-run/parley"
)

// How much a program may write between two messages that is none. Some print a
// greeting, or log to the wrong place; one that goes on is not a server.
const (
	maxStrayLines = 1000
	maxStrayBytes = 1 << 20
)

// lines reads messages, one per line, from what a program writes.
type lines struct {
	from *bufio.Reader
	// strayFunc is told of the first line that is no message.
	strayFunc func(line []byte)

	told        bool
	stray, size int
}

func newLines(r io.Reader, strayFunc func(line []byte)) *lines {
	return &lines{from: bufio.NewReaderSize(r, 32<<10), strayFunc: strayFunc}
}

// next gives the messages of the next line that has any.
func (l *lines) next() ([]jsonrpc.Message, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		messages, ok := decode(line)
		if ok {
			l.stray, l.size = 0, 0
			return messages, nil
		}
		if !l.told {
			l.told = true
			l.strayFunc(line)
		}
		if l.stray, l.size = l.stray+1, l.size+len(line); l.stray > maxStrayLines || l.size > maxStrayBytes {
			return nil, parley.Errorf(parley.CodeInvalid, "it writes things to its output that are no messages")
		}
	}
}

// line reads up to the end of a line, or of the input.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := l.from.ReadSlice('\n')
		if len(line)+len(piece) > maxMessage {
			return nil, parley.Errorf(parley.CodeTooLarge, "it sent a message of more than %d bytes", maxMessage)
		}
		line = append(line, piece...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// decode gives the message of a line, or several if it has a list of them.
func decode(line []byte) ([]jsonrpc.Message, bool) {
	if !json.Valid(line) { // which includes that there is nothing behind it
		return nil, false
	}
	if line[0] != '[' {
		m, err := jsonrpc.DecodeMessage(line)
		return []jsonrpc.Message{m}, err == nil
	}
	var list []json.RawMessage
	if json.Unmarshal(line, &list) != nil || len(list) == 0 {
		return nil, false
	}
	messages := make([]jsonrpc.Message, 0, min(len(list), 64))
	for _, raw := range list {
		m, err := jsonrpc.DecodeMessage(raw)
		if err != nil {
			return nil, false
		}
		messages = append(messages, m)
	}
	return messages, true
}
