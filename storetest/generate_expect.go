package storetest

import (
	"github.com/parley-run/parley"
)

// expectations makes one of each kind; about half of them hold when the state
// is left to chance, and expectation corrects most of the others.
var expectations = []func(*generator) parley.Expectation{
	func(g *generator) parley.Expectation {
		return parley.KeyIs{Key: pick(g, keyNames), Session: either(g, "", pick(g, sessionIDs))}
	},
	func(g *generator) parley.Expectation {
		return parley.AliasIs{Alias: pick(g, aliasNames), Key: either(g, "", pick(g, keyNames))}
	},
	func(g *generator) parley.Expectation {
		return parley.FenceIs{Session: g.presentSession(), Fence: parley.Fence(g.IntN(3))}
	},
	func(g *generator) parley.Expectation {
		// Most sessions are idle, so that half of the lists do without it.
		list := []parley.Status{parley.StatusRunning, parley.StatusAwaitingApproval, parley.StatusInactive, parley.StatusIdle}
		to := either(g, len(list), g.upTo(len(list)-1))
		return parley.StatusIn{Session: g.presentSession(), Any: list[g.IntN(to):to]}
	},
	func(g *generator) parley.Expectation {
		return parley.RecoveryIs{Session: g.presentSession(), State: either(g, parley.RecoveryNone, parley.RecoverySuspended)}
	},
	func(g *generator) parley.Expectation {
		return parley.EndedIs{Session: g.presentSession(), Ended: g.chance(50)}
	},
	func(g *generator) parley.Expectation {
		return parley.QueuedAtMost{Session: g.presentSession(), Max: g.IntN(4)}
	},
	func(g *generator) parley.Expectation {
		ref := strangeRef
		if len(g.refs) > 0 {
			ref = pick(g, g.refs)
		}
		return parley.InputIs{Ref: ref, State: either(g, "", pick(g, inputStates))}
	},
	func(g *generator) parley.Expectation {
		return parley.TurnIs{Session: g.presentSession(), Turn: pick(g, turnIDs), State: either(g, "", pick(g, turnStates))}
	},
	func(g *generator) parley.Expectation {
		a := parley.ApprovalIs{Session: g.presentSession(), Turn: pick(g, turnIDs), Call: pick(g, callIDs)}
		if asked := g.oracle.approvals; len(asked) > 0 && g.chance(70) {
			one := pick(g, asked)
			a = parley.ApprovalIs{Session: one.Session, Turn: one.Turn, Call: one.Call}
		}
		a.State = either(g, "", parley.ApprovalPending, pick(g, answers))
		return a
	},
	func(g *generator) parley.Expectation {
		return parley.DeliveryIs{Delivery: pick(g, deliveryIDs), State: either(g, "", pick(g, deliveryStates))}
	},
	func(g *generator) parley.Expectation {
		id := g.presentSession()
		seq := uint64(g.upTo(4))
		if s := g.oracle.sessions[id]; s != nil {
			seq = uint64(g.IntN(len(s.shows) + 2))
		}
		return parley.EventIntact{Session: id, Seq: seq}
	},
	func(g *generator) parley.Expectation {
		return parley.IdentityIs{Identity: pick(g, identityIDs), User: either(g, "", pick(g, userIDs))}
	},
}

// expectation makes one that holds nine times out of ten.
func (g *generator) expectation() parley.Expectation {
	makes := pick(g, expectations)
	e := makes(g)
	for range 20 {
		if _, holds, err := g.oracle.actual(e); holds || err != nil || g.chance(10) {
			break
		}
		e = makes(g)
	}
	return e
}

// presentSession gives a session that exists, or at times one that does not.
func (g *generator) presentSession() parley.SessionID {
	if g.slip() {
		return nobody
	}
	id := pick(g, sessionIDs)
	for range 10 {
		if _, exists := g.oracle.sessions[id]; exists {
			break
		}
		id = pick(g, sessionIDs)
	}
	return id
}
