package secret

import "io"

// Writer gives a writer that passes on to w what is written to it, with all known
// values replaced, also those that come in several pieces. It holds back bytes
// that may be the beginning of a value until the next ones tell. Close writes
// what is still held back, and does not close w. After an error of w, each call
// gives that error. It is for one goroutine at a time.
func (s *Scrubber) Writer(w io.Writer) io.WriteCloser { return &writer{scrubber: s, to: w} }

type writer struct {
	scrubber *Scrubber
	to       io.Writer
	held     []byte
	covered  int // so many of the held bytes belong to a mask that was written
	err      error
}

// Write gives the length of p, or 0 with an error.
func (w *writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	spans, open := find(w.scrubber.current(), w.held, w.covered)
	if w.pass(spans, len(w.held)-open); w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Close writes what is held back.
func (w *writer) Close() error {
	spans, _ := find(w.scrubber.current(), w.held, w.covered)
	w.pass(spans, len(w.held))
	return w.err
}

// pass writes the first n of the held bytes, masked.
func (w *writer) pass(spans []span, n int) {
	var out []byte
	pos := 0
	if w.covered > 0 {
		// Its mask was written.
		pos, spans = spans[0].end, spans[1:]
	}
	for _, sp := range spans {
		if sp.start >= n {
			break
		}
		out = append(out, w.held[pos:sp.start]...)
		out = append(out, Mask...)
		pos = sp.end
	}
	if pos < n {
		out = append(out, w.held[pos:n]...)
	}
	w.covered = max(pos-n, 0)
	w.held = append(w.held[:0], w.held[n:]...)
	if w.err == nil && len(out) > 0 {
		_, w.err = w.to.Write(out)
	}
}
