package storetest

import (
	"context"
	"time"

	"github.com/parley-run/parley"
)

var approvalTests = []test{
	{"an approval is asked for and settled", func(f *fixture) {
		f.change(newSession(home))
		f.change(startTurn(home, "t1"))
		deadline := startOfTime.Add(time.Hour)
		f.change(parley.SessionChange{Session: home, Approvals: []parley.ApprovalChange{{
			Turn: "t1", Call: "c1", Tool: "shell", State: parley.ApprovalPending, Default: parley.ApprovalDenied, Deadline: deadline,
		}}})
		want := parley.Approval{
			Session: home, Turn: "t1", Call: "c1", Tool: "shell", State: parley.ApprovalPending,
			Default: parley.ApprovalDenied, Deadline: deadline, RequestedAt: f.now,
		}
		f.equal("asked", []parley.Approval{want}, approvalsOf(f, home))
		f.change(settle(home, "t1", "c1", parley.ApprovalApproved))
		want.State, want.DecidedBy, want.DecidedAt = parley.ApprovalApproved, anna, f.now
		f.equal("settled", []parley.Approval{want}, approvalsOf(f, home))
		f.equal("pending", []parley.Approval(nil), approvalsOf(f, ""))
	}},
	{"it is settled once", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(startTurn(home, "t1"), startTurn(away, "t1"))
		f.change(askFor(home, "t1", "c1"))
		f.refuseChange(parley.CodeConflict, askFor(home, "t1", "c1"))
		f.change(settle(home, "t1", "c1", parley.ApprovalExpired))
		for _, state := range answers {
			f.refuseChange(parley.CodeConflict, settle(home, "t1", "c1", state))
		}
		f.refuseChange(parley.CodeConflict, askFor(home, "t1", "c1"))
	}},
	{"what nobody asked for cannot be settled", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(startTurn(home, "t1"), startTurn(away, "t1"))
		f.change(askFor(home, "t1", "c1"))
		f.refuseChange(parley.CodeNotFound, settle(home, "t1", "c2", parley.ApprovalApproved))
		f.refuseChange(parley.CodeNotFound, settle(away, "t1", "c1", parley.ApprovalApproved))
		f.refuseChange(parley.CodeNotFound, settle(home, "t2", "c1", parley.ApprovalApproved))
		f.refuseChange(parley.CodeNotFound, askFor(home, "t2", "c1"))
	}},
	{"they come in the order they were asked for", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(startTurn(home, "t1"), startTurn(away, "t1"))
		f.change(askFor(away, "t1", "c3"))
		f.change(askFor(home, "t1", "c2"))
		f.change(askFor(home, "t1", "c1"), askFor(away, "t1", "c0"))
		f.change(settle(home, "t1", "c2", parley.ApprovalDenied))
		f.equal("all pending", []parley.CallID{"c3", "c1", "c0"}, callsOf(approvalsOf(f, "")))
		f.equal("of one session", []parley.CallID{"c2", "c1"}, callsOf(approvalsOf(f, home)))
	}},
	{"answer, deadline and cancel: one wins", func(f *fixture) {
		f.change(newSession(home))
		f.change(startTurn(home, "t1"))
		f.change(askFor(home, "t1", "c1"))
		won := race(f, len(answers), func(i int) parley.Batch {
			return parley.Batch{
				Expect: []parley.Expectation{
					parley.ApprovalIs{Session: home, Turn: "t1", Call: "c1", State: parley.ApprovalPending},
				},
				Sessions: []parley.SessionChange{settle(home, "t1", "c1", answers[i])},
			}
		})
		if len(won) != 1 {
			f.Fatalf("%d settled the approval, want 1", len(won))
		}
		f.equal("state", answers[won[0]], approvalsOf(f, home)[0].State)
	}},
}

func askFor(id parley.SessionID, turn parley.TurnID, call parley.CallID) parley.SessionChange {
	return parley.SessionChange{Session: id, Approvals: []parley.ApprovalChange{
		{Turn: turn, Call: call, Tool: "shell", State: parley.ApprovalPending, Default: parley.ApprovalDenied},
	}}
}

func settle(
	id parley.SessionID, turn parley.TurnID, call parley.CallID, state parley.ApprovalState,
) parley.SessionChange {
	return parley.SessionChange{Session: id, Approvals: []parley.ApprovalChange{
		{Turn: turn, Call: call, State: state, By: anna},
	}}
}

func approvalsOf(f *fixture, id parley.SessionID) []parley.Approval {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) ([]parley.Approval, error) { return s.Approvals(ctx, all, id) })
}

func callsOf(approvals []parley.Approval) []parley.CallID {
	var calls []parley.CallID
	for _, a := range approvals {
		calls = append(calls, a.Call)
	}
	return calls
}
