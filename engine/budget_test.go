package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/turn"
)

// TestBudgets has turns spend from a ledger over the same store: what a turn has
// spent counts while it runs, while it waits, and after it has ended, once.
func TestBudgets(t *testing.T) {
	t.Parallel()
	const limit = 100
	var ledger *turn.Ledger
	wait := true
	s := newStage(t, engine.Config{
		BudgetFunc: func(ctx context.Context, tc parley.TurnContext, kind parley.InputKind) (parley.Budget, func(bool), error) {
			return ledger.ForTurn(ctx, tc, kind)
		},
		Runner: runs(func(ctx context.Context, tc parley.TurnContext) (parley.TurnEnd, error) {
			settle, err := tc.Budget.Reserve(ctx, 40)
			if err != nil {
				if !errors.Is(err, parley.ErrBudgetExceeded) {
					return parley.TurnEnd{}, err
				}
				return parley.TurnEnd{Completed: parley.TurnCompleted{StopReason: parley.StopError, Error: &parley.TurnError{Code: "budget_exceeded"}}}, nil
			}
			settle(40)
			end := ends(tc, "spent")
			end.Completed.Usage = tc.Turn.Usage.Plus(parley.Usage{InputTokens: 1, CostMicroUSD: 40})
			if wait {
				wait = false
				// What was spent before the wait is said with a message.
				m := parley.Message{ID: string(tc.Turn.ID) + ".x", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart("wait")}}
				if err := tc.Journal.Say(ctx, parley.Said{Message: m, Usage: end.Completed.Usage}); err != nil {
					return parley.TurnEnd{}, err
				}
				return parley.TurnEnd{}, &parley.SuspendError{After: time.Second, Err: parley.Errorf(parley.CodeUnavailable, "down")}
			}
			return end, nil
		}),
	})
	ledger = turn.NewLedger(s.store, turn.LedgerConfig{Limits: turn.BudgetLimits{UserDay: limit}, Clock: s.clock})
	if _, err := s.store.Commit(t.Context(), parley.Batch{
		At:         s.clock.Now(),
		Users:      []parley.UserChange{{User: parley.User{ID: "alice", Role: parley.RoleOwner, CreatedAt: s.clock.Now()}}},
		Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: "cli:alice", User: "alice", CreatedAt: s.clock.Now()}}},
	}); err != nil {
		t.Fatal(err)
	}
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "a"))
	s.clock.WaitForTimer(5 * time.Second)
	s.clock.Advance(5 * time.Second)
	s.turns(id, 1) // 80 by now
	s.post(alice, id, say("2", "b"))
	events := s.turns(id, 2)
	body, err := events[len(events)-1].Decode()
	if err != nil {
		t.Fatal(err)
	}
	if done := body.(*parley.TurnCompleted); done.Error == nil || done.Error.Code != "budget_exceeded" {
		t.Errorf("%+v", done)
	}
	s.clock.Advance(24 * time.Hour) // another day
	s.post(alice, id, say("3", "c"))
	events = s.turns(id, 3)
	if body, err = events[len(events)-1].Decode(); err != nil || body.(*parley.TurnCompleted).Error != nil {
		t.Errorf("%+v, %v", body, err)
	}
}
