package feed

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// stream is a reply while it is being written: all of its text, and where each
// delta ends in it.
type stream struct {
	turn  parley.TurnID
	fence parley.Fence
	after uint64
	name  string

	runs   []*run
	ends   []end // of delta 1, 2, 3 …
	bytes  int
	broken bool // it cannot be shown whole any more
	shown  int  // the deltas that readers may have
	// unfollowed is how many deltas came while nobody followed the session, and nobody all sessions.
	unfollowed int
	// checked is set when it is known that nothing has ended the stream since
	// it began.
	checked bool
}

// run is a stretch of one kind.
type run struct {
	kind parley.PartKind
	text strings.Builder // its strings share the builder's memory
}

// end is the run that a delta is in, and where in its text the delta ends.
type end struct{ run, at int }

func newStream(d parley.Delta) *stream {
	return &stream{turn: d.Turn, fence: d.Fence, after: d.After, name: d.Stream}
}

// endedBy reports whether an event ends the stream: it is what the reply has become, or the turn is over.
func (s *stream) endedBy(e *parley.Event) bool {
	if e.Type == parley.EventMessage {
		return messageID(e) == s.name
	}
	return slices.Contains(closers, e.Type) && e.Seq > s.after
}

// messageID gives the id of a stored message, or "" if it was redacted.
func messageID(e *parley.Event) string {
	var m struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return ""
	}
	return m.ID
}

// total is the number of deltas that have come.
func (s *stream) total() int { return len(s.ends) }

// add takes the next delta. One that comes again is ignored. After a gap, or
// when the text is longer than any message can be, the stream is broken.
func (s *stream) add(d parley.Delta) {
	if s.broken || d.N <= len(s.ends) {
		return
	}
	s.bytes += len(d.Text)
	if d.N > len(s.ends)+1 || s.bytes > parley.MaxBodyBytes || d.N > parley.MaxBodyBytes {
		s.broken, s.runs, s.ends = true, nil, nil
		return
	}
	last := len(s.runs) - 1
	if last < 0 || s.runs[last].kind != d.Kind {
		s.runs = append(s.runs, &run{kind: d.Kind})
		last++
	}
	s.runs[last].text.WriteString(d.Text)
	s.ends = append(s.ends, end{run: last, at: s.runs[last].text.Len()})
}

// delta gives the n-th delta.
func (s *stream) delta(session parley.SessionID, n int) *parley.Delta {
	here := s.ends[n-1]
	from := 0
	if n > 1 && s.ends[n-2].run == here.run {
		from = s.ends[n-2].at
	}
	r := s.runs[here.run]
	return &parley.Delta{
		Session: session, Turn: s.turn, Fence: s.fence, After: s.after, Stream: s.name,
		N: n, Kind: r.kind, Text: r.text.String()[from:here.at],
	}
}

// snapshot gives the first n deltas, put together.
func (s *stream) snapshot(session parley.SessionID, n int) *parley.Snapshot {
	snap := &parley.Snapshot{Session: session, Turn: s.turn, Stream: s.name, N: n}
	last := s.ends[n-1]
	for i, r := range s.runs[:last.run+1] {
		text := r.text.String()
		if i == last.run {
			text = text[:last.at]
		}
		snap.Parts = append(snap.Parts, parley.Part{Kind: r.kind, Text: text})
	}
	return snap
}
