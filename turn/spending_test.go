package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/turn"
)

// till is a budget that adds up what is spent of it.
type till struct {
	parley.Budget
	spent *int64
}

func (b till) Reserve(ctx context.Context, n int64) (func(int64), error) {
	settle, err := b.Budget.Reserve(ctx, n)
	if err != nil {
		return nil, err
	}
	return func(spent int64) { *b.spent += spent; settle(spent) }, nil
}

// account opens the account of a turn, and has spent add up what goes through it.
func (l *lab) account(ledger *turn.Ledger, tc *parley.TurnContext, spent *int64) *turn.Account {
	l.t.Helper()
	a, err := ledger.Open(l.t.Context(), turn.OpenRequest{Session: tc.Session, Turn: tc.Turn, Principal: alice, Kind: parley.InputMessage})
	if err != nil {
		l.t.Fatal(err)
	}
	tc.Budget = till{a, spent}
	return a
}

// TestBrokenAnswersCount has a model whose answers break off, again and again: what
// each of them cost belongs to the turn, which ends when its budget is used up.
func TestBrokenAnswersCount(t *testing.T) {
	t.Parallel()
	const limit, attempts = 10_000, 40
	l := newLab(t)
	ledger := turn.NewLedger(l.store, turn.LedgerConfig{Clock: l.clock, Limits: turn.BudgetLimits{Turn: limit}})
	m := plays()
	m.info.Price = &parley.Price{Input: 1_000_000, Output: 1_000_000} // a millionth of a dollar a token
	for range attempts {
		m.answers = append(m.answers, fails(errDown, text(strings.Repeat("word ", 800)))) // 1000 tokens
	}
	r := runner(t, turn.Agent{Models: models(m), MaxTokens: 1500}, func(c *turn.Config) { c.Breaker.Failures = attempts + 1 })
	id := l.ask(parley.TextPart("Go"))
	spent := int64(0)
	for range attempts {
		tc := l.context(id)
		a := l.account(ledger, &tc, &spent)
		end, err := r.Run(t.Context(), tc)
		if err == nil {
			if e := end.Completed.Error; e == nil || e.Code != "budget_exceeded" {
				t.Errorf("%+v", end.Completed)
			}
			if got := end.Completed.Usage.CostMicroUSD; got != spent || spent > limit || spent < limit/2 {
				t.Errorf("a budget of %d: %d were spent, %d are on record", limit, spent, got)
			}
			return
		}
		wait, ok := errors.AsType[*parley.SuspendError](err)
		if !ok || wait.Usage.CostMicroUSD != spent {
			t.Fatalf("after %d: %+v", spent, err)
		}
		// As the engine does when a turn has to wait.
		l.commit(parley.SessionChange{Turns: []parley.TurnChange{{ID: id, Usage: &wait.Usage}}})
		a.Suspend()
		l.again(id)
	}
	t.Errorf("a budget of %d was not used up by %d", limit, spent)
}

// TestSubTurnsAreOnTheBooks has turns that give their work away: what that costs is
// in the usage of the turn, and so the day's budget holds over many turns.
func TestSubTurnsAreOnTheBooks(t *testing.T) {
	t.Parallel()
	const day, inner, outer = 500, 50, 2 * 5
	l := newLab(t)
	if _, err := l.store.Commit(t.Context(), parley.Batch{
		At:         start,
		Users:      []parley.UserChange{{User: parley.User{ID: alice.User, Role: alice.Role, CreatedAt: start}}},
		Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: alice.Identity, User: alice.User, CreatedAt: start}}},
	}); err != nil {
		t.Fatal(err)
	}
	ledger := turn.NewLedger(l.store, turn.LedgerConfig{Clock: l.clock, Limits: turn.BudgetLimits{UserDay: day}})
	spent := int64(0)
	turns := 0
	for ; turns < 2*day/inner; turns++ {
		sub := plays(says(text("A tree."), parley.ModelPiece{Done: &parley.ModelDone{StopReason: parley.StopDone, Usage: parley.Usage{CostMicroUSD: inner}}}))
		main := plays(says(call("delegate", `{"task":"Look."}`), done(parley.StopDone)), says(text("A tree."), done(parley.StopDone)))
		// These models have no price, so nothing is set aside: what was spent decides.
		d := &turn.Delegate{Name: "delegate", AgentFunc: func(context.Context, parley.ToolCaller) (turn.Agent, error) {
			return turn.Agent{Models: models(sub)}, nil
		}}
		r := runner(t, turn.Agent{Models: models(main), Tools: &bench{tools: map[string]toolFunc{"delegate": d.Run}}})
		d.Runner = r
		tc := l.context(l.ask(parley.TextPart("What is it?")))
		a := l.account(ledger, &tc, &spent)
		before := spent
		end, err := r.Run(t.Context(), tc)
		if err != nil {
			t.Fatal(err)
		}
		l.close(tc.Turn.ID, end)
		a.Close()
		if got := end.Completed.Usage.CostMicroUSD; got != spent-before {
			t.Fatalf("turn %d spent %d, and %d are on record", turns, spent-before, got)
		}
		if e := end.Completed.Error; e != nil {
			if e.Code != "budget_exceeded" {
				t.Errorf("%+v", e)
			}
			break
		}
		if spent-before != inner+outer {
			t.Fatalf("turn %d spent %d", turns, spent-before)
		}
	}
	if spent < day || spent > day+inner+outer {
		t.Errorf("a day's budget of %d let %d pass in %d turns", day, spent, turns)
	}
}
