package httpapi

import (
	"context"
	"iter"
	"net/http"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

func (s *Server) eventRoutes() {
	add(s, onSession(access.OpRead), endpoint[eventsIn, eventsOut]{
		method: http.MethodGet, path: "/api/sessions/{id}/events", name: "readEvents",
		summary: "Events of a session after a seq; or, with Accept: text/event-stream, all that come after Last-Event-ID, else after `after`, else from now on.",
		stream:  true, do: (*call).events,
	})
	add(s, signedIn, endpoint[followIn, none]{
		method: http.MethodGet, path: "/api/events", name: "followAll",
		summary: "Server-sent events of all sessions that the caller sees, after Last-Event-ID, else from now on.",
		stream:  true, do: (*call).follow,
	})
}

type eventsIn struct {
	ID    parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	After *uint64          `query:"after" json:"-" jsonschema:"the seq of the last event that is known"`
	Limit int              `query:"limit" json:"-" jsonschema:"how many at most; 50 if it is not given, never more than 1000"`
}

type eventsOut struct {
	Events []eventView `json:"events"`
}

// events gives a page of events, or follows the session.
func (c *call) events(in *eventsIn) (eventsOut, error) {
	if c.wantsStream() {
		return eventsOut{}, c.stream(in.ID, func(ctx context.Context, st *stream) (iter.Seq2[parley.Update, error], error) {
			// Who may not is told so before the stream begins.
			session, err := c.handle().Session(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			from, ok := c.position(in.ID, in.After, session.LastSeq)
			if !ok {
				return resync(parley.ResyncUnknown), nil
			}
			if from.Epoch == "" && c.cfg.HeadFunc != nil {
				head, err := c.cfg.HeadFunc(ctx)
				if err != nil {
					return nil, err
				}
				from.Epoch = head.Epoch
			}
			st.from = &from
			return c.handle().Events(ctx, in.ID, from), nil
		})
	}
	var after uint64
	if in.After != nil {
		after = *in.After
	}
	events, err := c.handle().Log(c.r.Context(), in.ID, after, in.Limit)
	if err != nil {
		return eventsOut{}, err
	}
	if len(events) == 0 && after > 0 {
		if err := c.known(in.ID, after); err != nil {
			return eventsOut{}, err
		}
	}
	out := eventsOut{Events: make([]eventView, len(events))}
	for i := range events {
		out.Events[i] = viewEvent(&events[i])
	}
	return out, nil
}

// known refuses a seq that the session has not come to: who waits for what is
// after it would wait for nothing.
func (c *call) known(id parley.SessionID, seq uint64) error {
	session, err := c.handle().Session(c.r.Context(), id)
	if err != nil {
		return err
	}
	if seq > session.LastSeq {
		return invalidf("the session has %d events, and none with seq %d; read it anew", session.LastSeq, seq)
	}
	return nil
}

// position says where a stream begins: after Last-Event-ID, else after a seq, else
// at the end; false if the first is none of this session.
func (c *call) position(id parley.SessionID, after *uint64, end uint64) (parley.Position, bool) {
	if text := c.r.Header.Get("Last-Event-ID"); text != "" {
		return parsePosition(text, marker(id))
	}
	if after != nil {
		return parley.Position{Seq: *after}, true
	}
	return parley.Position{Seq: end}, true
}

// resync is a stream that tells a client to read anew.
func resync(reason parley.ResyncReason) iter.Seq2[parley.Update, error] {
	return func(yield func(parley.Update, error) bool) { yield(parley.Update{Resync: reason}, nil) }
}

type followIn struct {
	After string `query:"after" json:"-" jsonschema:"the id of the last event that is known, where Last-Event-ID cannot be sent"`
}

// follow follows all sessions.
func (c *call) follow(in *followIn) (none, error) {
	if !c.wantsStream() {
		return none{}, invalidf("this is a stream; ask for it with Accept: text/event-stream")
	}
	return none{}, c.stream("", func(ctx context.Context, st *stream) (iter.Seq2[parley.Update, error], error) {
		text := c.r.Header.Get("Last-Event-ID")
		if text == "" {
			text = in.After
		}
		var from parley.Position
		if text != "" {
			var ok bool
			if from, ok = parsePosition(text, marker("")); !ok {
				return resync(parley.ResyncUnknown), nil
			}
		} else if c.cfg.HeadFunc != nil {
			head, err := c.cfg.HeadFunc(ctx)
			if err != nil {
				return nil, err
			}
			from = parley.Position{Epoch: head.Epoch, Seq: head.Pos}
			st.from = &from
		}
		return c.handle().Follow(ctx, from), nil
	})
}
