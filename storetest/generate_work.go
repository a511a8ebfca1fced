package storetest

import (
	"maps"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

var (
	inputStates = []parley.InputState{
		parley.InputQueued, parley.InputRunning, parley.InputDone, parley.InputLogged,
		parley.InputSteered, parley.InputCarriedOut, parley.InputDropped,
	}
	turnStates = []parley.TurnState{
		parley.TurnRunning, parley.TurnAwaitingApproval, parley.TurnParked, parley.TurnDone,
	}
	answers = []parley.ApprovalState{
		parley.ApprovalApproved, parley.ApprovalDenied, parley.ApprovalExpired, parley.ApprovalCanceled,
	}
	deliveryStates = []parley.DeliveryState{
		parley.DeliveryPending, parley.DeliverySending, parley.DeliverySent, parley.DeliveryUnknown,
		parley.DeliveryHeld, parley.DeliveryDead, parley.DeliveryDropped,
	}
)

// work adds changes of inputs, turns and what belongs to them. Each is tried
// on the state ahead; what fails there fails in the batch, which is the point of
// a slip.
func (g *generator) work(c *parley.SessionChange, s *oracleSession) {
	for g.chance(30) {
		in, ok := g.inputChange(s)
		if !ok {
			break
		}
		c.Inputs = append(c.Inputs, in)
		_ = g.ahead.changeInput(s, in)
	}
	for g.chance(30) {
		t, ok := g.turnChange(s)
		if !ok {
			break
		}
		c.Turns = append(c.Turns, t)
		_ = s.changeTurn(g.now, t)
	}
	for g.chance(40) {
		call, ok := g.callChange(s)
		if !ok {
			break
		}
		c.Calls = append(c.Calls, call)
		_ = s.changeCall(g.now, call)
	}
	for g.chance(30) {
		a, ok := g.approvalChange(s)
		if !ok {
			break
		}
		c.Approvals = append(c.Approvals, a)
		_ = g.ahead.changeApproval(g.now, s, a)
	}
	for g.chance(30) {
		d := g.deliveryChange(s)
		if len(c.Events) > 0 && g.chance(40) {
			d.Event = g.upTo(len(c.Events))
		}
		c.Deliveries = append(c.Deliveries, d)
		_ = g.ahead.changeDelivery(g.now, s, d, len(c.Events))
	}
	for g.chance(20) {
		n := g.noticeChange(s)
		c.Notices = append(c.Notices, n)
		_ = s.changeNotice(g.now, n)
	}
}

func (g *generator) inputChange(s *oracleSession) (parley.InputChange, bool) {
	c := parley.InputChange{
		State: pick(g, inputStates), Decision: either(g, "", "its turn is done"), Turn: either(g, "", pick(g, turnIDs)),
		NotBefore: maybe(g, 30, func() time.Time { return either(g, g.moment(), time.Time{}) }),
	}
	known := g.knownInputs(s, func(oracleInput) bool { return true })
	switch {
	case g.slip():
		c.Ref = strangeRef
		if len(g.refs) > 0 {
			c.Ref = pick(g, g.refs) // most likely another session's
		}
	case len(known) == 0:
		return c, false
	default:
		c.Ref = pick(g, known)
	}
	return c, true
}

// openTurns gives the turns of a session that work can still be done in.
func openTurns(s *oracleSession) []parley.TurnID {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.turns)), func(id parley.TurnID) bool {
		return s.turns[id].State == parley.TurnDone
	})
}

func (g *generator) turnChange(s *oracleSession) (parley.TurnChange, bool) {
	c := parley.TurnChange{
		State:       maybe(g, 50, func() parley.TurnState { return pick(g, turnStates) }),
		Attempt:     maybe(g, 30, func() int { return g.upTo(4) }),
		Cancel:      g.chance(15),
		StopReason:  maybe(g, 30, func() parley.StopReason { return either(g, parley.StopDone, parley.StopAborted) }),
		Usage:       maybe(g, 30, g.usage),
		ParkedUntil: maybe(g, 20, func() time.Time { return either(g, g.moment(), time.Time{}) }),
		Prompt: maybe(g, 30, func() parley.PromptRef {
			return parley.PromptRef{ID: "p", Version: g.upTo(3), SHA256: "ab"}
		}),
	}
	if g.chance(30) {
		c.Opaque = either(g, []byte{}, []byte{0, 1, 0xff}, []byte("signature"))
	}
	open := openTurns(s)
	switch {
	case g.slip():
		c.ID, c.Start = either(g, strangeTurn, pick(g, turnIDs)), g.chance(70)
		if t, known := s.turns[c.ID]; known && t.State == parley.TurnDone {
			c.Start = true // what a change of a completed turn does is not said
		}
		if c.ID == strangeTurn {
			c.Start = false
		}
	case len(open) > 0 && g.chance(60):
		c.ID = pick(g, open)
	case len(s.turns) < len(turnIDs):
		free := slices.DeleteFunc(slices.Clone(turnIDs), func(id parley.TurnID) bool {
			_, taken := s.turns[id]
			return taken
		})
		c.ID, c.Start = free[0], true
	default:
		return c, false
	}
	return c, true
}

func (g *generator) callChange(s *oracleSession) (parley.CallChange, bool) {
	c := parley.CallChange{ID: pick(g, callIDs), Tool: "shell", State: parley.CallStarted}
	if g.slip() {
		c.Turn = either(g, strangeTurn, pick(g, turnIDs))
		return c, true
	}
	open := openTurns(s)
	if len(open) == 0 {
		return c, false
	}
	c.Turn = pick(g, open)
	i := slices.IndexFunc(s.calls, func(call parley.Call) bool { return call.Turn == c.Turn && call.ID == c.ID })
	if i >= 0 && s.calls[i].State == parley.CallFinished && !g.slip() {
		return c, false
	}
	if i >= 0 != g.slip() {
		c.State = either(g, parley.CallFinished, parley.CallFinished, parley.CallUnknown)
	}
	if c.State == parley.CallFinished {
		c.Result = []byte(either(g, `{"text":"done <ok>"}`, `"text"`, `[1,2]`))
	}
	return c, true
}

func (g *generator) approvalChange(s *oracleSession) (parley.ApprovalChange, bool) {
	c := parley.ApprovalChange{
		Call: pick(g, callIDs), Tool: "shell", State: parley.ApprovalPending,
		Default: either(g, parley.ApprovalDenied, parley.ApprovalApproved),
	}
	if g.chance(70) {
		c.Deadline = g.moment()
	}
	asked := slices.DeleteFunc(slices.Clone(g.ahead.approvals), func(a parley.Approval) bool {
		return a.Session != s.row.ID || a.State != parley.ApprovalPending
	})
	open := openTurns(s)
	switch {
	case g.slip():
		c.Turn = either(g, strangeTurn, pick(g, turnIDs))
		if t := s.turns[c.Turn]; t.State == parley.TurnDone || g.chance(50) {
			c.State = pick(g, answers) // a question in a completed turn is not said to fail
		}
	case len(asked) > 0 && g.chance(60):
		a := pick(g, asked)
		c = parley.ApprovalChange{
			Turn: a.Turn, Call: a.Call, State: pick(g, answers), By: either(g, "", pick(g, identityIDs)),
		}
	case len(open) > 0:
		c.Turn = pick(g, open)
		if g.ahead.approval(s.row.ID, c.Turn, c.Call) >= 0 && !g.slip() {
			return c, false
		}
	default:
		return c, false
	}
	return c, true
}

func (g *generator) deliveryChange(s *oracleSession) parley.DeliveryChange {
	mine := slices.DeleteFunc(slices.Clone(deliveryIDs), func(id parley.DeliveryID) bool {
		i := g.ahead.delivery(id)
		return i < 0 || g.ahead.deliveries[i].Session != s.row.ID
	})
	free := slices.DeleteFunc(slices.Clone(deliveryIDs), func(id parley.DeliveryID) bool { return g.ahead.delivery(id) >= 0 })
	if len(free) > 0 && g.chance(60) || len(mine) == 0 {
		d := g.newDelivery(s)
		if len(free) > 0 && !g.slip() {
			d.ID = pick(g, free)
		}
		if len(mine) > 0 && g.chance(40) {
			d.Of, d.Part = pick(g, mine), g.upTo(3)
		} else if g.slip() {
			d.Of = either(g, "d0", pick(g, deliveryIDs))
		}
		return parley.DeliveryChange{New: d}
	}
	c := parley.DeliveryChange{
		ID:          pick(g, mine),
		Text:        maybe(g, 20, g.text),
		Markup:      maybe(g, 20, func() string { return either(g, "", "[]") }),
		Media:       maybe(g, 20, g.deliveryMedia),
		Draft:       maybe(g, 20, func() bool { return g.chance(50) }),
		Again:       maybe(g, 20, func() bool { return g.chance(50) }),
		State:       maybe(g, 60, func() parley.DeliveryState { return pick(g, deliveryStates) }),
		Attempts:    maybe(g, 40, func() int { return g.IntN(4) }),
		NextAttempt: maybe(g, 40, func() time.Time { return either(g, g.moment(), time.Time{}) }),
		AttemptedAt: maybe(g, 20, func() time.Time { return either(g, g.moment(), time.Time{}) }),
		PlatformID:  maybe(g, 30, func() string { return either(g, "", "platform 1") }),
		LastError:   maybe(g, 30, func() string { return either(g, "", "429\nslow down") }),
	}
	if g.slip() {
		c.ID = either(g, "d0", pick(g, deliveryIDs))
	}
	return c
}

// deliveryMedia gives the media of a delivery, mostly none.
func (g *generator) deliveryMedia() []parley.Media {
	if g.chance(70) {
		return nil
	}
	return []parley.Media{*g.media()}
}

func (g *generator) newDelivery(s *oracleSession) *parley.Delivery {
	d := &parley.Delivery{
		ID: pick(g, deliveryIDs), Turn: either(g, "", pick(g, turnIDs)), Part: g.IntN(3), Text: g.text(),
		Seq:    g.intact(s, uint64(len(s.shows)), func(e *oracleEvent) bool { return e.Type == parley.EventMessage }),
		Target: g.target(),
		State:  either(g, parley.DeliveryPending, pick(g, deliveryStates)), Attempts: g.IntN(2),
		PlatformID: either(g, "", "platform 0"), LastError: either(g, "", "no\nroute"),
		Kind:   either(g, parley.DeliveryMessage, parley.DeliveryNotice, parley.DeliveryApproval, parley.DeliveryBacklog),
		Call:   either(g, "", pick(g, callIDs)),
		Markup: either(g, "", "[1]"), Media: g.deliveryMedia(), Draft: g.chance(20), Again: g.chance(20),
	}
	if g.chance(30) {
		d.AttemptedAt = g.moment()
	}
	if g.chance(50) {
		d.NextAttempt = g.moment()
	}
	return d
}

func (g *generator) target() parley.Target {
	return parley.Target{
		Channel: "telegram", Account: either(g, "", "main"), Chat: either(g, "-100 7", "12"), Topic: either(g, "", "3"),
		ReplyTo: either(g, "", "41"),
	}
}

func (g *generator) noticeChange(s *oracleSession) parley.NoticeChange {
	id := pick(g, noticeIDs)
	there := slices.ContainsFunc(s.notices, func(n parley.Notice) bool { return n.ID == id })
	if there == g.slip() {
		return parley.NoticeChange{Add: &parley.Notice{ID: id, Kind: "restart", Text: g.text()}}
	}
	return parley.NoticeChange{Consume: id}
}
