package parley

import "time"

// Tally is what events determine about their session: the sums a store keeps
// with the session row and the doctor compares with the log. Add it up from the
// session's own log, in order.
type Tally struct {
	Counters     Counters
	Preview      string // of the last message that has one
	PreviewSeq   uint64
	LastActivity time.Time
	// Participants are the changes in who takes part, in order, one per
	// identity: the last one counts.
	Participants []ParticipantChanged
}

// Add takes the next event into account. A redacted message still counts as a
// message; its preview is gone with it.
func (t *Tally) Add(seq uint64, at time.Time, body EventBody) {
	if body.EventType().Activity() {
		t.LastActivity = at
	}
	switch b := body.(type) {
	case *Tombstone:
		if b.Of == EventMessage {
			t.Counters.Messages++
		}
	case *Message:
		t.Counters.Messages++
		if text := b.Preview(); text != "" {
			t.Preview, t.PreviewSeq = text, seq
		}
	case *TurnCompleted:
		if !b.Uncounted {
			t.Counters.Turns++
		}
		t.Counters.Usage = t.Counters.Usage.Plus(b.Usage)
		if b.PromptTokens > 0 {
			t.Counters.LastPromptTokens = b.PromptTokens
		}
	case *ParticipantChanged:
		for i := range t.Participants {
			if t.Participants[i].Identity == b.Identity {
				t.Participants[i] = *b
				return
			}
		}
		t.Participants = append(t.Participants, *b)
	}
}
