package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/parley-run/parley"
)

// now is the Epoch of [Now].
const now = "now"

// Now is the position at the end of what is stored when a subscription begins.
func Now() parley.Position { return parley.Position{Epoch: now} }

// Events follows a session, from a position on, until ctx ends, which is no error.
// When the connection is lost, or the server stops, it goes on with another, as
// often as it takes; [Config.ReconnectFunc] is told. It ends with an error when that
// will not help: [parley.CodeUnauthorized], [parley.CodeForbidden],
// [parley.CodeNotFound] if the session is not there for the caller, or no longer,
// [parley.CodeInvalid].
//
// An update with Resync set is the last one: the position cannot be continued, and
// the reader starts anew. What a reader who was too slow has missed it is given.
func (c *Client) Events(ctx context.Context, id parley.SessionID, from parley.Position) iter.Seq2[parley.Update, error] {
	return func(yield func(parley.Update, error) bool) {
		f := &follower{client: c, yield: yield, session: id, gapless: true, stream: from.Stream, n: from.N}
		if from.Epoch == now {
			s, err := c.Session(ctx, id)
			if err != nil {
				yield(parley.Update{}, err)
				return
			}
			from = parley.Position{Seq: s.LastSeq}
		}
		if from.Epoch == "" {
			f.seq, f.counted = from.Seq, true
		} else {
			f.seq, f.counted = from.Seq, from.Seq > 0
		}
		f.begin(from)
		f.requestFunc = func() request {
			return request{method: http.MethodGet, path: at("api", "sessions", string(id), "events"), query: f.after(from)}
		}
		f.run(ctx)
	}
}

// Follow is Events for all sessions that the caller sees. Its positions are of its
// own kind. Deltas come for what happens to be watched: one or the other may be
// missing, and there are no snapshots.
func (c *Client) Follow(ctx context.Context, from parley.Position) iter.Seq2[parley.Update, error] {
	return func(yield func(parley.Update, error) bool) {
		f := &follower{client: c, yield: yield}
		f.begin(from)
		f.requestFunc = func() request {
			return request{method: http.MethodGet, path: at("api", "events"), query: f.after(from)}
		}
		f.run(ctx)
	}
}

// follower is one subscription, over as many connections as it takes.
type follower struct {
	client      *Client
	yield       func(parley.Update, error) bool
	requestFunc func() request

	session parley.SessionID // empty: all
	gapless bool             // the stream has every event of the session

	// Where it is: the server's text, the seq of the last event of the session if
	// that is known, and the reply that is being written.
	id      string
	seq     uint64
	counted bool
	stream  string
	n       int
	fromNow bool // it began at the end, and the server has not said where that is

	// lastFunc says of an update whether nothing comes after it; nil: never.
	lastFunc func(*parley.Update) bool
	// statusFunc is given what the server says about the stream itself, and reports
	// whether the stream is over; nil: it is not asked.
	statusFunc func(status) bool

	tries  int  // how many connections may fail in a row; 0: any number
	maybe  bool // a request that changes something may have been carried out
	over   bool // the reader has enough, or everything
	begun  bool // there was a connection
	failed int  // connections in a row that brought nothing
	told   bool // ReconnectFunc believes that the connection is lost
}

func (f *follower) begin(from parley.Position) {
	switch from.Epoch {
	case now:
		f.fromNow = true
	default:
		f.id = from.Epoch
	}
}

// after says where to begin, if the server has given no position yet.
func (f *follower) after(from parley.Position) url.Values {
	if f.id != "" || f.fromNow {
		return nil
	}
	return url.Values{"after": {strconv.FormatUint(from.Seq, 10)}}
}

// steady is how long a connection lasts that was not in vain.
const steady = 10 * time.Second

// run follows until there is no more to do.
func (f *follower) run(ctx context.Context) {
	for {
		started := time.Now()
		err := f.connect(ctx)
		switch {
		case f.over || ctx.Err() != nil:
			return
		case !goesOn(err), f.tries > 0 && f.failed+1 >= f.tries:
			f.yield(parley.Update{}, f.ended(err))
			return
		case f.fromNow && f.begun:
			// What came meanwhile cannot be asked for.
			f.yield(parley.Update{Resync: parley.ResyncUnknown}, nil)
			return
		}
		f.maybe = f.maybe || errors.Is(err, parley.ErrOutcomeUnknown)
		if time.Since(started) >= steady {
			f.failed = 0
		}
		f.failed++
		f.tell(err)
		if !f.client.pause(ctx, f.failed, err) {
			return
		}
	}
}

// ended is the error that ends the stream.
func (f *follower) ended(err error) error {
	if e, ok := errors.AsType[*parley.Error](err); ok && f.maybe && passes(e.Code) {
		return unknownOutcome(e)
	}
	return err
}

// goesOn reports whether another connection can help after an error.
func goesOn(err error) bool {
	code := parley.CodeOf(err)
	return passes(code) || code == parley.CodeInternal
}

func (f *follower) tell(err error) {
	if f.client.cfg.ReconnectFunc != nil {
		f.client.cfg.ReconnectFunc(err, f.failed)
	}
	f.told = true
}

// broken is for a stream that ended, and should not have.
func (f *follower) broken(ctx context.Context, err error) error {
	if errors.Is(err, errEventTooLarge) {
		return &parley.Error{Code: parley.CodeTooLarge, Message: "the stream has an event that is larger than any can be", Err: err}
	}
	if err == io.EOF { //nolint:errorlint // readers give it as it is
		err = io.ErrUnexpectedEOF
	}
	return f.client.lost(ctx, err, true)
}

// connect follows over one connection, to its end.
func (f *follower) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := newWatch(f.client.cfg.Silence, cancel)
	defer watch.stop()
	req, err := f.client.request(ctx, f.requestFunc())
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("Cache-Control", "no-store")
	if f.id != "" {
		if !saneID(f.id) {
			return invalidf("the position is none of this server")
		}
		req.Header.Set("Last-Event-ID", f.id)
	}
	res, err := f.client.send(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if res.StatusCode != http.StatusOK || !isMedia(res, "text/event-stream") {
		data, e := f.client.read(ctx, res, false)
		if e != nil {
			return e
		}
		return f.client.refusal(req.Method, res, data)
	}
	f.begun = true
	if f.told {
		f.told = false
		if f.client.cfg.ReconnectFunc != nil {
			f.client.cfg.ReconnectFunc(nil, f.failed)
		}
	}
	return f.blocks(ctx, newEventReader(watch.incoming(res.Body), f.client.maxEvent))
}

// blocks reads the blocks of one connection.
func (f *follower) blocks(ctx context.Context, r *eventReader) error {
	for {
		b, err := r.next()
		if err != nil {
			return f.broken(ctx, err)
		}
		if b.hasID && !saneID(b.id) {
			return f.broken(ctx, errGarbage)
		}
		if b.data == nil {
			f.id, f.fromNow = b.id, false // where the stream begins
			continue
		}
		more, err := f.take(b)
		if errors.Is(err, errGarbage) {
			return f.broken(ctx, err)
		}
		if err != nil {
			return err
		}
		if !more {
			f.over = true
			return nil
		}
	}
}

// saneID reports whether a text can be a position: it goes back in a header.
func saneID(id string) bool {
	if len(id) > 4<<10 {
		return false
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] == 0x7f {
			return false
		}
	}
	return true
}
