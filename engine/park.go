package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// park lets a turn wait for models that are down, each time longer. People are
// told once. After [Limits.Outage] it ends with an error.
func (l *lane) park(ctx context.Context, b *begun, after time.Duration, cause error) error {
	now := l.cfg.Clock.Now()
	since, told, err := l.parkedSince(ctx, *b)
	if err != nil {
		return err
	}
	if told && now.Sub(since) >= l.cfg.Limits.Outage {
		return l.close(ctx, b, parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: parley.StopError, Usage: b.turn.Usage, Error: &parley.TurnError{
			Code: "model_unavailable", Message: fmt.Sprintf("No model could be reached for %s. Send the message again later.", l.cfg.Limits.Outage),
		}}})
	}
	until := now.Add(max(after, parkPause(now.Sub(since))))
	parked := parley.TurnParked
	var events []parley.NewEvent
	if !told {
		events = append(events, parley.NewEvent{Turn: b.turn.ID, Body: forPeople(fmt.Sprintf("%s%d", outageID(b.turn.ID), b.turn.Attempt), "The model cannot be reached at the moment. Your message waits, and is answered as soon as it can be.")})
	}
	l.cfg.Log.Warn("a turn waits for its model", "session", l.id, "turn", b.turn.ID, "until", until, "cause", cause)
	return l.storeWaiting(ctx, *b, parley.SessionPatch{}, parley.TurnChange{ID: b.turn.ID, State: &parked, ParkedUntil: &until, Usage: &b.turn.Usage}, events...)
}

// parkPause is how long a turn waits that has been waiting so long: a quarter of
// that, within bounds.
func parkPause(waited time.Duration) time.Duration {
	return min(max(waited/4, 2*time.Second), time.Minute)
}

// outageID begins the ids of the messages that tell people of an outage.
func outageID(turn parley.TurnID) string { return string(turn) + ".outage." }

// parkedSince says since when a turn has been waiting for a model: since people
// were told, unless it got on since.
func (l *lane) parkedSince(ctx context.Context, b begun) (since time.Time, told bool, err error) {
	if b.fresh {
		return l.cfg.Clock.Now(), false, nil
	}
	var found *parley.Event
	err = turnBackward(ctx, l.store, l.id, b.turn.ID, func(e parley.Event, m *parley.Message) bool {
		if m == nil {
			return true
		}
		if strings.HasPrefix(m.ID, outageID(b.turn.ID)) {
			found = &e
		}
		return found == nil && m.Role != parley.MessageAssistant && m.Role != parley.MessageTool
	})
	if err != nil || found == nil {
		return l.cfg.Clock.Now(), false, err
	}
	return found.At, true, nil
}
