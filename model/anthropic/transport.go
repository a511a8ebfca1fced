package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/option"
)

const (
	maxErrorBody = 64 << 10 // as much of an error's body is read
	maxEvent     = 1 << 20  // one event of a stream, in bytes
)

// errEvent is what reading a stream ends with when an event is too long.
var errEvent = errors.New("an event is too long")

// refusedError is an answer that is none: what the server said instead.
type refusedError struct {
	status  int
	header  http.Header
	kind    string // the vendor's type of the error
	message string // the vendor's
}

func (e *refusedError) Error() string { return "the request was refused: " + http.StatusText(e.status) }

// guard stands between the SDK and the network. It reads errors itself, so that
// none depends on how the SDK shows them, and bounds what a stream can bring.
func guard(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return res, err
	}
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // what there is; the status says the most
		_ = res.Body.Close()                                          // nothing more is wanted of it
		refused := &refusedError{status: res.StatusCode, header: res.Header}
		refused.kind, refused.message = vendorError(string(body))
		return nil, refused
	}
	if res.Request == nil {
		res.Request = req // the SDK tells errors in a stream by it
	}
	res.Body = &boundedBody{ReadCloser: res.Body}
	return res, nil
}

// vendorError gives type and message of an error in the vendor's form.
func vendorError(body string) (kind, message string) {
	var envelope struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &envelope) != nil {
		return "", ""
	}
	return envelope.Error.Type, strings.TrimSpace(envelope.Error.Message)
}

// boundedBody is a stream whose events, which end with an empty line, are bounded.
type boundedBody struct {
	io.ReadCloser

	event int // bytes since the last empty line
	line  int // bytes since the last line break
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for _, c := range p[:n] {
		switch c {
		case '\n':
			if b.line == 0 {
				b.event = 0
			}
			b.line = 0
		case '\r':
		default:
			b.line++
		}
		b.event++
		if b.event > maxEvent {
			return 0, errEvent
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &brokenError{err}
	}
	return n, err
}

// brokenError is a failure of the network in the middle of a stream.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }
