package storetest

import (
	"slices"

	"github.com/parley-run/parley"
)

// redact takes away the body of an event that the session shows, and every copy
// of it: a message copies the inputs it shows, so either goes with the other.
func (o *oracle) redact(s *oracleSession, seq uint64) error {
	if seq == 0 || seq > uint64(len(s.shows)) {
		return missing("event %d of session %s", seq, s.row.ID)
	}
	e := o.event(s.shows[seq-1])
	if !e.Type.Redactable() {
		return parley.Errorf(parley.CodeInvalid, "a %s event cannot be redacted", e.Type)
	}
	switch body := e.body.(type) {
	case *parley.Admitted:
		o.eraseInput(o.inputs[parley.InputRef{Origin: body.Origin, ID: body.ID}])
	case *parley.Message:
		for _, ref := range body.Inputs {
			o.eraseInput(o.inputs[ref])
		}
	}
	o.erase(e)
	return nil
}

// eraseInput takes away what an input said: in its own event, and in the message
// that shows it, also if another input took that away before: a delivery of it may
// have been written anew.
func (o *oracle) eraseInput(in oracleInput) {
	o.erase(o.event(in.event))
	for i := range o.events {
		e := &o.events[i]
		if e.writer == in.owner && e.Type == parley.EventMessage && in.row.Shown > 0 && e.Seq == in.row.Shown {
			o.erase(e)
		}
	}
}

// erase puts a tombstone in place of one body, and clears what was made from it.
func (o *oracle) erase(e *oracleEvent) {
	m, isMessage := e.body.(*parley.Message)
	e.body, e.Data = &parley.Tombstone{Of: e.Type}, parley.TombstoneData

	for _, s := range o.sessions {
		i := slices.Index(s.shows, e.Pos)
		if i < 0 {
			continue
		}
		seq := uint64(i) + 1
		if s.row.Title.Seq == seq {
			s.row.Title = parley.Title{}
		}
		for j := range o.deliveries {
			if d := &o.deliveries[j]; d.Session == s.row.ID && d.Seq == seq {
				d.Text, d.Markup, d.Media = "", "", nil
			}
		}
	}
	if isMessage && o.alive(e.Session, e.writer) {
		o.sessions[e.Session].eraseFromTurn(e.Turn, m.Parts)
	}
}

// eraseFromTurn clears the results in the journal that a message copied, and the opaque state of its turn.
func (s *oracleSession) eraseFromTurn(turn parley.TurnID, parts []parley.Part) {
	if t, known := s.turns[turn]; known {
		t.Opaque = nil
		s.turns[turn] = t
	}
	for _, p := range parts {
		if p.Result == nil {
			continue
		}
		for i := range s.calls {
			if c := &s.calls[i]; c.Turn == turn && c.ID == p.Result.CallID {
				c.Result = nil
			}
		}
	}
}

// redacted reports whether what an input held was taken away.
func (o *oracle) redacted(in oracleInput) bool {
	_, gone := o.event(in.event).body.(*parley.Tombstone)
	return gone
}

// readable reports whether an input still has its content.
func (o *oracle) readable(in oracleInput) bool {
	return o.alive(in.row.Session, in.owner) && !o.redacted(in)
}
