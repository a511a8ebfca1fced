package command

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// output keeps the first and the last bytes that are written to it.
type output struct {
	max   int   // bytes to keep
	total int64 // after so many, flooded is closed

	mu      sync.Mutex
	head    []byte
	tail    []byte // a ring
	next    int    // where the ring goes on
	written int64
	flooded chan struct{}
}

func newOutput(cfg *Config) *output {
	return &output{max: cfg.MaxOutput, total: cfg.MaxTotal, flooded: make(chan struct{})}
}

// copyFrom reads until r ends or fails, which a deadline brings about.
func (o *output) copyFrom(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		o.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (o *output) add(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.written
	o.written += int64(len(p))
	if before <= o.total && o.written > o.total {
		close(o.flooded)
	}
	n := min(o.max/2-len(o.head), len(p))
	o.head = append(o.head, p[:n]...)
	p = p[n:]
	size := o.max - o.max/2
	if n := min(size-len(o.tail), len(p)); n > 0 {
		o.tail = append(o.tail, p[:n]...)
		p = p[n:]
	}
	p = p[max(0, len(p)-size):]
	for len(p) > 0 {
		n := copy(o.tail[o.next:], p)
		o.next = (o.next + n) % size
		p = p[n:]
	}
}

// text gives what was kept, with a line in between that says what was not.
func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var b strings.Builder
	b.Write(o.head)
	if left := o.written - int64(len(o.head)+len(o.tail)); left > 0 {
		fmt.Fprintf(&b, "\n[%d bytes of output are left out]\n", left)
	}
	b.Write(o.tail[o.next:])
	b.Write(o.tail[:o.next])
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// outcome is how a command ended.
type outcome struct {
	output *output
	code   int
	signal string // that ended it, if one did
	why    string // we ended it, if we did
	took   time.Duration
}

// text is what the model reads: the output, and a last line about the end.
func (o *outcome) text() string {
	text := o.output.text()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	took := o.took.Round(time.Millisecond)
	switch {
	case o.why != "":
		return fmt.Sprintf("%s[killed after %v: %s]", text, took, o.why)
	case o.signal != "":
		return fmt.Sprintf("%s[ended by the signal %s after %v]", text, o.signal, took)
	}
	return fmt.Sprintf("%s[exit code %d after %v]", text, o.code, took)
}
