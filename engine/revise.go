package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// Resume makes a session its key's current one again. The one that was goes out of
// use, and stays.
func (h *Handle) Resume(ctx context.Context, id parley.SessionID) (parley.Session, error) {
	s, err := h.resumeAt(ctx, id, "")
	return shownSession(s), err
}

// resumeAt makes a session the current one of a key, be it another than its own,
// which it has from then on. Empty: its own.
func (h *Handle) resumeAt(ctx context.Context, id parley.SessionID, key parley.Key) (parley.Session, error) {
	for range maxAttempts {
		s, err := h.on(ctx, access.OpResume, id)
		if err != nil {
			return parley.Session{}, err
		}
		where := cmp.Or(key, s.Key)
		var instead parley.SessionID
		if where != "" {
			entry, err := h.engine.keys.lookup(ctx, string(where))
			if err != nil {
				return parley.Session{}, err
			}
			if instead = entry.Current; instead == id {
				return s.Session, nil
			}
		}
		err = h.resume(ctx, s, where, instead)
		if !changedMeanwhile(err) || h.rider.stale(err) {
			if err != nil {
				return parley.Session{}, err
			}
			return h.engine.store.Session(ctx, parley.SeeAll(), id)
		}
	}
	return parley.Session{}, errRestless()
}

// resume makes a session the current one of a key, instead of the one that is, in
// one commit.
func (h *Handle) resume(ctx context.Context, s spot, key parley.Key, instead parley.SessionID) error {
	release := h.engine.holds.hold(s.ID, instead)
	defer release()
	idle := parley.StatusIdle
	b := parley.Batch{At: h.engine.cfg.Clock.Now(), Audit: s.audit, Expect: []parley.Expectation{parley.StatusIn{Session: s.ID, Any: []parley.Status{s.Status}}}}
	var stopped []parley.TurnChange
	if key != "" {
		b.Expect = append(b.Expect, parley.KeyIs{Key: key, Session: instead})
		b.Keys = []parley.KeyChange{{Key: key, Session: s.ID}}
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
		Events: []parley.NewEvent{{Identity: h.caller.Principal().Identity, Body: &parley.Resumed{Instead: instead}}},
	}
	if s.Status == parley.StatusInactive {
		change.Patch.Status = &idle
	}
	if key != s.Key {
		change.Patch.Key = &key
		if err := h.leave(ctx, s.Session, &b); err != nil {
			return err
		}
	}
	b.Sessions = append(b.Sessions, change)
	if _, err := h.commit(ctx, b); err != nil {
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

// leave adds to a change that the key a session has had so far leads to it no more:
// the next message there starts another. Otherwise that key would be left with a
// session that ends elsewhere, where nobody can go on.
func (h *Handle) leave(ctx context.Context, s parley.Session, b *parley.Batch) error {
	if s.Key == "" {
		return nil
	}
	entry, err := h.engine.keys.lookup(ctx, string(s.Key))
	if err != nil {
		return err
	}
	b.Expect = append(b.Expect, parley.KeyIs{Key: s.Key, Session: entry.Current})
	if entry.Current == s.ID {
		b.Keys = append(b.Keys, parley.KeyChange{Key: s.Key})
	}
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
	_, err = h.commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Audit: s.audit, Sessions: []parley.SessionChange{{
		Session: next,
		Create: &parley.NewSession{
			Agent: s.Agent, Source: s.Source, Type: parley.SessionDirect, Title: parley.Title{}, Fork: &parley.ForkPoint{Session: id, Seq: at},
		},
		Events: []parley.NewEvent{{Identity: who, Body: &parley.Forked{From: id, AtSeq: at}}, {Identity: who, Body: &parley.ParticipantChanged{Identity: who}}},
	}}})
	if err != nil {
		return parley.Session{}, err
	}
	made, err := h.engine.store.Session(ctx, parley.SeeAll(), next)
	return shownSession(made), err
}

// Rewound is what a rewind took back.
type Rewound struct {
	Turns int
	// Text is what people had said in the first of the turns, to be said again in
	// other words.
	Text string

	said []parley.Part // all of it
}

// Rewind takes the last turns of a session out of the model's sight. They stay in
// the log. It is [parley.CodeConflict] while a turn is open.
func (h *Handle) Rewind(ctx context.Context, id parley.SessionID, turns int) (Rewound, error) {
	if turns < 1 {
		return Rewound{}, parley.Errorf(parley.CodeInvalid, "a rewind takes back at least one turn")
	}
	return h.rewind(ctx, id, func(seen []began) int { return max(len(seen)-turns, 0) })
}

// RewindTo takes the turns that began after a seq out of the model's sight; see
// [Handle.Rewind].
func (h *Handle) RewindTo(ctx context.Context, id parley.SessionID, seq uint64) (Rewound, error) {
	return h.rewind(ctx, id, func(seen []began) int {
		return len(seen) - len(slices.DeleteFunc(slices.Clone(seen), func(b began) bool { return b.seq <= seq }))
	})
}

// began is a turn that is still in sight: where it begins, and what was said.
type began struct {
	turn parley.TurnID
	seq  uint64
	said []parley.Part
	by   []parley.IdentityID // who said it
}

func (h *Handle) rewind(ctx context.Context, id parley.SessionID, firstFunc func([]began) int) (Rewound, error) {
	s, err := h.on(ctx, access.OpRewind, id)
	if err != nil {
		return Rewound{}, err
	}
	events, err := h.engine.events(ctx, id, windowStart(s.LastSeq), 0, windowTypes)
	if err != nil {
		return Rewound{}, err
	}
	seen, err := turnsInSight(events)
	if err != nil {
		return Rewound{}, err
	}
	first := firstFunc(seen)
	if first >= len(seen) {
		return Rewound{}, parley.Errorf(parley.CodeConflict, "there is no turn to take back")
	}
	if h.rider != nil && h.rider.again && !h.saidAll(seen[first]) {
		return Rewound{}, parley.Errorf(parley.CodeForbidden, "others spoke in the last turn; what they said is theirs to say again")
	}
	undone := Rewound{Turns: len(seen) - first, Text: parley.PlainText(seen[first].said), said: seen[first].said}
	if h.rider != nil {
		h.rider.undone = undone
	}
	_, err = h.commit(ctx, parley.Batch{
		At: h.engine.cfg.Clock.Now(), Audit: s.audit,
		Expect: []parley.Expectation{
			parley.FenceIs{Session: id, Fence: s.Fence},
			parley.StatusIn{Session: id, Any: []parley.Status{parley.StatusIdle, parley.StatusInactive}},
		},
		Sessions: []parley.SessionChange{{Session: id, Events: []parley.NewEvent{{
			Identity: h.caller.Principal().Identity, Body: &parley.Rewound{ToSeq: seen[first].seq - 1, Turns: undone.Turns},
		}}}},
	})
	if _, moved := errors.AsType[*parley.ExpectError](err); moved && !keyMoved(err) {
		return Rewound{}, parley.Errorf(parley.CodeConflict, "a turn is under way; stop it first")
	}
	return undone, err
}

// saidAll reports whether all that was said in a turn was said by the caller. Notes
// were said by nobody.
func (h *Handle) saidAll(b began) bool {
	for _, who := range b.by {
		if who != "" && !h.caller.In([]parley.IdentityID{who}) {
			return false
		}
	}
	return true
}

// turnsInSight gives the turns that were not taken back, the first one first.
func turnsInSight(events []parley.Event) ([]began, error) {
	var seen []began
	for _, e := range events {
		body, err := e.Decode()
		if err != nil {
			return nil, err
		}
		switch b := body.(type) {
		case *parley.Rewound:
			seen = slices.DeleteFunc(seen, func(s began) bool { return s.seq > b.ToSeq })
		case *parley.Message:
			if e.Turn == "" || b.Hidden || b.Role != parley.MessageUser {
				continue
			}
			said := slices.DeleteFunc(slices.Clone(b.Parts), func(p parley.Part) bool { return p.Note })
			if i := slices.IndexFunc(seen, func(s began) bool { return s.turn == e.Turn }); i >= 0 {
				seen[i].said, seen[i].by = append(seen[i].said, said...), append(seen[i].by, e.Identity)
				continue
			}
			seen = append(seen, began{e.Turn, e.Seq, said, []parley.IdentityID{e.Identity}})
		}
	}
	return seen, nil
}

// Redact takes away what somebody wrote in some events, and every copy of it.
func (h *Handle) Redact(ctx context.Context, id parley.SessionID, seqs []uint64, reason string) error {
	s, err := h.on(ctx, access.OpRedact, id)
	if err != nil {
		return err
	}
	_, err = h.commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Audit: s.audit, Sessions: []parley.SessionChange{{
		Session: id, Redact: seqs,
		Events: []parley.NewEvent{{Identity: h.caller.Principal().Identity, Body: &parley.Redacted{Seqs: seqs, Reason: reason}}},
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
		At: h.engine.cfg.Clock.Now(), Audit: s.audit,
		Expect: []parley.Expectation{
			parley.FenceIs{Session: id, Fence: s.Fence},
			parley.StatusIn{Session: id, Any: []parley.Status{parley.StatusIdle, parley.StatusInactive}},
			parley.QueuedAtMost{Session: id},
		},
		Sessions: []parley.SessionChange{{Session: id, Delete: true}},
	}
	_, err = h.commit(ctx, b)
	if _, moved := errors.AsType[*parley.ExpectError](err); moved {
		return parley.Errorf(parley.CodeConflict, "something is under way in the session; stop it first")
	}
	if err == nil {
		h.engine.cfg.ForgetFunc(id)
	}
	return err
}
