package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/lifecycle"
	"github.com/parley-run/parley/route"
)

// Opening asks for a conversation: the one a resolution leads to, or the one with
// an id, or, with neither, one that is made.
type Opening struct {
	To *route.Resolution
	ID parley.SessionID
	// Session is how it starts, if it has to be made.
	Session parley.NewSession
	// Namespace begins the id of a session that is made and got no name; empty:
	// the channel, or the kind of the source.
	Namespace string
	// Metadata is merged into a session that is there.
	Metadata map[string]string
	// Automation says that an enabled automation is bound to the key: the clock
	// does not reset it then.
	Automation bool
}

// Open opens a conversation. What is there keeps its source and its agent, and gets
// the metadata; a conversation whose time is over, as [Config.Reset] says, goes on
// in another session, with what that carries over.
func (h *Handle) Open(ctx context.Context, o Opening) (Opened, error) {
	if o.To == nil {
		return h.openID(ctx, o)
	}
	if err := h.mayOpen(ctx, o); err != nil {
		return Opened{}, err
	}
	opened, err := h.engine.keys.Open(ctx, OpenRequest{To: *o.To, By: h.caller.Principal(), Session: o.Session, Namespace: o.Namespace})
	if err != nil || opened.Created {
		return opened, err
	}
	next, err := h.renew(ctx, opened.Session, o)
	if err != nil {
		return Opened{}, err
	}
	if next.ID != opened.Session.ID {
		opened.Session, opened.Created = next, true
		return opened, nil
	}
	opened.Session, err = h.reopen(ctx, next, o.Metadata)
	return opened, err
}

// mayOpen asks whether the caller may open what a resolution leads to.
func (h *Handle) mayOpen(ctx context.Context, o Opening) error {
	target := access.Target{Name: string(o.To.Key), Routed: h.caller.Namespace() != ""}
	if !o.To.Explicit {
		target.Scope = &o.To.Scope
	}
	entry, err := h.engine.keys.lookup(ctx, string(o.To.Key))
	if err != nil {
		return err
	}
	if entry.Current != "" {
		s, err := h.engine.store.Session(ctx, parley.SeeAll(), entry.Current)
		if err == nil {
			people, err := h.engine.store.Participants(ctx, parley.SeeAll(), entry.Current)
			if err != nil && !errors.Is(err, parley.ErrNotFound) {
				return err
			}
			target.Session, target.Participant = &s, h.caller.In(people)
		} else if !errors.Is(err, parley.ErrNotFound) {
			return err
		}
	}
	return access.Check(h.caller, access.OpOpen, target)
}

// openID opens a session by its id, or makes one.
func (h *Handle) openID(ctx context.Context, o Opening) (Opened, error) {
	if o.ID != "" {
		_, err := h.engine.store.Session(ctx, parley.SeeAll(), o.ID)
		if err == nil {
			s, err := h.on(ctx, access.OpOpen, o.ID)
			if err != nil {
				return Opened{}, err
			}
			session, err := h.reopen(ctx, s.Session, o.Metadata)
			return Opened{Session: session}, err
		}
		if !errors.Is(err, parley.ErrNotFound) {
			return Opened{}, err
		}
	}
	if err := access.Check(h.caller, access.OpOpen, access.Target{ID: o.ID}); err != nil {
		return Opened{}, err
	}
	start := o.Session
	start.Metadata = o.Metadata
	id := o.ID
	if id == "" {
		namespace := o.Namespace
		if namespace == "" {
			namespace = start.Source.Kind
		}
		id = h.engine.sessionID(namespace)
	}
	who := h.caller.Principal().Identity
	_, err := h.engine.store.Commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Sessions: []parley.SessionChange{{
		Session: id, Create: &start,
		Events: []parley.Draft{
			{Identity: who, Body: &parley.Started{Agent: start.Agent.Name, Source: start.Source}},
			{Identity: who, Body: &parley.ParticipantChanged{Identity: who}},
		},
	}}})
	if err != nil {
		return Opened{}, err
	}
	s, err := h.engine.store.Session(ctx, parley.SeeAll(), id)
	return Opened{Session: s, Created: true}, err
}

func (e *Engine) sessionID(namespace string) parley.SessionID {
	var random [4]byte
	_, _ = rand.Read(random[:]) // it never fails
	return parley.NewSessionID(namespace, e.cfg.Clock.Now(), random)
}

// reopen merges metadata into a session that is there, and wakes one that was put
// away.
func (h *Handle) reopen(ctx context.Context, s parley.Session, metadata map[string]string) (parley.Session, error) {
	patch := parley.SessionPatch{}
	var fields []string
	for name, value := range metadata {
		if s.Metadata[name] != value {
			patch.Metadata, fields = metadata, []string{"metadata"}
		}
	}
	if s.Status == parley.StatusInactive && s.Ended == nil {
		idle := parley.StatusIdle
		patch.Status, fields = &idle, append(fields, "status")
	}
	if len(fields) == 0 {
		return s, nil
	}
	_, err := h.engine.store.Commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Sessions: []parley.SessionChange{{
		Session: s.ID, Patch: patch,
		Events: []parley.Draft{{Identity: h.caller.Principal().Identity, Body: &parley.Updated{Fields: fields}}},
	}}})
	if err != nil {
		return s, err
	}
	return h.engine.store.Session(ctx, parley.SeeAll(), s.ID)
}

// renew gives the session to go on in: the one that is there, or the one that
// replaces it because its time is over.
func (h *Handle) renew(ctx context.Context, s parley.Session, o Opening) (parley.Session, error) {
	turns, err := h.engine.store.OpenTurns(ctx, parley.SeeAll(), s.ID)
	if err != nil {
		return s, err
	}
	w := lifecycle.Work{OpenTurn: len(turns) > 0, Automation: o.Automation}
	for _, t := range turns {
		w.OpenApproval = w.OpenApproval || t.State == parley.TurnAwaitingApproval
	}
	policy, _ := h.engine.cfg.Reset.For(o.To.Scope.Channel, s.Type)
	decision := lifecycle.Open(s, w, policy, h.engine.cfg.Clock.Now())
	if decision.Action != lifecycle.ActionReset {
		return s, nil
	}
	next, err := h.reset(ctx, s, string(decision.Reason), decision.Carry, decision.Notify, o.Session)
	if changedMeanwhile(err) {
		// Somebody was faster: theirs is the current one.
		entry, err := h.engine.keys.lookup(ctx, string(s.Key))
		if err != nil || entry.Current == "" {
			return s, err
		}
		return h.engine.store.Session(ctx, parley.SeeAll(), entry.Current)
	}
	return next, err
}

// Reset ends a session and gives the one that its key leads to from then on. What
// was said stays where it is. A turn that runs is stopped, and what waits is
// dropped; who sent it is told there.
func (h *Handle) Reset(ctx context.Context, id parley.SessionID) (parley.Session, error) {
	for range maxAttempts {
		s, err := h.on(ctx, access.OpReset, id)
		if err != nil {
			return parley.Session{}, err
		}
		policy, _ := h.engine.cfg.Reset.For(s.ID.Namespace(), s.Type)
		carry := policy.Carry
		if carry == "" {
			carry = lifecycle.CarryTail
		}
		next, err := h.reset(ctx, s.Session, "manual", carry, false, parley.NewSession{})
		if !changedMeanwhile(err) || keyMoved(err) {
			return next, h.notCurrent(err, s.Session)
		}
	}
	return parley.Session{}, errRestless()
}

// reset replaces a session by another, in one commit.
func (h *Handle) reset(ctx context.Context, s parley.Session, reason string, carry lifecycle.Carry, notify bool, start parley.NewSession) (parley.Session, error) {
	if start.Source.Kind == "" {
		start.Source = s.Source
	}
	if start.Agent.Name == "" {
		start.Agent = s.Agent
	}
	start.Key, start.Type = s.Key, s.Type
	start.Metadata = maps.Clone(s.Metadata)
	maps.DeleteFunc(start.Metadata, func(name, _ string) bool {
		return len(name) > len(allowedPrefix) && name[:len(allowedPrefix)] == allowedPrefix
	})
	next := h.engine.sessionID(s.ID.Namespace())
	who := h.caller.Principal().Identity
	now := h.engine.cfg.Clock.Now()
	body := &parley.Reset{From: s.ID, Reason: reason}
	if carry == lifecycle.CarryTail {
		var err error
		if body.TailFrom, body.TailUpto, err = h.engine.tail(ctx, s.ID); err != nil {
			return parley.Session{}, err
		}
	}
	people, err := h.engine.store.Participants(ctx, parley.SeeAll(), s.ID)
	if err != nil {
		return parley.Session{}, err
	}
	opened := []parley.Draft{{Identity: who, Body: &parley.Started{Agent: start.Agent.Name, Source: start.Source}}, {Identity: who, Body: body}}
	for _, p := range people {
		opened = append(opened, parley.Draft{Identity: p, Body: &parley.ParticipantChanged{Identity: p}})
	}
	created := parley.SessionChange{Session: next, Create: &start, Events: opened}
	if notify {
		created.Notices = append(created.Notices, parley.NoticeChange{Add: &parley.Notice{
			ID: "reset", Session: next, Kind: "reset", CreatedAt: now,
			Text: "The conversation was started anew (" + reason + "). The one before is kept as " + string(s.ID) + "; /resume goes on in it.",
		}})
	}
	defer h.engine.holds.hold(s.ID)()
	ended, expect, err := h.ended(ctx, s, reason, next)
	if err != nil {
		return parley.Session{}, err
	}
	b := parley.Batch{At: now, Expect: append(current(s), expect...), Sessions: []parley.SessionChange{ended, created}}
	if s.Key != "" {
		b.Keys = []parley.KeyChange{{Key: s.Key, Session: next}}
	}
	if _, err := h.engine.store.Commit(ctx, b); err != nil {
		return parley.Session{}, err
	}
	h.engine.cfg.ForgetFunc(s.ID)
	for _, t := range ended.Turns {
		h.engine.stopRunning(s.ID, t.ID)
	}
	h.engine.wake(s.ID)
	return h.engine.store.Session(ctx, parley.SeeAll(), next)
}

// ended is how a session ends that another replaces, and what it expects: that no
// other turn has started and nothing else waits. The session is held.
func (h *Handle) ended(ctx context.Context, s parley.Session, reason string, next parley.SessionID) (parley.SessionChange, []parley.Expectation, error) {
	now := h.engine.cfg.Clock.Now()
	inactive := parley.StatusInactive
	change := parley.SessionChange{
		Session: s.ID,
		Patch:   parley.SessionPatch{Ended: &parley.Ending{At: now, Reason: reason}},
		Events:  []parley.Draft{{Identity: h.caller.Principal().Identity, Body: &parley.Ended{Reason: reason, Next: next}}},
	}
	turns, err := h.engine.store.OpenTurns(ctx, parley.SeeAll(), s.ID)
	if err != nil {
		return change, nil, err
	}
	for _, t := range turns {
		change.Turns = append(change.Turns, parley.TurnChange{ID: t.ID, Cancel: true})
	}
	if len(turns) == 0 {
		change.Patch.Status = &inactive
	}
	inputs, err := h.engine.store.OpenInputs(ctx, parley.SeeAll(), s.ID, parley.InputRef{}, parley.MaxPageSize)
	if err != nil {
		return change, nil, err
	}
	inputs = slices.DeleteFunc(inputs, func(in parley.Input) bool { return in.State != parley.InputQueued })
	expect := []parley.Expectation{
		parley.FenceIs{Session: s.ID, Fence: s.Fence},
		parley.QueuedAtMost{Session: s.ID, Max: len(inputs)},
	}
	for _, in := range inputs {
		change.Inputs = append(change.Inputs, parley.InputChange{Ref: in.Ref, State: parley.InputDropped, Decision: "the conversation was started anew"})
		expect = append(expect, parley.InputIs{Ref: in.Ref, State: parley.InputQueued})
	}
	if len(inputs) > 0 {
		change.Events = append(change.Events, parley.Draft{Body: forPeople("m_"+h.engine.cfg.IDFunc(), "The conversation was started anew before your message was answered. Please send it again.")})
	}
	return change, expect, nil
}
