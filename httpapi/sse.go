package httpapi

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// errClosing ends streams when the server stops.
var errClosing = errors.New("the server stops")

// stream is one answer that goes on. Nothing waits in it: what cannot be written
// in time ends it.
type stream struct {
	call *call
	id   parley.SessionID // empty: all sessions
	mark string
	stop context.CancelCauseFunc
	from *parley.Position // where it begins; nil: that is not known

	mu    sync.Mutex // guards what follows
	out   pipe
	buf   []byte
	alive func() bool // stops the timer of the next comment
	over  bool
}

// wantsStream reports whether the client asks for events.
func (c *call) wantsStream() bool {
	if c.r.Method == http.MethodHead {
		return false
	}
	for _, accept := range c.r.Header.Values("Accept") {
		for one := range strings.SplitSeq(accept, ",") {
			media, _, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(media), "text/event-stream") {
				return true
			}
		}
	}
	return false
}

// stream answers with events, from what startFunc gives, until the client goes,
// its credential ends, the server stops, or there are no more. Nothing is written
// before startFunc returns.
//
// The connection is taken over where that is possible: a stream that waits then
// holds no buffers and no more of the request than the log needs.
func (c *call) stream(id parley.SessionID, startFunc func(ctx context.Context, st *stream) (iter.Seq2[parley.Update, error], error)) error {
	request := c.r.Context()
	ctx, stop := context.WithCancelCause(context.Background())
	st := &stream{call: c, id: id, mark: marker(id), stop: stop}
	unlink := context.AfterFunc(request, func() { stop(context.Cause(request)) })
	ctx, release, err := st.open(ctx)
	if err != nil {
		unlink()
		stop(nil)
		return err
	}
	updates, err := startFunc(ctx, st)
	if err != nil {
		unlink()
		release()
		return err
	}
	c.took = true
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	if !st.takeOver(unlink) {
		defer release()
		c.w.WriteHeader(http.StatusOK)
		st.out = &responsePipe{c.w, http.NewResponseController(c.w.ResponseWriter)}
		st.run(ctx, updates)
		unlink()
		return nil
	}
	c.detach()
	go func() { // streams.close waits for it
		defer release()
		started := time.Now()
		st.run(ctx, updates)
		c.w.bytes = st.out.close()
		c.logged(time.Since(started))
	}()
	return nil
}

// open counts the stream, and ties it to its credential.
func (st *stream) open(ctx context.Context) (held context.Context, release func(), err error) {
	leave, err := st.call.streams.enter(st)
	if err != nil {
		return ctx, nil, err
	}
	held, letGo := st.call.hold(ctx)
	return held, func() {
		letGo()
		st.stop(nil)
		leave()
	}, nil
}

// run writes what comes, and at the end why it ends.
func (st *stream) run(ctx context.Context, updates iter.Seq2[parley.Update, error]) {
	opening := []byte(": parley\nretry: 1000\n")
	if st.from != nil { // so that who is cut off before the first event can go on
		opening = append(appendPosition(append(opening, "id: "...), st.mark, *st.from), '\n')
	}
	st.send(append(opening, '\n'))
	defer st.end()
	for u, err := range updates {
		if err != nil && ctx.Err() == nil {
			st.last(err)
			return
		}
		if err != nil || ctx.Err() != nil {
			break // what failed did so because the stream ends
		}
		st.update(u)
	}
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		st.last(err)
	}
}

// hold ties a stream to its credential.
func (c *call) hold(ctx context.Context) (context.Context, func()) {
	if c.cfg.People == nil {
		return ctx, func() {}
	}
	return c.cfg.People.Hold(ctx, c.cred)
}

// update writes an update with its position.
func (st *stream) update(u parley.Update) {
	lines := st.call.encodeUpdate(u)
	if u.Resync != "" {
		lines = st.call.passing(eventResync, st.id, "", map[string]any{"reason": u.Resync})
	}
	if lines == nil {
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.buf = append(st.buf[:0], lines...)
	if st.id != "" || u.Event != nil || u.Resync != "" { // over all sessions a delta has no position of its own
		st.buf = append(st.buf, "id: "...)
		st.buf = appendPosition(st.buf, st.mark, u.Position)
		st.buf = append(st.buf, '\n')
	}
	st.buf = append(st.buf, '\n')
	st.sendLocked(st.buf)
	if cap(st.buf) > 4<<10 {
		st.buf = nil
	}
}

// status writes an event that says how things are, and is not stored.
func (st *stream) status(data any) {
	st.send(append(st.call.passing(eventStatus, st.id, "", data), '\n'))
}

// last writes why the stream ends.
func (st *stream) last(err error) {
	st.mu.Lock()
	over := st.over
	st.mu.Unlock()
	if over {
		return // nobody is there to read it
	}
	if errors.Is(err, errClosing) || errors.Is(err, parley.ErrUnavailable) {
		st.status(map[string]any{"status": "closing"})
		return
	}
	p, _ := problemOf(err)
	if p.Code == parley.CodeInternal {
		st.call.log.Error("a stream failed", "request", st.call.id, "route", st.call.pattern, "error", err)
	}
	st.status(map[string]any{"status": "ended", "error": p})
}

// send writes to the client. If that fails, or takes too long, the stream ends.
func (st *stream) send(b []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.sendLocked(b)
}

func (st *stream) sendLocked(b []byte) {
	if st.over {
		return
	}
	if err := st.out.write(b, st.call.cfg.Limits.Write); err != nil {
		st.over = true
		st.stop(context.Canceled)
		return
	}
	if st.alive != nil {
		st.alive()
	}
	st.alive = st.call.cfg.Clock.AfterFunc(st.call.cfg.Limits.KeepAlive, st.comment)
}

// comment keeps an idle connection open, and finds out when nobody is there.
func (st *stream) comment() { st.send([]byte(":\n\n")) }

// end stops the comments. After it nothing is written.
func (st *stream) end() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.over = true
	st.buf = nil
	if st.alive != nil {
		st.alive()
	}
}
