package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// Resume makes a session its key's current one again. The one that was goes out of
// use, and stays.
func (h *Handle) Resume(ctx context.Context, id parley.SessionID) (parley.Session, error) {
	for range maxAttempts {
		s, err := h.on(ctx, access.OpResume, id)
		if err != nil {
			return parley.Session{}, err
		}
		var instead parley.SessionID
		if s.Key != "" {
			entry, err := h.engine.keys.lookup(ctx, string(s.Key))
			if err != nil {
				return parley.Session{}, err
			}
			if instead = entry.Current; instead == id {
				return s.Session, nil
			}
		}
		err = h.resume(ctx, s.Session, instead)
		if !changedMeanwhile(err) {
			if err != nil {
				return parley.Session{}, err
			}
			return h.engine.store.Session(ctx, parley.SeeAll(), id)
		}
	}
	return parley.Session{}, errRestless()
}

// resume makes a session current, instead of the one that is, in one commit.
func (h *Handle) resume(ctx context.Context, s parley.Session, instead parley.SessionID) error {
	release := h.engine.holds.hold(s.ID, instead)
	defer release()
	idle := parley.StatusIdle
	b := parley.Batch{At: h.engine.cfg.Clock.Now(), Expect: []parley.Expectation{parley.StatusIn{Session: s.ID, Any: []parley.Status{s.Status}}}}
	var stopped []parley.TurnChange
	if s.Key != "" {
		b.Expect = append(b.Expect, parley.KeyIs{Key: s.Key, Session: instead})
		b.Keys = []parley.KeyChange{{Key: s.Key, Session: s.ID}}
	}
	if instead != "" {
		other, err := h.engine.store.Session(ctx, parley.SeeAll(), instead)
		if errors.Is(err, parley.ErrNotFound) {
			return errMoved
		}
		if err != nil {
			return err
		}
		ended, expect, err := h.ended(ctx, other, "resumed", s.ID)
		if err != nil {
			return err
		}
		b.Expect = append(b.Expect, expect...)
		b.Sessions = append(b.Sessions, ended)
		stopped = ended.Turns
	}
	change := parley.SessionChange{
		Session: s.ID, Patch: parley.SessionPatch{Ended: &parley.Ending{}},
		Events: []parley.Draft{{Identity: h.caller.Principal().Identity, Body: &parley.Resumed{Instead: instead}}},
	}
	if s.Status == parley.StatusInactive {
		change.Patch.Status = &idle
	}
	b.Sessions = append(b.Sessions, change)
	if _, err := h.engine.store.Commit(ctx, b); err != nil {
		return err
	}
	for _, c := range stopped {
		h.engine.stopRunning(instead, c.ID)
	}
	if instead != "" {
		h.engine.cfg.ForgetFunc(instead)
		h.engine.wake(instead)
	}
	h.engine.wake(s.ID)
	return nil
}

// Fork makes a session that shares another's events up to a seq, 0 being the last
// one, and goes on by itself from there. It has no key: who makes it takes part in
// it alone.
func (h *Handle) Fork(ctx context.Context, id parley.SessionID, at uint64) (parley.Session, error) {
	s, err := h.on(ctx, access.OpFork, id)
	if err != nil {
		return parley.Session{}, err
	}
	if at == 0 {
		at = s.LastSeq
	}
	if at > s.LastSeq {
		return parley.Session{}, parley.Errorf(parley.CodeInvalid, "the session has %d events; it cannot be forked at %d", s.LastSeq, at)
	}
	who := h.caller.Principal().Identity
	next := h.engine.sessionID(id.Namespace())
	_, err = h.engine.store.Commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Sessions: []parley.SessionChange{{
		Session: next,
		Create: &parley.NewSession{
			Agent: s.Agent, Source: s.Source, Type: parley.SessionDirect, Title: parley.Title{}, Fork: &parley.ForkPoint{Session: id, Seq: at},
		},
		Events: []parley.Draft{{Identity: who, Body: &parley.Forked{From: id, AtSeq: at}}, {Identity: who, Body: &parley.ParticipantChanged{Identity: who}}},
	}}})
	if err != nil {
		return parley.Session{}, err
	}
	return h.engine.store.Session(ctx, parley.SeeAll(), next)
}

// Rewound is what a rewind took back.
type Rewound struct {
	Turns int
	// Text is what people had said in the first of the turns, to be said again in
	// other words.
	Text string
}

// Rewind takes the last turns of a session out of the model's sight. They stay in
// the log. It is [parley.CodeConflict] while a turn is open.
func (h *Handle) Rewind(ctx context.Context, id parley.SessionID, turns int) (Rewound, error) {
	s, err := h.on(ctx, access.OpRewind, id)
	if err != nil {
		return Rewound{}, err
	}
	if turns < 1 {
		return Rewound{}, parley.Errorf(parley.CodeInvalid, "a rewind takes back at least one turn")
	}
	events, err := h.engine.events(ctx, id, 0, 0, windowTypes)
	if err != nil {
		return Rewound{}, err
	}
	to, undone, err := rewindTo(events, turns)
	if err != nil {
		return Rewound{}, err
	}
	_, err = h.engine.store.Commit(ctx, parley.Batch{
		At: h.engine.cfg.Clock.Now(),
		Expect: []parley.Expectation{
			parley.FenceIs{Session: id, Fence: s.Fence},
			parley.StatusIn{Session: id, Any: []parley.Status{parley.StatusIdle, parley.StatusInactive}},
		},
		Sessions: []parley.SessionChange{{Session: id, Events: []parley.Draft{{
			Identity: h.caller.Principal().Identity, Body: &parley.Rewound{ToSeq: to, Turns: undone.Turns},
		}}}},
	})
	if _, moved := errors.AsType[*parley.ExpectError](err); moved {
		return Rewound{}, parley.Errorf(parley.CodeConflict, "a turn is under way; stop it first")
	}
	return undone, err
}

// rewindTo finds the seq before the last turns that are still in sight.
func rewindTo(events []parley.Event, turns int) (to uint64, undone Rewound, err error) {
	type began struct {
		turn parley.TurnID
		seq  uint64
		text string
	}
	var seen []began
	for _, e := range events {
		body, err := e.Decode()
		if err != nil {
			return 0, Rewound{}, err
		}
		switch b := body.(type) {
		case *parley.Rewound:
			seen = slices.DeleteFunc(seen, func(s began) bool { return s.seq > b.ToSeq })
		case *parley.Message:
			if e.Turn == "" || b.Hidden || b.Role != parley.MessageUser || slices.ContainsFunc(seen, func(s began) bool { return s.turn == e.Turn }) {
				continue
			}
			seen = append(seen, began{e.Turn, e.Seq, parley.PlainText(b.Parts)})
		}
	}
	if len(seen) == 0 {
		return 0, Rewound{}, parley.Errorf(parley.CodeConflict, "there is no turn to take back")
	}
	first := seen[max(len(seen)-turns, 0)]
	return first.seq - 1, Rewound{Turns: min(turns, len(seen)), Text: first.text}, nil
}

// Redact takes away what somebody wrote in some events, and every copy of it.
func (h *Handle) Redact(ctx context.Context, id parley.SessionID, seqs []uint64, reason string) error {
	if _, err := h.on(ctx, access.OpRedact, id); err != nil {
		return err
	}
	_, err := h.engine.store.Commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Sessions: []parley.SessionChange{{
		Session: id, Redact: seqs,
		Events: []parley.Draft{{Identity: h.caller.Principal().Identity, Body: &parley.Redacted{Seqs: seqs, Reason: reason}}},
	}}})
	return err
}

// Delete removes a session for good. It is [parley.CodeConflict] while a turn is
// open, and for a group's session, which an owner can only purge.
func (h *Handle) Delete(ctx context.Context, id parley.SessionID, purge bool) error {
	op := access.OpDelete
	if purge {
		op = access.OpPurge
	}
	s, err := h.on(ctx, op, id)
	if err != nil {
		return err
	}
	b := parley.Batch{
		At: h.engine.cfg.Clock.Now(),
		Expect: []parley.Expectation{
			parley.FenceIs{Session: id, Fence: s.Fence},
			parley.StatusIn{Session: id, Any: []parley.Status{parley.StatusIdle, parley.StatusInactive}},
			parley.QueuedAtMost{Session: id},
		},
		Sessions: []parley.SessionChange{{Session: id, Delete: true}},
	}
	_, err = h.engine.store.Commit(ctx, b)
	if _, moved := errors.AsType[*parley.ExpectError](err); moved {
		return parley.Errorf(parley.CodeConflict, "something is under way in the session; stop it first")
	}
	if err == nil {
		h.engine.cfg.ForgetFunc(id)
	}
	return err
}
