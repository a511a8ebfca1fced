package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strings"

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
	opened, err := h.open(ctx, o)
	opened.Session = shownSession(opened.Session)
	return opened, err
}

func (h *Handle) open(ctx context.Context, o Opening) (Opened, error) {
	if err := unreserved(o.Metadata); err != nil {
		return Opened{}, err
	}
	if o.To == nil {
		return h.openID(ctx, o)
	}
	opened, audit, err := h.openKey(ctx, o)
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
	opened.Session, err = h.reopen(ctx, spot{Session: next, audit: audit}, o.Metadata)
	return opened, err
}

// openKey opens what a resolution leads to, if the caller may, and gives what is
// written down about it. It is asked about the session that is given: somebody else
// may have made it meanwhile.
func (h *Handle) openKey(ctx context.Context, o Opening) (Opened, []parley.AuditEntry, error) {
	for range maxAttempts {
		seen, audit, err := h.mayOpen(ctx, o)
		if err != nil {
			return Opened{}, nil, err
		}
		opened, err := h.engine.keys.Open(ctx, OpenRequest{To: *o.To, By: h.caller.Principal(), Session: o.Session, Namespace: o.Namespace})
		if err != nil || opened.Created || opened.Promoted != "" || opened.Session.ID == seen {
			return opened, audit, err
		}
	}
	return Opened{}, nil, errRestless()
}

// mayOpen asks whether the caller may open what a resolution leads to, and gives
// which session that is, if there is one, and what is written down about it.
func (h *Handle) mayOpen(ctx context.Context, o Opening) (seen parley.SessionID, _ []parley.AuditEntry, _ error) {
	target := access.Target{Name: string(o.To.Key)}
	if !o.To.Explicit {
		target.Scope, target.Routed = &o.To.Scope, h.leadsTo(o.To.Scope)
	}
	entry, err := h.engine.keys.lookup(ctx, string(o.To.Key))
	if err != nil {
		return "", nil, err
	}
	if entry.Current != "" {
		s, err := h.engine.store.Session(ctx, parley.SeeAll(), entry.Current)
		if err == nil {
			people, err := h.engine.store.Participants(ctx, parley.SeeAll(), entry.Current)
			if err != nil && !errors.Is(err, parley.ErrNotFound) {
				return "", nil, err
			}
			target.Session, target.Participant = &s, h.caller.In(people)
			seen = s.ID
			if o.To.Explicit { // the name alone says nothing about where it came from
				if target.Routed, err = h.routed(ctx, spot{Session: s, target: target}); err != nil {
					return "", nil, err
				}
			}
		} else if !errors.Is(err, parley.ErrNotFound) {
			return "", nil, err
		}
	}
	if err := access.Check(h.caller, access.OpOpen, target); err != nil {
		return "", nil, err
	}
	if !access.Audited(h.caller, access.OpOpen, target) {
		return seen, nil, nil
	}
	return seen, []parley.AuditEntry{h.audited(access.OpOpen, target.Session.ID)}, nil
}

// leadsTo reports whether an inbound of the caller's channel leads to a scope: it is
// of that channel, or is the one conversation of the person who speaks.
func (h *Handle) leadsTo(scope parley.Scope) bool {
	namespace := h.caller.Namespace()
	return namespace != "" && (scope.Channel == namespace || scope.Channel == route.ChannelUnified)
}

// openID opens a session by its id, or makes one.
func (h *Handle) openID(ctx context.Context, o Opening) (Opened, error) {
	opened, err := h.tryID(ctx, o)
	if o.ID != "" && errors.Is(err, parley.ErrConflict) {
		return h.tryID(ctx, o) // somebody else made it meanwhile
	}
	return opened, err
}

func (h *Handle) tryID(ctx context.Context, o Opening) (Opened, error) {
	if o.ID != "" {
		_, err := h.engine.store.Session(ctx, parley.SeeAll(), o.ID)
		if err == nil {
			s, err := h.on(ctx, access.OpOpen, o.ID)
			if err != nil {
				return Opened{}, err
			}
			session, err := h.reopen(ctx, s, o.Metadata)
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
		Events: []parley.NewEvent{
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
func (h *Handle) reopen(ctx context.Context, s spot, metadata map[string]string) (parley.Session, error) {
	patch := parley.SessionPatch{}
	var fields []string
	for name, value := range metadata {
		if s.Metadata[name] != value {
			patch.Metadata, fields = metadata, []string{"metadata"}
		}
	}
	if patch.Metadata != nil {
		if _, err := h.on(ctx, access.OpPatch, s.ID); err != nil {
			return s.Session, err
		}
	}
	if s.Status == parley.StatusInactive && s.Ended == nil {
		idle := parley.StatusIdle
		patch.Status, fields = &idle, append(fields, "status")
	}
	if len(fields) == 0 {
		return s.Session, h.engine.looked(ctx, s.audit)
	}
	_, err := h.engine.store.Commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Audit: s.audit, Sessions: []parley.SessionChange{{
		Session: s.ID, Patch: patch,
		Events: []parley.NewEvent{{Identity: h.caller.Principal().Identity, Body: &parley.Updated{Fields: fields}}},
	}}})
	if err != nil {
		return s.Session, err
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
	next, err := h.reset(ctx, spot{Session: s}, string(decision.Reason), decision.Carry, decision.Notify, o.Session)
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

// manual is why a session ends that a person ends.
const manual = "manual"

// Anew is how a session starts that replaces another. The zero value starts as the
// policy of [Config.Reset] says.
type Anew struct {
	Title string
	Carry lifecycle.Carry // what it starts with; empty: as the policy says
}

// Reset ends a session and gives the one that its key leads to from then on. What
// was said stays where it is. A turn that runs is stopped, and what waits is
// dropped; who sent it is told there.
func (h *Handle) Reset(ctx context.Context, id parley.SessionID, how Anew) (parley.Session, error) {
	for range maxAttempts {
		s, err := h.on(ctx, access.OpReset, id)
		if err != nil {
			return parley.Session{}, err
		}
		if s.Key == "" && s.Ended != nil {
			return parley.Session{}, parley.Errorf(parley.CodeConflict, "session %s has ended already; open another, or resume it", id)
		}
		policy, _ := h.engine.cfg.Reset.For(s.ID.Namespace(), s.Type)
		carry := cmp.Or(how.Carry, policy.Carry, lifecycle.CarryTail)
		start := parley.NewSession{Title: parley.Title{Text: how.Title}}
		next, err := h.reset(ctx, s, manual, carry, false, start)
		if !changedMeanwhile(err) || keyMoved(err) {
			return next, h.notCurrent(err, s.Session)
		}
	}
	return parley.Session{}, errRestless()
}

// reset replaces a session by another, in one commit.
func (h *Handle) reset(ctx context.Context, s spot, reason string, carry lifecycle.Carry, notify bool, start parley.NewSession) (parley.Session, error) {
	if start.Source.Kind == "" {
		start.Source = s.Source
	}
	if start.Agent.Name == "" {
		start.Agent = h.engine.agent(s.Agent)
	}
	start.Key, start.Type = s.Key, s.Type
	start.Metadata = maps.Clone(s.Metadata)
	maps.DeleteFunc(start.Metadata, func(name, _ string) bool { return strings.HasPrefix(name, reservedPrefix) })
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
	opened := []parley.NewEvent{{Identity: who, Body: &parley.Started{Agent: start.Agent.Name, Source: start.Source}}, {Identity: who, Body: body}}
	for _, p := range people {
		opened = append(opened, parley.NewEvent{Identity: p, Body: &parley.ParticipantChanged{Identity: p}})
	}
	created := parley.SessionChange{Session: next, Create: &start, Events: opened}
	if notify {
		created.Notices = append(created.Notices, parley.NoticeChange{Add: &parley.Notice{
			ID: "reset", Session: next, Kind: "reset", CreatedAt: now,
			Text: "The conversation was started anew (" + reason + "). The one before is kept as " + string(s.ID) + "; /resume goes on in it.",
		}})
	}
	defer h.engine.holds.hold(s.ID)()
	if s.Key == "" { // nothing to expect of a key: who holds it looks again
		if again, err := h.engine.store.Session(ctx, parley.SeeAll(), s.ID); err != nil || again.Ended != nil {
			return parley.Session{}, cmp.Or(err, errMoved)
		}
	}
	ended, expect, err := h.ended(ctx, s.Session, reason, next)
	if err != nil {
		return parley.Session{}, err
	}
	if reason != manual && (len(ended.Turns) > 0 || len(ended.Inputs) > 0 && reason != string(lifecycle.ReasonSuspended)) {
		return parley.Session{}, errMoved // the clock ends nothing that is under way
	}
	b := parley.Batch{At: now, Audit: s.audit, Expect: append(current(s.Session), expect...), Sessions: []parley.SessionChange{ended, created}}
	if s.Key != "" {
		b.Keys = []parley.KeyChange{{Key: s.Key, Session: next}}
	}
	if _, err := h.commit(ctx, b); err != nil {
		return parley.Session{}, err
	}
	h.engine.cfg.ForgetFunc(s.ID)
	for _, t := range ended.Turns {
		h.engine.stopRunning(s.ID, t.ID)
	}
	h.engine.wake(s.ID)
	return h.engine.store.Session(ctx, parley.SeeAll(), next)
}

// agent gives an agent as it is configured at present.
func (e *Engine) agent(was parley.AgentSnapshot) parley.AgentSnapshot {
	if e.cfg.AgentFunc != nil {
		if present, ok := e.cfg.AgentFunc(was.Name); ok {
			return present
		}
	}
	return was
}

// ended is how a session ends that another replaces, and what it expects: that no
// other turn has started and nothing else waits. The session is held.
func (h *Handle) ended(ctx context.Context, s parley.Session, reason string, next parley.SessionID) (parley.SessionChange, []parley.Expectation, error) {
	now := h.engine.cfg.Clock.Now()
	inactive := parley.StatusInactive
	change := parley.SessionChange{
		Session: s.ID,
		Patch:   parley.SessionPatch{Ended: &parley.Ending{At: now, Reason: reason}},
		Events:  []parley.NewEvent{{Identity: h.caller.Principal().Identity, Body: &parley.Ended{Reason: reason, Next: next}}},
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
		change.Events = append(change.Events, parley.NewEvent{Body: forPeople("m_"+h.engine.cfg.IDFunc(), "The conversation was started anew before your message was answered. Please send it again.")})
	}
	return change, expect, nil
}
