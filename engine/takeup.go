package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/lifecycle"
)

const shutdownReason = lifecycle.ShutdownTimeout

// takeUp goes on with a turn that is open: it waits for a person, for a model, or
// the program stopped while it ran.
func (l *lane) takeUp(ctx context.Context, s parley.Session, t parley.Turn) (more bool, err error) {
	b := begun{session: s, turn: t, fence: s.Fence}
	if b.inputs, err = l.inputsOf(ctx, t.ID); err != nil {
		return false, err
	}
	if len(b.inputs) > 0 {
		b.principal = b.inputs[0].Principal
	}
	if t.CancelRequested {
		defer l.holds.hold(l.id)()
		return moved(l.closeOpen(ctx, &b, parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: parley.StopAborted, Usage: t.Usage}}))
	}
	now := l.cfg.Clock.Now()
	note := ""
	switch t.State {
	case parley.TurnAwaitingApproval:
		until, err := l.overdue(ctx, s, t.ID, now)
		if err != nil {
			return moved(err)
		}
		if !until.IsZero() {
			l.wakeAt(l.id, until)
			return false, nil
		}
	case parley.TurnParked:
		if now.Before(t.ParkedUntil) {
			l.wakeAt(l.id, t.ParkedUntil)
			return false, nil
		}
	default:
		note = "The program was restarted while this turn was under way. What is recorded above has happened; go on from there."
	}
	if ok, err := l.slot(ctx, b.principal); !ok {
		return false, err
	}
	if err := l.reenter(ctx, &b, note); err != nil {
		l.slots.release()
		return moved(err)
	}
	return l.oneTurn(ctx, b), nil
}

// inputsOf gives the inputs that a turn works on.
func (l *lane) inputsOf(ctx context.Context, turn parley.TurnID) ([]parley.Input, error) {
	inputs, err := l.store.OpenInputs(ctx, parley.SeeAll(), l.id, parley.InputRef{}, parley.MaxPageSize)
	return slices.DeleteFunc(inputs, func(in parley.Input) bool { return in.State != parley.InputRunning || in.Turn != turn }), err
}

// reenter claims a turn again.
func (l *lane) reenter(ctx context.Context, b *begun, note string) error {
	attempt, state, status := b.turn.Attempt+1, parley.TurnRunning, parley.StatusRunning
	change := parley.SessionChange{
		Session: l.id, Claim: true, Patch: parley.SessionPatch{Status: &status},
		Turns:  []parley.TurnChange{{ID: b.turn.ID, Attempt: &attempt, State: &state}},
		Events: []parley.Draft{{Turn: b.turn.ID, Body: &parley.TurnStarted{Attempt: attempt}}},
	}
	if note != "" {
		change.Events = append(change.Events, parley.Draft{Turn: b.turn.ID, Body: &parley.Message{
			ID: fmt.Sprintf("%s.note.%d", b.turn.ID, attempt), Role: parley.MessageSystem, Parts: []parley.Part{parley.TextPart(note)},
		}})
	}
	result, err := l.store.Commit(ctx, parley.Batch{
		At: l.cfg.Clock.Now(),
		Expect: []parley.Expectation{
			parley.FenceIs{Session: l.id, Fence: b.fence},
			parley.TurnIs{Session: l.id, Turn: b.turn.ID, State: b.turn.State},
		},
		Sessions: []parley.SessionChange{change},
	})
	if err != nil {
		return err
	}
	b.turn.Attempt, b.turn.State = attempt, parley.TurnRunning
	b.fence, b.lastSeq = result.Sessions[0].Fence, result.Sessions[0].LastSeq
	return nil
}

// closeOpen ends a turn that nobody runs.
func (l *lane) closeOpen(ctx context.Context, b *begun, end parley.TurnEnd) error {
	if b.turn.State != parley.TurnRunning {
		if err := l.reenter(ctx, b, ""); err != nil {
			return err
		}
	}
	return l.close(ctx, b, end)
}

// pending gives the questions of a turn that are open.
func (l *lane) pending(ctx context.Context, turn parley.TurnID) ([]parley.Approval, error) {
	all, err := l.store.Approvals(ctx, parley.SeeAll(), l.id)
	return slices.DeleteFunc(all, func(a parley.Approval) bool { return a.Turn != turn || a.State != parley.ApprovalPending }), err
}

// overdue answers what waited too long with its default, also what nobody can be
// asked, and gives the next deadline if something still waits.
func (l *lane) overdue(ctx context.Context, s parley.Session, turn parley.TurnID, now time.Time) (until time.Time, err error) {
	pending, err := l.pending(ctx, turn)
	if err != nil {
		return time.Time{}, err
	}
	for _, a := range pending {
		if s.Source.Interactive && now.Before(a.Deadline) {
			if until.IsZero() || a.Deadline.Before(until) {
				until = a.Deadline
			}
			continue
		}
		state := parley.ApprovalExpired
		if a.Default == parley.ApprovalApproved {
			state = parley.ApprovalApproved
		}
		if err := l.answer(ctx, a, state, ""); err != nil && !changedMeanwhile(err) {
			return time.Time{}, err
		}
	}
	return until, nil
}

// answer settles a question. Whoever is first wins.
func (e *Engine) answer(ctx context.Context, a parley.Approval, state parley.ApprovalState, by parley.IdentityID, more ...func(*parley.SessionChange)) error {
	change := parley.SessionChange{Session: a.Session}
	settled(&change, a, state, by)
	for _, f := range more {
		f(&change)
	}
	_, err := e.store.Commit(ctx, parley.Batch{
		At:       e.cfg.Clock.Now(),
		Expect:   []parley.Expectation{parley.ApprovalIs{Session: a.Session, Turn: a.Turn, Call: a.Call, State: parley.ApprovalPending}},
		Sessions: []parley.SessionChange{change},
	})
	return err
}

// settled adds the answer to a question to a change.
func settled(change *parley.SessionChange, a parley.Approval, state parley.ApprovalState, by parley.IdentityID) {
	change.Approvals = append(change.Approvals, parley.ApprovalChange{Turn: a.Turn, Call: a.Call, State: state, By: by})
	change.Events = append(change.Events, parley.Draft{Turn: a.Turn, Identity: by, Body: &parley.ApprovalResolved{Call: a.Call, State: state, By: by}})
}

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
	var events []parley.Draft
	if !told {
		events = append(events, parley.Draft{Turn: b.turn.ID, Body: forPeople(fmt.Sprintf("%s%d", outageID(b.turn.ID), b.turn.Attempt), "The model cannot be reached at the moment. Your message waits, and is answered as soon as it can be.")})
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
	err = l.backward(ctx, b.turn.ID, func(e parley.Event, m *parley.Message) bool {
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

// backward goes through the messages and starts of a turn, the last one first,
// until f has enough or the turn began.
func (l *lane) backward(ctx context.Context, turn parley.TurnID, f func(e parley.Event, m *parley.Message) bool) error {
	types := []parley.EventType{parley.EventMessage, parley.EventTurnStarted}
	for before := uint64(0); ; {
		page, err := l.store.Events(ctx, parley.SeeAll(), l.id, parley.EventQuery{Last: true, Before: before, Types: types, Limit: 200})
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(page) {
			if e.Turn != turn {
				continue
			}
			body, err := e.Decode()
			if err != nil {
				return err
			}
			m, _ := body.(*parley.Message)
			start, _ := body.(*parley.TurnStarted)
			if !f(e, m) || start != nil && start.Attempt == 1 {
				return nil
			}
		}
		if len(page) == 0 || page[0].Seq <= 1 {
			return nil
		}
		before = page[0].Seq
	}
}

// allowedTools are the tools that a person has allowed for the whole session.
func allowedTools(s parley.Session) map[string]bool {
	allowed := map[string]bool{}
	for name := range s.Metadata {
		if tool, ok := strings.CutPrefix(name, allowedPrefix); ok {
			allowed[tool] = true
		}
	}
	return allowed
}

const allowedPrefix = "parley.allowed."
