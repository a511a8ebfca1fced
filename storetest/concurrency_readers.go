package storetest

import (
	"fmt"

	"github.com/parley-run/parley"
)

// followWhileWritten follows the log, page by page, as a feed does.
func followWhileWritten(f *fixture) {
	w := newWriting(f, tenth(100))
	var seen []parley.Event
	position := uint64(0)
	w.during(f, func() error {
		events, next, err := logAfter(f.Context(), f.store, all, position, 10)
		seen, position = append(seen, events...), next
		return err
	})
	w.check(f)
	f.equal("what the reader saw", f.log(), seen)
}

// listWhileWritten reads the list of sessions while all but some of them move.
// Those are at its end, where nobody overtakes them.
func listWhileWritten(f *fixture) {
	var still []parley.SessionID
	for i := range 10 {
		id := parley.SessionID(fmt.Sprintf("cli:still-%d", i))
		f.commit(parley.Batch{
			At: startOfTime.AddDate(-1, 0, 0), Sessions: []parley.SessionChange{newSession(id, say("m", "x"))},
		})
		still = append([]parley.SessionID{id}, still...)
	}
	isStill := map[parley.SessionID]bool{}
	for _, id := range still {
		isStill[id] = true
	}
	newWriting(f, tenth(50)).during(f, func() error {
		sessions, err := allSessions(f.Context(), f.store, all, parley.SessionQuery{Limit: 9})
		if err != nil {
			return err
		}
		var seen []parley.SessionID
		for _, s := range sessions {
			if isStill[s.ID] {
				seen = append(seen, s.ID)
			}
		}
		if d := diff(still, seen); d != "" {
			return fmt.Errorf("sessions that did not move: %s", d)
		}
		return nil
	})
}

// seeWholeBatches reads single sessions while each batch appends two events to
// one of them: no reader ever sees one without the other, nor a row that does
// not fit the events.
func seeWholeBatches(f *fixture) {
	newWriting(f, tenth(50)).during(f, func() error {
		s, err := f.store.Session(f.Context(), all, home)
		if err != nil {
			return err
		}
		events, err := f.store.Events(f.Context(), all, home, parley.EventQuery{Last: true, Limit: 2})
		if err != nil {
			return err
		}
		if s.LastSeq%2 != 0 || s.Counters.Messages != int64(s.LastSeq) {
			return fmt.Errorf("last seq %d with %d messages: half a batch", s.LastSeq, s.Counters.Messages)
		}
		if len(events) > 0 && (events[len(events)-1].Seq%2 != 0 || events[len(events)-1].Seq < s.LastSeq) {
			return fmt.Errorf("last event %d after last seq %d", events[len(events)-1].Seq, s.LastSeq)
		}
		return nil
	})
}
