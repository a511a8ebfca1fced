package chat

import (
	"slices"
	"strconv"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat/markdown"
)

// apply takes what the stream brought. It reports false if the session has to be read
// anew: a piece is missing.
func (t *transcript) apply(u parley.Update) bool {
	switch {
	case u.Resync != "":
		return false
	case u.Event != nil:
		if u.Event.Seq <= t.seq {
			return true
		}
		t.seq = u.Event.Seq
		t.marking(u.Event)
		t.event(u.Event)
	case u.Delta != nil:
		return t.delta(u.Delta)
	case u.Snapshot != nil:
		t.snapshot(u.Snapshot)
	}
	return true
}

func (t *transcript) event(e *parley.Event) {
	at := place{e.Seq, e.At, e.Identity}
	body, err := e.Decode()
	if err != nil {
		t.note(at, "an entry of the log cannot be read: "+err.Error(), true)
		return
	}
	if t.turn != nil && t.turn.id == "" {
		t.turn.id = e.Turn
	}
	switch b := body.(type) {
	case *parley.Admitted:
		t.admitted(b, at)
	case *parley.Message:
		t.message(b, at)
	case *parley.TurnStarted:
		t.started(e)
	case *parley.TurnCompleted:
		t.completed(b, at)
	case *parley.ToolStarted:
		t.progress(b.Call, b.Tool, callRunning, at)
	case *parley.ToolCompleted:
		state := callDone
		if b.State == parley.CallUnknown {
			state = callUnknown
		}
		t.progress(b.Call, b.Tool, state, at)
	case *parley.ApprovalRequested:
		t.progress(b.Call, b.Tool, callAsked, at)
		t.ask(question{call: b.Call, tool: b.Tool, deadline: b.Deadline, fallback: b.Default})
	case *parley.ApprovalResolved:
		t.resolved(b)
	case *parley.Rewound:
		t.rewound(b, at)
	case *parley.Redacted:
		t.redacted(b)
	case *parley.ParticipantChanged:
		t.shared = t.shared || !b.Left && !t.mine(b.Identity)
	default:
		t.life(body, at)
	}
}

// life notes what becomes of the session itself.
func (t *transcript) life(body parley.EventBody, at place) {
	switch b := body.(type) {
	case *parley.Reset:
		t.note(at, "a fresh start; what was said before is in "+string(b.From), false)
	case *parley.Forked:
		t.turn, t.stream = nil, nil // what was under way there goes on there
		t.note(at, "a fork of "+string(b.From), false)
	case *parley.Suspended:
		t.note(at, "this conversation was interrupted several times and is paused; write something to go on", true)
	case *parley.Resumed:
		t.next = ""
		t.note(at, "resumed", false)
	case *parley.DeliveryFailed:
		t.note(at, "the answer could not be brought to "+b.Channel+": "+b.Reason, true)
	case *parley.Ended:
		t.next = b.Next
		t.note(at, "this conversation has ended", false)
	}
}

// admitted takes an input. A command stands where it was given; everything else is
// shown by the message that it becomes.
func (t *transcript) admitted(b *parley.Admitted, at place) {
	t.seen[b.ID] = true
	if b.Kind != parley.InputCommand {
		t.inputs[b.ID] = b
		return
	}
	it := &item{seq: at.seq, kind: itemSaid, at: at.at, own: t.mine(at.by), text: saidText(b.Parts), via: surface(b.ID, b, at.by)}
	if t.shared || !it.own {
		it.by = speaker(nil, b, at.by)
	}
	t.put(it)
}

func (t *transcript) started(e *parley.Event) {
	if t.stream != nil {
		t.note(place{seq: e.Seq, at: e.At}, "the answer was interrupted, and is taken up again", false)
	}
	t.stream = nil
	t.turn = &turn{id: e.Turn, since: e.At}
}

func (t *transcript) completed(b *parley.TurnCompleted, at place) {
	t.stream, t.turn, t.asked = nil, nil, nil
	for _, it := range t.calls {
		switch it.call.state {
		case callRunning:
			it.call.state = callUnknown
		case callAsked:
			it.call.state, it.call.decision = callNamed, parley.ApprovalCanceled
		default:
			continue
		}
		it.changed()
	}
	switch b.StopReason {
	case parley.StopAborted:
		t.note(at, "stopped", false)
	case parley.StopLength:
		t.note(at, "the answer was cut off, as it got too long", true)
	case parley.StopContentFilter:
		t.note(at, "the answer was cut off by the provider's filter", true)
	case parley.StopError:
		t.note(at, failure(b.Error), true)
	}
}

func failure(e *parley.TurnError) string {
	switch {
	case e == nil:
		return "the turn failed"
	case e.Message == "":
		return "the turn failed (" + e.Code + ")"
	}
	return e.Message + " (" + e.Code + ")"
}

func (t *transcript) progress(id parley.CallID, tool string, state callState, at place) {
	it := t.callItem(id, tool, at, 0)
	if it.call.result == nil {
		it.call.state = state
		it.changed()
	}
}

func (t *transcript) resolved(b *parley.ApprovalResolved) {
	t.answered(b.Call)
	if it := t.calls[b.Call]; it != nil {
		it.call.decision = b.State
		if it.call.state == callAsked {
			it.call.state = callNamed
		}
		it.changed()
	}
}

func (t *transcript) rewound(b *parley.Rewound, at place) {
	for _, it := range t.items {
		if it.seq > b.ToSeq && it.seq < at.seq {
			it.undone = true
			it.changed()
		}
	}
	turns := "the last turn was"
	if b.Turns != 1 {
		turns = strconv.Itoa(b.Turns) + " turns were"
	}
	t.note(at, turns+" taken back", false)
}

func (t *transcript) redacted(b *parley.Redacted) {
	for _, it := range t.items {
		if slices.Contains(b.Seqs, it.seq) {
			*it = item{seq: it.seq, sub: it.sub, kind: itemNote, at: it.at, text: removedText}
		}
	}
	for id, it := range t.calls {
		if it.call == nil {
			delete(t.calls, id)
		}
	}
}

// delta goes on with a reply. One that is known is left out; one that leaves a gap
// means to read anew.
func (t *transcript) delta(d *parley.Delta) bool {
	if t.messages[d.Stream] {
		return true
	}
	if t.stream == nil || t.stream.id != d.Stream {
		if d.N != 1 {
			return false
		}
		t.stream = &stream{id: d.Stream}
	}
	switch {
	case d.N <= t.stream.n:
		return true
	case d.N != t.stream.n+1:
		return false
	}
	t.stream.n = d.N
	t.grow(d.Kind, d.Text)
	return true
}

// grow appends to the reply that is being written.
func (t *transcript) grow(k parley.PartKind, text string) {
	s := t.stream
	last := len(s.parts) - 1
	if last < 0 || s.parts[last].kind != kindOf(k) {
		s.parts = append(s.parts, &item{seq: endSeq, sub: len(s.parts), kind: kindOf(k), doc: markdown.New(t.style)})
		last++
	}
	s.parts[last].doc.Append(clean(text))
	s.parts[last].changed()
}

// snapshot takes a reply as far as it is.
func (t *transcript) snapshot(sn *parley.Snapshot) {
	if t.messages[sn.Stream] || t.stream != nil && t.stream.id == sn.Stream && t.stream.n >= sn.N {
		return
	}
	t.stream = &stream{id: sn.Stream, n: sn.N}
	for _, p := range sn.Parts {
		if p.Text != "" {
			t.grow(p.Kind, p.Text)
		}
	}
}

// settle ends a stream whose message was stored, and gives what was drawn of it.
func (t *transcript) settle(id string) []*item {
	if t.stream == nil || t.stream.id != id {
		return nil
	}
	parts := t.stream.parts
	t.stream = nil
	return parts
}
