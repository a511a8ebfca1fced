package client

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/parley-run/parley"
)

// errGarbage ends a stream that has something on it which the server did not
// write.
var errGarbage = errors.New("the stream is not a Parley server's")

// envelope is an event as it stands on a stream, and in a page of them.
type envelope struct {
	Type     parley.EventType  `json:"type"`
	Session  parley.SessionID  `json:"session_id"`
	Seq      uint64            `json:"seq"`
	At       time.Time         `json:"at"`
	Turn     parley.TurnID     `json:"turn_id"`
	Identity parley.IdentityID `json:"identity"`
	Data     json.RawMessage   `json:"data"`
}

// The types of events that are not stored.
const (
	eventDelta    parley.EventType = "session:delta"
	eventSnapshot parley.EventType = "session:snapshot"
	eventStatus   parley.EventType = "session:status"
	eventResync   parley.EventType = "session:resync"
)

// status is what the server says about a stream itself.
type status struct {
	Status  string          `json:"status"` // accepted, closing, ended
	Receipt *parley.Receipt `json:"receipt"`
	Error   *problem        `json:"error"`
}

// event gives the stored event of an envelope.
func (v *envelope) event() *parley.Event {
	return &parley.Event{Session: v.Session, Seq: v.Seq, Type: v.Type, Turn: v.Turn, At: v.At, Identity: v.Identity, Data: storedData(v.Type, v.Data)}
}

// storedData gives the body of an event as [parley.DecodeBody] takes it: the API
// names inputs by their ids alone.
func storedData(t parley.EventType, data json.RawMessage) json.RawMessage {
	if t != parley.EventMessage && t != parley.EventDirectiveInjected {
		return data
	}
	var fields map[string]json.RawMessage
	var ids []string
	if !decodes(data, &fields) || !decodes(fields["input_ids"], &ids) {
		return data // there are none, or it was redacted
	}
	refs, err := json.Marshal(inputRefs(ids))
	if err != nil {
		return data
	}
	delete(fields, "input_ids")
	fields["inputs"] = refs
	stored, err := json.Marshal(fields)
	if err != nil {
		return data
	}
	return stored
}

func inputRefs(ids []string) []parley.InputRef {
	if len(ids) == 0 {
		return nil
	}
	refs := make([]parley.InputRef, len(ids))
	for i, id := range ids {
		refs[i] = parley.InputRef{Origin: Origin, ID: id}
	}
	return refs
}

// take deals with one block, and reports whether more is wanted.
func (f *follower) take(b block) (more bool, err error) {
	var v envelope
	if !decodes(b.data, &v) || v.Type == "" || f.session != "" && v.Session != f.session {
		return false, errGarbage
	}
	switch v.Type {
	case eventStatus:
		return f.status(&v)
	case eventResync:
		return f.resync(b, &v)
	}
	u, skip, err := f.update(&v)
	if err != nil {
		return false, err
	}
	if skip || v.Seq > 0 && f.session == "" && b.hasID && b.id == f.id {
		return true, nil
	}
	f.advance(b, &u)
	if !f.yield(u, nil) {
		return false, nil
	}
	return f.lastFunc == nil || !f.lastFunc(&u), nil
}

// update makes an update of an envelope; skip is set if the reader has it, or does
// not know what it is.
func (f *follower) update(v *envelope) (u parley.Update, skip bool, err error) {
	switch {
	case v.Type == eventDelta:
		u.Delta = &parley.Delta{}
		if !decodes(v.Data, u.Delta) || u.Delta.Stream == "" || u.Delta.N < 1 {
			return u, false, errGarbage
		}
		u.Delta.Session, u.Delta.Turn = v.Session, v.Turn
		if f.session == "" || u.Delta.Stream != f.stream {
			return u, false, nil
		}
		if u.Delta.N > f.n+1 {
			return u, false, errGarbage // one is missing: the next connection begins with it
		}
		return u, u.Delta.N <= f.n, nil
	case v.Type == eventSnapshot:
		u.Snapshot = &parley.Snapshot{}
		if !decodes(v.Data, u.Snapshot) || u.Snapshot.Stream == "" {
			return u, false, errGarbage
		}
		u.Snapshot.Session, u.Snapshot.Turn = v.Session, v.Turn
		return u, u.Snapshot.Stream == f.stream && u.Snapshot.N < f.n, nil
	case v.Seq == 0:
		return u, true, nil
	}
	u.Event = v.event()
	if f.session != "" && f.counted {
		if f.gapless && v.Seq > f.seq+1 {
			return u, false, errGarbage
		}
		return u, v.Seq <= f.seq, nil
	}
	return u, false, nil
}

// advance notes how far the reader comes with an update, and gives it its
// position.
func (f *follower) advance(b block, u *parley.Update) {
	f.failed = 0
	if b.hasID {
		f.id, f.fromNow = b.id, false
	}
	if f.session != "" {
		switch {
		case u.Delta != nil:
			f.stream, f.n = u.Delta.Stream, u.Delta.N
		case u.Snapshot != nil:
			f.stream, f.n = u.Snapshot.Stream, u.Snapshot.N
		case u.Event != nil:
			f.seq, f.counted = u.Event.Seq, true
		}
	}
	u.Position = parley.Position{Epoch: f.id, Seq: f.seq, Stream: f.stream, N: f.n}
}

// resync deals with the end of what can be continued. Who was too slow goes on.
func (f *follower) resync(b block, v *envelope) (more bool, err error) {
	var data struct {
		Reason parley.ResyncReason `json:"reason"`
	}
	if !decodes(v.Data, &data) || data.Reason == "" {
		return false, errGarbage
	}
	if data.Reason == parley.ResyncSlow {
		return false, parley.Errorf(parley.CodeUnavailable, "this reader was too slow for the stream")
	}
	f.yield(parley.Update{Position: parley.Position{Epoch: b.id}, Resync: data.Reason}, nil)
	return false, nil
}

// status deals with what the server says about the stream.
func (f *follower) status(v *envelope) (more bool, err error) {
	var s status
	if !decodes(v.Data, &s) {
		return false, errGarbage
	}
	switch {
	case s.Error != nil:
		return false, s.Error.asError(&RemoteError{})
	case s.Status == "closing":
		return false, parley.Errorf(parley.CodeUnavailable, "the server stops")
	case f.statusFunc != nil:
		return !f.statusFunc(s), nil
	}
	return true, nil
}
