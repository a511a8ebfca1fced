package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/group"
)

// Post admits what somebody says to a session, and returns when it is durable.
// Whether it gets a turn, and when, depends on the session, the group's rules and
// the busy mode; the receipt says. Saying the same again gives the receipt of the
// first time.
//
// A session that is no longer its key's current one, an id that was used for other
// words, or one that reset or deletion was faster with, is [parley.CodeConflict]; a
// full queue, and a busy session that rejects, [parley.CodeBusy].
func (h *Handle) Post(ctx context.Context, id parley.SessionID, in parley.Input) (parley.Receipt, error) {
	return h.admit(ctx, access.OpPost, id, in, Manner{})
}

// Append stores and announces what somebody says without a turn: the next one sees
// it.
func (h *Handle) Append(ctx context.Context, id parley.SessionID, in parley.Input) (parley.Receipt, error) {
	return h.admit(ctx, access.OpAppend, id, in, Manner{})
}

// Name completes the name of what the caller says in a session, as Post and Append do
// with what is missing of it. Who wants to ask for the answer names the input first.
func (h *Handle) Name(s parley.Session, ref parley.InputRef) parley.InputRef {
	if ref.Origin == "" {
		ref.Origin = string(h.caller.Principal().Identity) + "/" + cmp.Or(string(s.Key), string(s.ID))
	}
	if ref.ID == "" {
		ref.ID = h.engine.cfg.IDFunc()
	}
	return ref
}

func (h *Handle) admit(ctx context.Context, op access.Op, id parley.SessionID, in parley.Input, how Manner) (parley.Receipt, error) {
	s, err := h.onInput(ctx, op, id, &in, how)
	if err != nil {
		return parley.Receipt{}, err
	}
	in.Principal = h.caller.Principal()
	s.join = h.joining(s, in.Principal.Identity)
	switch in.Kind {
	case "":
		in.Kind = parley.InputMessage
	case parley.InputMessage, parley.InputAutomation:
	default:
		return parley.Receipt{}, parley.Errorf(parley.CodeInvalid, "what is posted is a message or an automation; %q is the runtime's own", in.Kind)
	}
	if err := h.introduce(ctx, s.Session, &in); err != nil {
		return parley.Receipt{}, err
	}
	in.Ref = h.Name(s.Session, in.Ref)
	if err := h.replaced(ctx, s.Session); err != nil {
		if _, known := h.engine.store.Input(ctx, parley.SeeAll(), in.Ref); known != nil {
			return parley.Receipt{}, err
		}
		// It was said before: the commit gives its receipt.
	}
	in.State, in.Decision = parley.InputQueued, ""
	if err := postable(s.Session, &in); err != nil {
		return parley.Receipt{}, err
	}
	if op == access.OpPost {
		if r, ok := h.asCommand(s.Session, &in); ok {
			return h.carryOut(ctx, s, in, r)
		}
	}
	verdict := group.Decide(group.Arrival{
		Session: s.Type, Role: in.Principal.Role, Mentioned: &in.Mentioned, Bot: in.Sender.Bot, AllowBots: how.AllowBots,
	}, h.engine.cfg.Groups)
	if op == access.OpAppend || in.Kind == parley.InputMessage && verdict.Mode != group.ModeTurn {
		return h.logOnly(ctx, s, in, verdict.Why)
	}
	for range maxAttempts {
		receipt, err := h.enqueue(ctx, s, in, how)
		if !errors.Is(err, errMoved) {
			return receipt, err
		}
		if s.Session, err = h.engine.store.Session(ctx, parley.SeeAll(), id); err != nil {
			return parley.Receipt{}, err
		}
		s.facts = nil // they may have changed as well
	}
	return parley.Receipt{}, errRestless()
}

// onInput is on for an input. Where a turn is likely to start with it, what that needs is read as
// well: one transaction is faster than two. In a group most messages start none, and many people take part.
func (h *Handle) onInput(ctx context.Context, op access.Op, id parley.SessionID, in *parley.Input, how Manner) (s spot, err error) {
	err = h.engine.store.View(ctx, func(ctx context.Context) (err error) {
		if s, err = h.on(ctx, op, id); err != nil {
			return err
		}
		if op == access.OpPost && how.Pause <= 0 && s.Type == parley.SessionDirect && startsAtOnce(s.Session, in) {
			s.facts, err = h.engine.facts(ctx, id, s.people)
		}
		return err
	})
	return s, err
}

// startsAtOnce reports whether an input need not wait: nobody works for its session, nothing waits there
// before it, and it is for now.
func startsAtOnce(s parley.Session, in *parley.Input) bool {
	return s.Status == parley.StatusIdle && s.Queued == 0 && in.NotBefore.IsZero() && in.Kind != parley.InputAutomation
}

// postable refuses what could be admitted, but not be shown to a model as what
// somebody wrote.
func postable(s parley.Session, in *parley.Input) error {
	size := 0
	for _, p := range in.Parts {
		if p.Note {
			return parley.Errorf(parley.CodeInvalid, "notes are the runtime's own; a message has none")
		}
		size += len(p.Text)
	}
	if size < parley.MaxBodyBytes/2 {
		return nil
	}
	_, err := parley.EncodeBody(messageOf(s, in, "t_00000000000000000000.in.00000000000000000000"))
	return err
}

func errRestless() error {
	return parley.Errorf(parley.CodeUnavailable, "the session changes all the time; try again")
}

// logOnly stores an input that gets no turn, as a message that the next turn sees.
func (h *Handle) logOnly(ctx context.Context, s spot, in parley.Input, why string) (parley.Receipt, error) {
	in.State, in.Decision = parley.InputLogged, cutName(why)
	m := messageOf(s.Session, &in, "m_"+h.engine.cfg.IDFunc())
	change := parley.SessionChange{
		Session: s.ID, Admit: []parley.Input{in},
		Events: append(s.join, parley.NewEvent{Identity: in.Principal.Identity, Body: m}),
	}
	result, err := h.commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Audit: s.audit, Expect: current(s.Session), Sessions: []parley.SessionChange{change}})
	if err != nil {
		return parley.Receipt{}, h.notCurrent(err, s.Session)
	}
	return receipt(in, result, 0), nil
}

// introduce says who speaks in a group, where the surface does not: by the account
// that asks, and what it is called. Else what somebody writes would begin without a
// name before it, and could bring another's.
func (h *Handle) introduce(ctx context.Context, s parley.Session, in *parley.Input) error {
	if s.Type == parley.SessionDirect || in.Kind != parley.InputMessage || in.Sender.Name != "" {
		return nil
	}
	account, err := h.engine.store.Identity(ctx, in.Principal.Identity)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	_, id, _ := strings.Cut(string(in.Principal.Identity), ":")
	in.Sender.Name, in.Sender.ID = account.Name, cmp.Or(in.Sender.ID, id)
	return nil
}

// joining makes who speaks a participant, if it is not one: an owner who comes
// into a session, or somebody in a group whom its channel vouches for.
func (h *Handle) joining(s spot, id parley.IdentityID) []parley.NewEvent {
	if slices.Contains(s.people, id) {
		return nil
	}
	return []parley.NewEvent{{Identity: id, Body: &parley.ParticipantChanged{Identity: id}}}
}

// current expects a session to be the one that its key leads to.
func current(s parley.Session) []parley.Expectation {
	if s.Key == "" {
		return nil
	}
	return []parley.Expectation{parley.KeyIs{Key: s.Key, Session: s.ID}}
}

// enqueue admits an input: together with the start of its turn if nobody works for
// the session, else to the queue. It fails with errMoved if the session has changed
// since it was read.
func (h *Handle) enqueue(ctx context.Context, s spot, in parley.Input, manner Manner) (parley.Receipt, error) {
	together, err := h.gather(ctx, &in, s.ID, manner)
	if err != nil {
		return parley.Receipt{}, err
	}
	if startsAtOnce(s.Session, &in) {
		if l := h.engine.reserve(s.ID); l != nil {
			return h.startAtOnce(ctx, l, s, in, manner)
		}
	}
	how := mode(in, h.engine.busy(s.Session))
	in.Decision = decisions[how]
	change := parley.SessionChange{Session: s.ID, Admit: []parley.Input{in}, Events: s.join}
	most := h.engine.cfg.Limits.Queue - 1
	overtaken := together != nil && together.queued < most // then the limit below is that nobody else came
	if overtaken {
		most = together.queued
	}
	expect := append(current(s.Session), parley.QueuedAtMost{Session: s.ID, Max: most})
	if how == parley.BusyReject {
		free := 0
		if together != nil {
			free = len(together.others)
		}
		expect = append(current(s.Session), parley.StatusIn{Session: s.ID, Any: []parley.Status{parley.StatusIdle}}, parley.QueuedAtMost{Session: s.ID, Max: free})
	}
	expect = together.join(&change, expect, in.NotBefore)
	if how == parley.BusyInterrupt {
		defer h.engine.holds.hold(s.ID)()
	}
	interrupt, err := h.interrupts(ctx, s.Session, in, how)
	if err != nil {
		return parley.Receipt{}, err
	}
	if interrupt.ID != "" {
		change.Turns = append(change.Turns, parley.TurnChange{ID: interrupt.ID, Cancel: true})
		expect = append(expect, parley.TurnIs{Session: s.ID, Turn: interrupt.ID, State: interrupt.State})
	}
	result, err := h.commit(ctx, parley.Batch{At: h.engine.cfg.Clock.Now(), Audit: s.audit, Expect: expect, Sessions: []parley.SessionChange{change}})
	if e, ok := errors.AsType[*parley.ExpectError](err); ok {
		_, key := e.Expect.(parley.KeyIs)
		if _, started := e.Expect.(parley.InputIs); started {
			return parley.Receipt{}, errMoved
		}
		if how == parley.BusyReject && !key {
			return parley.Receipt{}, parley.Errorf(parley.CodeBusy, "the session is busy, and takes no messages until it is done")
		}
		switch e.Expect.(type) {
		case parley.QueuedAtMost:
			if overtaken {
				return parley.Receipt{}, errMoved
			}
			return parley.Receipt{}, parley.Errorf(parley.CodeBusy, "%d messages wait in this session, which is the limit; try again when some are answered", h.engine.cfg.Limits.Queue)
		case parley.TurnIs:
			return parley.Receipt{}, errMoved
		}
	}
	if err != nil {
		return parley.Receipt{}, h.notCurrent(err, s.Session)
	}
	if interrupt.ID != "" {
		h.engine.stopRunning(s.ID, interrupt.ID)
	}
	h.engine.wake(s.ID)
	return receipt(in, result, s.Queued), nil
}

// decisions say for people what became of an input that came during a turn.
var decisions = map[parley.BusyMode]string{
	parley.BusyQueue:     "waits for its turn",
	parley.BusyCollect:   "waits, and shares a turn with what else waits",
	parley.BusySteer:     "is shown to the running turn when it can be",
	parley.BusyInterrupt: "stops the running turn",
	parley.BusyReject:    "the session was free",
}

// startAtOnce admits an input and starts its turn in one commit. That is acknowledged, and only then
// the turn begins to work.
func (h *Handle) startAtOnce(ctx context.Context, l *lane, s spot, in parley.Input, manner Manner) (parley.Receipt, error) {
	var b *begun
	look := true // if something panics, it may have been committed
	defer func() { l.launch(b, look) }()
	b, receipt, err := h.admitAndStart(ctx, s, in)
	look = errors.Is(err, parley.ErrOutcomeUnknown)
	if b != nil && manner.AcknowledgeFunc != nil {
		manner.AcknowledgeFunc(receipt)
	}
	return receipt, err
}

func (h *Handle) admitAndStart(ctx context.Context, s spot, in parley.Input) (*begun, parley.Receipt, error) {
	in.Session = s.ID
	p, err := h.engine.plan(ctx, s.Session, []parley.Input{in}, s.facts)
	if err != nil {
		return nil, parley.Receipt{}, err
	}
	in.State, in.Turn, in.Decision = parley.InputRunning, p.turn.ID, "the session was free"
	if p.refused != nil {
		in.State = parley.InputDone
	}
	p.inputs = []parley.Input{in}
	p.change.Admit = p.inputs
	p.change.Events = append(slices.Clone(s.join), p.change.Events...)
	p.audit = s.audit
	expect := append(current(s.Session),
		parley.FenceIs{Session: s.ID, Fence: s.Fence},
		parley.StatusIn{Session: s.ID, Any: []parley.Status{parley.StatusIdle}},
		parley.QueuedAtMost{Session: s.ID})
	b, result, err := h.engine.commitStart(ctx, p, expect)
	if changedMeanwhile(err) && !keyMoved(err) {
		return nil, parley.Receipt{}, errMoved
	}
	if err != nil {
		return nil, parley.Receipt{}, h.notCurrent(err, s.Session)
	}
	return b, receipt(in, result, 0), nil
}

// receipt acknowledges an input.
func receipt(in parley.Input, r parley.Result, before int) parley.Receipt {
	if d := r.Duplicate; d != nil {
		return parley.Receipt{ID: d.Ref.ID, State: d.State, Turn: d.Turn, Duplicate: true}
	}
	return parley.Receipt{ID: in.Ref.ID, State: in.State, Turn: in.Turn, Position: before}
}

// keyMoved reports whether err says that a key leads elsewhere.
func keyMoved(err error) bool {
	e, ok := errors.AsType[*parley.ExpectError](err)
	if !ok {
		return false
	}
	_, key := e.Expect.(parley.KeyIs)
	return key
}

// notCurrent makes clear what to do if a key leads elsewhere by now.
func (h *Handle) notCurrent(err error, s parley.Session) error {
	if !keyMoved(err) {
		return err
	}
	return &parley.Error{Code: parley.CodeConflict, Message: "session " + string(s.ID) + " is not its key's current one any more; go on in the current one, or resume it", Err: err}
}

// replaced refuses a session without a key that another has replaced. For one with a
// key, the commit expects that it is the current one.
func (h *Handle) replaced(ctx context.Context, s parley.Session) error {
	if s.Key != "" || s.Ended == nil {
		return nil
	}
	events, err := h.engine.store.Events(ctx, parley.SeeAll(), s.ID, parley.EventQuery{Last: true, Types: []parley.EventType{parley.EventEnded}, Limit: 1})
	if err != nil || len(events) == 0 {
		return err
	}
	body, err := events[0].Decode()
	if err != nil {
		return err
	}
	ended, ok := body.(*parley.Ended)
	if !ok || ended.Next == "" {
		return nil
	}
	return h.notCurrent(&parley.ExpectError{Expect: parley.KeyIs{Session: s.ID}, Actual: ended.Next}, s)
}

// interrupts gives the turn that an input stops: the open one, be it that it runs or
// that it waits, if the input's sender may stop that. Automations wait.
func (h *Handle) interrupts(ctx context.Context, s parley.Session, in parley.Input, how parley.BusyMode) (parley.Turn, error) {
	if how != parley.BusyInterrupt || s.Status == parley.StatusIdle || in.Kind == parley.InputAutomation {
		return parley.Turn{}, nil
	}
	turns, err := h.engine.store.OpenTurns(ctx, parley.SeeAll(), s.ID)
	if err != nil || len(turns) == 0 {
		return parley.Turn{}, err
	}
	requester, err := h.isRequester(ctx, s.ID, turns[0].ID)
	if err != nil {
		return parley.Turn{}, err
	}
	_, err = h.on(ctx, access.OpCancel, s.ID, func(t *access.Target) { t.Requester = requester })
	if errors.Is(err, parley.ErrForbidden) {
		return parley.Turn{}, nil // it waits
	}
	return turns[0], err
}

// cutName cuts a sentence to what a decision holds.
func cutName(text string) string { return text[:min(len(text), 200)] }
