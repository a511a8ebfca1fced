package httpapi

import (
	"bytes"
	"sync"

	"github.com/parley-run/parley"
)

// frames keeps what was encoded lately, so that an event is encoded once, however
// many follow it.
type frames struct {
	mu    sync.Mutex
	known map[frameKey]frame
	order []frameKey // a ring, the oldest at next
	next  int
	bytes int
}

// What frames keeps at most.
const (
	maxFrames     = 512
	maxFrameBytes = 8 << 20
)

type frameKey struct {
	session parley.SessionID
	stream  string // of a delta
	n       uint64 // seq, or number in the stream
	pos     uint64 // of an event: a session that is made again counts from 1 again
}

// frame is an encoded event: its source, to tell whether it is still the same, and
// the lines without the id.
type frame struct {
	source string
	lines  []byte
}

// get gives the lines of something, encoded by makeFunc if they are not known.
func (f *frames) get(key frameKey, source []byte, makeFunc func() []byte) []byte {
	f.mu.Lock()
	known, ok := f.known[key]
	f.mu.Unlock()
	if ok && known.source == string(source) {
		return known.lines
	}
	lines := makeFunc()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known, f.order = map[frameKey]frame{}, make([]frameKey, maxFrames)
	}
	if old, ok := f.known[key]; ok {
		f.bytes -= len(old.source) + len(old.lines)
	} else {
		f.drop(f.order[f.next])
		f.order[f.next] = key
		f.next = (f.next + 1) % maxFrames
	}
	f.known[key] = frame{source: string(source), lines: lines}
	f.bytes += len(source) + len(lines)
	if f.bytes > maxFrameBytes {
		clear(f.known)
		f.bytes = 0
	}
	return lines
}

func (f *frames) drop(key frameKey) {
	if old, ok := f.known[key]; ok {
		f.bytes -= len(old.source) + len(old.lines)
		delete(f.known, key)
	}
}

// lines encodes an event for a stream, without its id.
func lines(v eventView) []byte {
	data, err := encode(v)
	if err != nil {
		data = []byte("{}\n") // its parts were JSON before
	}
	b := make([]byte, 0, len(data)+len(v.Type)+16)
	b = append(b, "event: "...)
	b = append(b, v.Type...)
	b = append(b, "\ndata: "...)
	return append(b, data...) // it ends with a line break
}

// encodeUpdate gives the lines of an update.
func (s *Server) encodeUpdate(u parley.Update) []byte {
	switch {
	case u.Event != nil:
		e := u.Event
		return s.frames.get(frameKey{session: e.Session, n: e.Seq, pos: e.Pos}, e.Data, func() []byte { return lines(viewEvent(e)) })
	case u.Delta != nil:
		d := u.Delta
		return s.frames.get(frameKey{session: d.Session, stream: d.Stream, n: uint64(d.N)}, []byte(d.Text), func() []byte {
			return s.passing(eventDelta, d.Session, d.Turn, d)
		})
	case u.Snapshot != nil:
		return s.passing(eventSnapshot, u.Snapshot.Session, u.Snapshot.Turn, u.Snapshot)
	}
	return nil
}

// passing encodes an event that is not stored.
func (s *Server) passing(t parley.EventType, id parley.SessionID, turn parley.TurnID, data any) []byte {
	body, err := encode(data)
	if err != nil {
		body = []byte("{}")
	}
	return lines(eventView{Type: t, Session: id, At: s.cfg.Clock.Now().UTC(), Turn: turn, Data: bytes.TrimSpace(body)})
}
