package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// killedResult is what came of the messages.
type killedResult struct{ closed int }

// check reads over the API what has become of everything that was acknowledged.
func (l *killedLoad) check() killedResult {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), killedPatience)
	defer cancel()
	bySession := map[string]map[string]string{}
	for id, p := range l.posts {
		if bySession[p.session] == nil {
			bySession[p.session] = map[string]string{}
		}
		bySession[p.session][id] = p.text
	}
	var all killedResult
	for n := range l.sessions {
		id := killedSession(n)
		l.settled(ctx, id)
		all.closed += l.checkSession(id, l.events(ctx, id), bySession[id])
	}
	return all
}

// settled waits until nothing is under way in a session.
func (l *killedLoad) settled(ctx context.Context, id string) {
	l.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var got struct {
			Session struct {
				Status   parley.Status   `json:"status"`
				Queued   int             `json:"queued"`
				Recovery parley.Recovery `json:"recovery"`
			} `json:"session"`
		}
		if _, err := l.ask(ctx, http.MethodGet, l.url+"/api/sessions/"+id, nil, &got); err != nil {
			l.t.Fatalf("%s: %v", id, err)
		}
		s := got.Session
		if s.Status == parley.StatusIdle && s.Queued == 0 && s.Recovery.State != parley.RecoveryResumePending {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			l.t.Fatalf("session %s is left %+v", id, s)
		}
	}
}

// killedEvent is an event as the API shows it.
type killedEvent struct {
	Type parley.EventType `json:"type"`
	Seq  uint64           `json:"seq"`
	Turn parley.TurnID    `json:"turn_id"`
	Data struct {
		Input  string             `json:"input_id"`
		Role   parley.MessageRole `json:"role"`
		Inputs []string           `json:"input_ids"`
		Parts  []parley.Part      `json:"parts"`
		Stop   parley.StopReason  `json:"stop_reason"`
		Error  json.RawMessage    `json:"error"`
	} `json:"data"`
}

// events gives the log of a session, which has no gaps.
func (l *killedLoad) events(ctx context.Context, id string) []killedEvent {
	l.t.Helper()
	var all []killedEvent
	for {
		var page struct {
			Events []killedEvent `json:"events"`
		}
		url := fmt.Sprintf("%s/api/sessions/%s/events?after=%d&limit=%d", l.url, id, len(all), parley.MaxPageSize)
		if _, err := l.ask(ctx, http.MethodGet, url, nil, &page); err != nil {
			l.t.Fatalf("%s: %v", id, err)
		}
		for _, e := range page.Events {
			if all = append(all, e); e.Seq != uint64(len(all)) {
				l.t.Fatalf("session %s has event %d where %d should be", id, e.Seq, len(all))
			}
		}
		if len(page.Events) < parley.MaxPageSize {
			return all
		}
	}
}

// checkSession checks that each message is in the log once, as it was written, and
// answered once. It gives how many were closed with an error instead.
func (l *killedLoad) checkSession(session string, events []killedEvent, posted map[string]string) (closed int) {
	l.t.Helper()
	admitted, shown := map[string]int{}, map[string][]parley.TurnID{}
	answers, ends := map[parley.TurnID][]string{}, map[parley.TurnID][]killedEvent{}
	for _, e := range events {
		switch {
		case e.Type == parley.EventInput:
			admitted[e.Data.Input]++
		case e.Type == parley.EventMessage && len(e.Data.Inputs) > 0:
			for _, id := range e.Data.Inputs {
				shown[id] = append(shown[id], e.Turn)
				if text := parley.PlainText(e.Data.Parts); !strings.Contains(text, posted[id]) {
					l.t.Errorf("session %s: message %s is %q, and was %q", session, id, text, posted[id])
				}
			}
		case e.Type == parley.EventMessage && e.Data.Role == parley.MessageAssistant:
			answers[e.Turn] = append(answers[e.Turn], parley.PlainText(e.Data.Parts))
		case e.Type == parley.EventTurnCompleted:
			ends[e.Turn] = append(ends[e.Turn], e)
		}
	}
	for id := range posted {
		if admitted[id] != 1 || len(shown[id]) != 1 {
			l.t.Errorf("session %s: message %s was acknowledged, and is there %d times, and was shown to the model %d times", session, id, admitted[id], len(shown[id]))
			continue
		}
		turn := shown[id][0]
		if len(ends[turn]) != 1 {
			l.t.Errorf("session %s: the turn of message %s ended %d times", session, id, len(ends[turn]))
			continue
		}
		end, said := ends[turn][0].Data, answers[turn]
		switch {
		case end.Stop == parley.StopDone && len(said) == 1 && said[0] == killedAnswer:
		case end.Stop == parley.StopError && len(end.Error) > 0:
			closed++
		default:
			l.t.Errorf("session %s: message %s was answered with %q, and its turn ended as %q", session, id, said, end.Stop)
		}
	}
	if len(admitted) != len(posted) {
		l.t.Errorf("session %s has %d messages, and %d were posted", session, len(admitted), len(posted))
	}
	return closed
}
