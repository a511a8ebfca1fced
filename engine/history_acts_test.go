package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
)

// setUp makes the sessions, unless they are there.
func (h *history) setUp(ctx context.Context) error {
	page, err := h.gate.Store.Sessions(ctx, parley.SeeAll(), parley.SessionQuery{IncludeInactive: true})
	if err != nil || len(page.Sessions) > 0 {
		return err
	}
	b := parley.Batch{At: h.clock.Now()}
	add := func(id parley.SessionID, key parley.Key, kind parley.SessionType, people ...parley.IdentityID) {
		source := parley.Source{Kind: "cli", Interactive: h.rng.IntN(4) > 0}
		events := []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: source}}}
		for _, p := range people {
			events = append(events, parley.NewEvent{Identity: p, Body: &parley.ParticipantChanged{Identity: p}})
		}
		b.Sessions = append(b.Sessions, parley.SessionChange{
			Session: id, Create: &parley.NewSession{Key: key, Agent: parley.AgentSnapshot{Name: "main"}, Source: source, Type: kind}, Events: events,
		})
		if key != "" {
			b.Keys = append(b.Keys, parley.KeyChange{Key: key, Session: id})
		}
		h.ledger.write(line{Kind: "created", Session: id})
	}
	add("cli:d", "d", parley.SessionDirect, "cli:alice")
	add("cli:g", "g", parley.SessionGroup, "cli:alice", "web:bob", "web:carol")
	if h.rng.IntN(2) == 0 {
		add("web:b", "b", parley.SessionDirect, "web:bob")
	}
	if h.rng.IntN(2) == 0 {
		add("cli:x", "", parley.SessionDirect, "cli:alice", "web:carol")
	}
	_, err = h.gate.Store.Commit(ctx, b)
	return err
}

// act does one random thing.
func (h *history) act(ctx context.Context, rng *rand.Rand) {
	page, err := h.gate.Store.Sessions(ctx, parley.SeeAll(), parley.SessionQuery{IncludeInactive: rng.IntN(3) == 0, Limit: 50})
	if err != nil || len(page.Sessions) == 0 {
		return // it is stopping, or all are deleted
	}
	s := page.Sessions[rng.IntN(len(page.Sessions))]
	who := []access.Caller{alice, alice, alice, bob, bob, carol}[rng.IntN(6)]
	a := actor{h, ctx, rng, who, s}
	roll := rng.IntN(100)
	for _, option := range []struct {
		weight int // they make a hundred
		do     func() error
	}{
		{26, a.post},
		{5, a.command},
		{5, a.again},
		{3, a.append},
		{4, a.withdraw},
		{6, a.cancel},
		{8, a.approve},
		{4, a.reset},
		{3, a.resume},
		{2, a.fork},
		{3, a.rewind},
		{6, a.take},
		{9, a.passTime},
		{8, a.outage},
		{4, a.probe},
		{4, a.open},
	} {
		if roll -= option.weight; roll < 0 {
			h.tolerate(option.do())
			return
		}
	}
}

// tolerate notes an error that nobody should get.
func (h *history) tolerate(err error) {
	switch parley.CodeOf(err) {
	case "", parley.CodeConflict, parley.CodeBusy, parley.CodeNotFound, parley.CodeForbidden, parley.CodeUnavailable:
		return
	}
	if h.gate.alive(func() {}) {
		h.ledger.bad("somebody got the error: %v", err)
	}
}

// actor is somebody about to do something to a session.
type actor struct {
	*history
	ctx context.Context //nolint:containedctx // of the one call
	rng *rand.Rand
	who access.Caller
	s   parley.Session
}

func (a actor) dice(percent int) bool { return a.rng.IntN(100) < percent }

func (a actor) handle() *engine.Handle { return a.eng.As(a.who) }

// words are what a message makes the agent do; see plan.
var words = []string{"say", "say", "one", "two", "two", "ask", "ask", "slow", "refuse"}

func (a actor) input() parley.Input {
	id := fmt.Sprintf("%x", a.rng.Uint64())
	in := say(id, words[a.rng.IntN(len(words))]+" "+id)
	in.Busy = []parley.BusyMode{
		"", "", "", parley.BusyQueue, parley.BusyCollect, parley.BusyCollect, parley.BusySteer, parley.BusySteer, parley.BusyInterrupt, parley.BusyReject,
	}[a.rng.IntN(10)]
	if a.dice(8) {
		in.Kind = parley.InputAutomation
	}
	if a.dice(8) {
		in.NotBefore = a.clock.Now().Add(time.Duration(a.rng.IntN(60)) * time.Second)
	}
	in.Mentioned = a.dice(70)
	if a.s.Type == parley.SessionGroup {
		name := string(a.who.Principal().User)
		in.Sender = parley.Sender{ID: name, Name: name}
	}
	return in
}

func (a actor) post() error { return a.send(a.handle().Post) }

func (a actor) append() error { return a.send(a.handle().Append) }

func (a actor) send(post func(context.Context, parley.SessionID, parley.Input) (parley.Receipt, error)) error {
	in := a.input()
	r, err := post(a.ctx, a.s.ID, in)
	if err != nil {
		return err
	}
	if r.Duplicate {
		a.ledger.bad("%s was never said before: %+v", in.Ref.ID, r)
	}
	a.ledger.write(line{Kind: "ack", Ref: in.Ref, Session: a.s.ID, Text: in.Parts[0].Text, Who: a.who.Principal().Identity, Busy: in.Busy, Sender: in.Sender, Input: in.Kind})
	return nil
}

// command gives a slash command, which is done and answered once however often it
// is given.
func (a actor) command() error {
	text := []string{"/undo", "/retry", "/stop", "/new", "/reset", "/resume", "/fork", "/title %s", "/status", "/busy collect", "/busy default", "/nothing"}[a.rng.IntN(12)]
	in := say(fmt.Sprintf("%x", a.rng.Uint64()), strings.ReplaceAll(text, "%s", fmt.Sprint(a.rng.IntN(9))))
	a.ledger.write(line{Kind: "rewind", Session: a.s.ID})
	r, err := a.handle().Post(a.ctx, a.s.ID, in)
	a.ledger.write(line{Kind: "rewind", Session: a.s.ID})
	if err != nil {
		return err
	}
	if r.Duplicate || r.State != parley.InputCarriedOut {
		a.ledger.bad("%s was not carried out: %+v", text, r)
	}
	a.ledger.write(line{Kind: "ack", Ref: in.Ref, Session: a.s.ID, Text: in.Parts[0].Text, Who: a.who.Principal().Identity, Sender: in.Sender, Input: in.Kind})
	return nil
}

// again says something that was said before, or something else under its name.
func (a actor) again() error {
	l, ok := a.ledger.pick(a.rng, "ack")
	if !ok {
		return nil
	}
	in := say(l.Ref.ID, l.Text, busy(l.Busy))
	in.Sender, in.Kind = l.Sender, l.Input
	other := a.dice(40)
	if other {
		in.Parts = append(in.Parts, parley.TextPart("and more"))
	}
	id := l.Session
	if a.dice(30) {
		id = a.s.ID
	}
	r, err := a.handle().Post(a.ctx, id, in)
	switch {
	case err == nil && !r.Duplicate:
		a.ledger.bad("%s was taken twice: %+v", l.Ref.ID, r)
	case err == nil && other && !a.takes:
		a.ledger.bad("%s with other words was taken for the same: %+v", l.Ref.ID, r)
	}
	return err
}

func (a actor) withdraw() error {
	inputs, err := a.gate.Store.OpenInputs(a.ctx, parley.SeeAll(), "", parley.InputRef{}, 100)
	if err != nil || len(inputs) == 0 {
		return err
	}
	in := inputs[a.rng.IntN(len(inputs))]
	a.ledger.write(line{Kind: "withdraw", Ref: in.Ref})
	_, err = a.handle().Withdraw(a.ctx, in.Session, in.Ref)
	return err
}

func (a actor) cancel() error {
	turns, err := a.gate.Store.OpenTurns(a.ctx, parley.SeeAll(), "")
	if err != nil || len(turns) == 0 {
		return err
	}
	t := turns[a.rng.IntN(len(turns))]
	if a.dice(30) {
		_, err = a.handle().Cancel(a.ctx, t.Session, "")
		return err
	}
	ok, err := a.handle().Cancel(a.ctx, t.Session, t.ID)
	if ok && err == nil {
		a.ledger.write(line{Kind: "cancel", Session: t.Session, Turn: t.ID})
	}
	return err
}

func (a actor) approve() error {
	pending, err := a.gate.Store.Approvals(a.ctx, parley.SeeAll(), "")
	if err != nil || len(pending) == 0 {
		return err
	}
	q := pending[a.rng.IntN(len(pending))]
	remember := engine.RememberOnce
	if a.dice(10) {
		remember = engine.RememberSession
	}
	return a.handle().Approve(a.ctx, q.Session, q.Call, a.dice(60), remember)
}

func (a actor) reset() error {
	next, err := a.handle().Reset(a.ctx, a.s.ID, engine.Anew{})
	if err == nil {
		a.ledger.write(line{Kind: "created", Session: next.ID})
	}
	return err
}

func (a actor) resume() error {
	_, err := a.handle().Resume(a.ctx, a.s.ID)
	return err
}

func (a actor) fork() error {
	at := uint64(0)
	if a.dice(50) {
		at = 1 + a.rng.Uint64N(a.s.LastSeq)
	}
	next, err := a.handle().Fork(a.ctx, a.s.ID, at)
	if err == nil {
		a.ledger.write(line{Kind: "created", Session: next.ID})
	}
	return err
}

func (a actor) rewind() error {
	a.ledger.write(line{Kind: "rewind", Session: a.s.ID})
	_, err := a.handle().Rewind(a.ctx, a.s.ID, 1+a.rng.IntN(2))
	a.ledger.write(line{Kind: "rewind", Session: a.s.ID})
	return err
}

// take takes something away for good.
func (a actor) take() error {
	if !a.takes {
		return a.post()
	}
	if a.dice(30) {
		a.ledger.write(line{Kind: "delete", Session: a.s.ID})
		return a.handle().Delete(a.ctx, a.s.ID, a.dice(30))
	}
	events, err := a.gate.Store.Events(a.ctx, parley.SeeAll(), a.s.ID, parley.EventQuery{
		Last: true, Limit: 10, Types: []parley.EventType{parley.EventMessage, parley.EventInput},
	})
	if err != nil || len(events) == 0 {
		return err
	}
	return a.handle().Redact(a.ctx, a.s.ID, []uint64{events[a.rng.IntN(len(events))].Seq}, "somebody asked for it")
}

func (a actor) passTime() error {
	a.clock.Advance([]time.Duration{time.Second, 10 * time.Second, 30 * time.Second, 3 * time.Minute, 15 * time.Minute}[a.rng.IntN(5)])
	a.ledger.write(line{Kind: "clock", At: a.clock.Now()})
	return nil
}

func (a actor) outage() error {
	a.mood.set(a.dice(40))
	return nil
}

// open opens a session again by its id.
func (a actor) open() error {
	_, err := a.handle().Open(a.ctx, engine.Opening{ID: a.s.ID, Metadata: map[string]string{"n": fmt.Sprint(a.rng.IntN(3))}})
	return err
}

// probe looks whether bob finds what is not his.
func (a actor) probe() error {
	people, err := a.gate.Store.Participants(a.ctx, parley.SeeAll(), a.s.ID)
	if err != nil {
		return err
	}
	if bob.In(people) {
		return nil
	}
	h := a.eng.As(bob)
	if _, err := h.Session(a.ctx, a.s.ID); err == nil {
		a.ledger.bad("bob reads %s", a.s.ID)
	}
	if _, err := h.Post(a.ctx, a.s.ID, say("bob"+fmt.Sprint(a.rng.Uint64()), "hi")); err == nil {
		a.ledger.bad("bob writes in %s", a.s.ID)
	}
	for _, err := range h.Events(a.ctx, a.s.ID, parley.Position{}) {
		if err == nil {
			a.ledger.bad("bob follows %s", a.s.ID)
		}
		break
	}
	page, err := h.Sessions(a.ctx, parley.SessionQuery{IncludeInactive: true})
	for _, s := range page.Sessions {
		if s.ID == a.s.ID {
			a.ledger.bad("bob finds %s", a.s.ID)
		}
	}
	return err
}
