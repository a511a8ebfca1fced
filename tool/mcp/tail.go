package mcp

import (
	"io"
	"strings"
	"sync"

	"github.com/parley-run/parley/secret"
)

// maxTail is how much of what a program writes to its standard error is kept.
const maxTail = 4 << 10

// tail keeps the end of what is written to it, scrubbed.
type tail struct {
	known *secret.Scrubber
	to    io.WriteCloser

	mu   sync.Mutex
	last []byte
}

func newTail(known *secret.Scrubber) *tail {
	t := &tail{known: known}
	t.to = known.Writer(writerFunc(t.add))
	return t
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// copyFrom reads until there is no more.
func (t *tail) copyFrom(r io.Reader) {
	buf := make([]byte, 8<<10)
	for {
		n, err := r.Read(buf)
		_, _ = t.to.Write(buf[:n]) // it never fails
		if err != nil {
			_ = t.to.Close() // nor does this
			return
		}
	}
}

func (t *tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) > maxTail {
		p = p[len(p)-maxTail:]
	}
	t.last = append(t.last, p...)
	if extra := len(t.last) - maxTail; extra > 0 {
		t.last = append(t.last[:0], t.last[extra:]...)
	}
}

// String gives the end of what was written.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(plain(t.known, string(t.last)))
}
