package client

import (
	"context"
	"io"
	"time"
)

// watch ends what stands still on the network. It counts from the start on.
type watch struct {
	timer *time.Timer
	limit time.Duration
}

func newWatch(limit time.Duration, cancel context.CancelCauseFunc) *watch {
	return &watch{limit: limit, timer: time.AfterFunc(limit, func() { cancel(errSilent) })}
}

func (w *watch) stop() { w.timer.Stop() }

// incoming gives r, which comes from the network: it counts while that is waited
// for, and not while the reader is busy elsewhere.
func (w *watch) incoming(r io.Reader) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		w.timer.Reset(w.limit)
		defer w.timer.Stop()
		return r.Read(b)
	})
}

// outgoing gives r, which goes to the network: it counts while that does not take
// more, and not while r has nothing yet.
func (w *watch) outgoing(r io.Reader) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		w.timer.Stop()
		defer w.timer.Reset(w.limit)
		return r.Read(b)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
