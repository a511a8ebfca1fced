package storetest

import (
	"errors"
	"fmt"

	"github.com/parley-run/parley"
)

// expectationCase is one kind of expectation in the world of [expectedWorld].
type expectationCase struct {
	holds  []parley.Expectation // also where nothing is there
	fails  parley.Expectation
	actual any
	gone   parley.Expectation // the same about what is not there
	zero   any                // the actual value of that; nil: the session is not found
}

var expectationCases = []expectationCase{
	{
		holds: []parley.Expectation{parley.KeyIs{Key: theme, Session: home}, parley.KeyIs{Key: "sk_v1_none"}},
		fails: parley.KeyIs{Key: theme, Session: away}, actual: home,
		gone: parley.KeyIs{Key: "sk_v1_none", Session: home}, zero: parley.SessionID(""),
	}, {
		holds: []parley.Expectation{parley.AliasIs{Alias: "a b", Key: theme}, parley.AliasIs{Alias: "none"}},
		fails: parley.AliasIs{Alias: "a b"}, actual: theme,
		gone: parley.AliasIs{Alias: "none", Key: theme}, zero: parley.Key(""),
	}, {
		holds: []parley.Expectation{parley.FenceIs{Session: home, Fence: 2}},
		fails: parley.FenceIs{Session: home, Fence: 1}, actual: parley.Fence(2),
		gone: parley.FenceIs{Session: nobody},
	}, {
		holds: []parley.Expectation{parley.StatusIn{
			Session: home, Any: []parley.Status{parley.StatusIdle, parley.StatusRunning},
		}},
		fails:  parley.StatusIn{Session: home, Any: []parley.Status{parley.StatusIdle}},
		actual: parley.StatusRunning, gone: parley.StatusIn{Session: nobody, Any: []parley.Status{parley.StatusIdle}},
	}, {
		holds: []parley.Expectation{}, // no status is one of none
		fails: parley.StatusIn{Session: home}, actual: parley.StatusRunning, gone: parley.StatusIn{Session: nobody},
	}, {
		holds: []parley.Expectation{parley.RecoveryIs{Session: home, State: parley.RecoverySuspended}},
		fails: parley.RecoveryIs{Session: home, State: parley.RecoveryNone}, actual: parley.RecoverySuspended,
		gone: parley.RecoveryIs{Session: nobody, State: parley.RecoveryNone},
	}, {
		holds: []parley.Expectation{parley.EndedIs{Session: home}},
		fails: parley.EndedIs{Session: home, Ended: true}, actual: false, gone: parley.EndedIs{Session: nobody},
	}, {
		holds: []parley.Expectation{parley.QueuedAtMost{Session: home, Max: 2}, parley.QueuedAtMost{Session: home, Max: 3}},
		fails: parley.QueuedAtMost{Session: home, Max: 1}, actual: 2, gone: parley.QueuedAtMost{Session: nobody, Max: 5},
	}, {
		holds: []parley.Expectation{
			parley.InputIs{Ref: post("3", "").Ref, State: parley.InputDone}, parley.InputIs{Ref: strangeRef},
		},
		fails: parley.InputIs{Ref: post("3", "").Ref}, actual: parley.InputDone,
		gone: parley.InputIs{Ref: strangeRef, State: parley.InputDone}, zero: parley.InputState(""),
	}, {
		holds: []parley.Expectation{
			parley.TurnIs{Session: home, Turn: "t1", State: parley.TurnParked}, parley.TurnIs{Session: home, Turn: "t0"},
		},
		fails: parley.TurnIs{Session: home, Turn: "t1", State: parley.TurnRunning}, actual: parley.TurnParked,
		gone: parley.TurnIs{Session: home, Turn: "t0", State: parley.TurnRunning}, zero: parley.TurnState(""),
	}, {
		fails: parley.TurnIs{Session: away, Turn: "t1", State: parley.TurnParked}, actual: parley.TurnState(""),
		gone: parley.TurnIs{Session: nobody, Turn: "t1"},
	}, {
		holds: []parley.Expectation{
			parley.ApprovalIs{Session: home, Turn: "t1", Call: "c1", State: parley.ApprovalPending},
			parley.ApprovalIs{Session: home, Turn: "t1", Call: "c0"},
			parley.ApprovalIs{Session: home, Turn: "t0", Call: "c1"},
		},
		fails:  parley.ApprovalIs{Session: home, Turn: "t1", Call: "c1", State: parley.ApprovalDenied},
		actual: parley.ApprovalPending,
		gone:   parley.ApprovalIs{Session: home, Turn: "t1", Call: "c0", State: parley.ApprovalPending},
		zero:   parley.ApprovalState(""),
	}, {
		fails:  parley.ApprovalIs{Session: away, Turn: "t1", Call: "c1", State: parley.ApprovalPending},
		actual: parley.ApprovalState(""), gone: parley.ApprovalIs{Session: nobody, Turn: "t1", Call: "c1"},
	}, {
		holds: []parley.Expectation{
			parley.DeliveryIs{Delivery: "d1", State: parley.DeliveryPending}, parley.DeliveryIs{Delivery: "d0"},
		},
		fails: parley.DeliveryIs{Delivery: "d1"}, actual: parley.DeliveryPending,
		gone: parley.DeliveryIs{Delivery: "d0", State: parley.DeliveryPending}, zero: parley.DeliveryState(""),
	}, {
		holds: []parley.Expectation{parley.EventIntact{Session: home, Seq: 1}, parley.EventIntact{Session: home, Seq: 3}},
		fails: parley.EventIntact{Session: home, Seq: 2}, actual: false,
		gone: parley.EventIntact{Session: nobody, Seq: 1},
	}, {
		fails: parley.EventIntact{Session: home, Seq: 4}, actual: false,
		gone: parley.EventIntact{Session: home, Seq: 0}, zero: false,
	}, {
		holds: []parley.Expectation{parley.IdentityIs{Identity: anna, User: "anna"}, parley.IdentityIs{Identity: ben}},
		fails: parley.IdentityIs{Identity: anna}, actual: parley.UserID("anna"),
		gone: parley.IdentityIs{Identity: ben, User: "anna"}, zero: parley.UserID(""),
	},
}

var expectationTests = []test{
	{"each kind holds or fails with what is there", func(f *fixture) {
		expectedWorld(f)
		for _, c := range expectationCases {
			for _, e := range c.holds {
				f.commit(parley.Batch{Expect: []parley.Expectation{e}})
			}
			f.expectFails(c.fails, c.actual)
			if c.zero != nil {
				f.expectFails(c.gone, c.zero)
				continue
			}
			f.refuse(parley.CodeNotFound, parley.Batch{Expect: []parley.Expectation{c.gone}})
		}
	}},
	{"what fails keeps the rest of the batch out", func(f *fixture) {
		expectedWorld(f)
		for _, c := range expectationCases {
			f.refuse(parley.CodeConflict, parley.Batch{
				Expect:   []parley.Expectation{c.fails},
				Sessions: []parley.SessionChange{newSession("cli:new", say("m", "x")), appendTo(home, say("m", "x"))},
				Users:    []parley.UserChange{{User: parley.User{ID: "ben", Role: parley.RoleUser, CreatedAt: f.now}}},
			})
		}
	}},
	{"the first that fails is named", func(f *fixture) {
		expectedWorld(f)
		holds, fails := parley.FenceIs{Session: home, Fence: 2}, parley.FenceIs{Session: home, Fence: 9}
		err := f.refusal(parley.CodeConflict, parley.Batch{Expect: []parley.Expectation{
			holds, holds, fails, parley.KeyIs{Key: theme}, parley.FenceIs{Session: nobody},
		}})
		var failed *parley.ExpectError
		if !errors.As(err, &failed) || failed.Index != 2 || failed.Expect != parley.Expectation(fails) {
			f.Errorf("error %v, want the expectation at 2", err)
		}
	}},
	{"the batch is judged by what was there before it", func(f *fixture) {
		f.refuse(parley.CodeNotFound, parley.Batch{
			Expect:   []parley.Expectation{parley.FenceIs{Session: home}},
			Sessions: []parley.SessionChange{newSession(home)},
		})
		f.change(newSession(home))
		f.commit(parley.Batch{
			Expect:   []parley.Expectation{parley.FenceIs{Session: home}},
			Sessions: []parley.SessionChange{{Session: home, Claim: true}},
		})
	}},
}

// expectFails makes sure that an expectation fails with this actual value, whose
// type counts too.
func (f *fixture) expectFails(e parley.Expectation, actual any) {
	f.Helper()
	err := f.refusal(parley.CodeConflict, parley.Batch{Expect: []parley.Expectation{e}})
	var failed *parley.ExpectError
	if !errors.As(err, &failed) {
		f.Errorf("%s: error %v is no ExpectError", describe(e), err)
		return
	}
	f.equal(fmt.Sprintf("ExpectError of %s", describe(e)), parley.ExpectError{Index: 0, Expect: e, Actual: actual}, *failed)
}

// expectedWorld makes one of everything that can be expected.
func expectedWorld(f *fixture) {
	f.Helper()
	c := keyedSession(home, theme)
	c.Claim = true
	c.Patch = parley.SessionPatch{
		Status: new(parley.StatusRunning), Recovery: &parley.Recovery{State: parley.RecoverySuspended},
	}
	done := post("3", "three")
	done.State = parley.InputDone
	c.Admit = []parley.Input{post("1", "one"), post("2", "two"), done}
	c.Turns = []parley.TurnChange{{ID: "t1", Start: true, State: new(parley.TurnParked)}}
	c.Approvals = []parley.ApprovalChange{{
		Turn: "t1", Call: "c1", Tool: "shell", State: parley.ApprovalPending, Default: parley.ApprovalDenied,
	}}
	c.Deliveries = []parley.DeliveryChange{delivery("d1", 0, "hello")}
	f.commit(parley.Batch{
		Blobs:    register(photo),
		Sessions: []parley.SessionChange{c, newSession(away)},
		Keys:     []parley.KeyChange{{Key: theme, Session: home}},
		Aliases:  []parley.AliasChange{{Alias: "a b", Key: theme}},
		Users:    []parley.UserChange{{User: parley.User{ID: "anna", Role: parley.RoleOwner, CreatedAt: f.now}}},
		Identities: []parley.IdentityChange{
			{Identity: parley.Identity{ID: anna, User: "anna", CreatedAt: f.now}},
		},
		Tokens:    []parley.TokenChange{tokenFor("one", 0, anna)},
		Passcodes: []parley.PasscodeChange{passcodeFor(link, 0, anna)},
		Audit:     []parley.AuditEntry{{Action: "token_created", Actor: anna, Subject: "one"}},
	})
	f.change(parley.SessionChange{Session: home, Claim: true, Redact: []uint64{2}})
}
