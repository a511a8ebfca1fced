package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// posting is messages over some sessions of a daemon, one after the other to each.
type posting struct {
	name     string
	sessions int
	posted   int
}

func (p *posting) ids() []string {
	ids := make([]string, p.sessions)
	for i := range ids {
		ids[i] = p.name + "_" + strconv.Itoa(i)
	}
	return ids
}

// postID is the name of the n-th post, which its text begins with.
func postID(n int) string { return "post-" + strconv.Itoa(n) }

// post posts the next n messages, each at its time, and gives how long each took
// from then until it was acknowledged, in milliseconds.
func (p *posting) post(ctx context.Context, l *loader, n int) ([]float64, error) {
	answer, err := l.do(ctx, loadJob{Post: &postJob{Sessions: p.ids(), From: p.posted, Count: n, Every: postsEvery}})
	if err != nil {
		return nil, err
	}
	p.posted += n
	return answer.Took, nil
}

// verify reads back what was posted: in each session all of it, once and in order,
// and each of it answered once.
func (p *posting) verify(ctx context.Context, d *daemonBed, progress func(string, int64, int64)) error {
	ctx, over := context.WithTimeoutCause(ctx, stretchLimit, lost("not all messages were answered within %s", stretchLimit))
	defer over()
	for i, id := range p.ids() {
		progress("reading it back", int64(i), int64(p.sessions))
		var want []string
		for n := i; n < p.posted; n += p.sessions {
			want = append(want, postID(n))
		}
		events, err := d.settled(ctx, id, len(want))
		if err != nil {
			return err
		}
		if err := answeredOnce(id, events, want); err != nil {
			return err
		}
	}
	return nil
}

// seenEvent is an event as the API shows it.
type seenEvent struct {
	Type parley.EventType `json:"type"`
	Seq  uint64           `json:"seq"`
	Turn parley.TurnID    `json:"turn_id"`
	Data json.RawMessage  `json:"data"`
}

// settled gives the log of a session once so many turns of it are over.
func (d *daemonBed) settled(ctx context.Context, id string, turns int) ([]seenEvent, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var events []seenEvent
	over := 0
	for {
		var page struct {
			Events []seenEvent `json:"events"`
		}
		after := uint64(0)
		if len(events) > 0 {
			after = events[len(events)-1].Seq
		}
		err := d.get(ctx, fmt.Sprintf("/api/sessions/%s/events?after=%d&limit=%d", id, after, parley.MaxPageSize), &page)
		if err != nil {
			return nil, causeOr(ctx, err)
		}
		for _, e := range page.Events {
			if e.Type == parley.EventTurnCompleted {
				over++
			}
		}
		events = append(events, page.Events...)
		if len(page.Events) == parley.MaxPageSize {
			continue
		}
		if over >= turns {
			return events, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// causeOr gives why ctx has ended, or err if it has not.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// answeredOnce checks the log of a session: no gap, the posts in their order, each
// once, and a turn of its own for each with one answer.
func answeredOnce(session string, events []seenEvent, want []string) error {
	var admitted, shown, answered []string
	of := map[parley.TurnID]string{} // the post of a turn
	for i, e := range events {
		if e.Seq != uint64(i)+1 {
			return lost("session %s has event %d where %d should be", session, e.Seq, i+1)
		}
		var data struct {
			Input  string            `json:"input_id"`
			Role   string            `json:"role"`
			Inputs []string          `json:"input_ids"`
			Parts  []parley.Part     `json:"parts"`
			Stop   parley.StopReason `json:"stop_reason"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return lost("event %d of session %s cannot be read: %v", e.Seq, session, err)
		}
		switch {
		case e.Type == parley.EventInput:
			admitted = append(admitted, data.Input)
		case e.Type == parley.EventMessage && len(data.Inputs) > 0:
			id := strings.Join(data.Inputs, "+")
			if text := parley.PlainText(data.Parts); !strings.HasPrefix(text, id+" ") {
				return lost("message %s of session %s has the text %.40q", id, session, text)
			}
			shown = append(shown, id)
			of[e.Turn] = id
		case e.Type == parley.EventMessage && data.Role == string(parley.MessageAssistant):
			if text := parley.PlainText(data.Parts); text != httpAnswer {
				return lost("message %s of session %s was answered with %.40q", of[e.Turn], session, text)
			}
			answered = append(answered, of[e.Turn])
		case e.Type == parley.EventTurnCompleted && data.Stop != parley.StopDone:
			return lost("the turn of message %s of session %s ended as %q", of[e.Turn], session, data.Stop)
		}
	}
	for what, got := range map[string][]string{"admitted": admitted, "shown to the model": shown, "answered": answered} {
		if !slices.Equal(got, want) {
			return lost("session %s was posted %v, and has %s %v", session, want, what, got)
		}
	}
	return nil
}
