package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/turn"
)

// newLedger makes the ledger of budgets; nil if nothing is limited.
func (in *installation) newLedger(b config.Budget) *turn.Ledger {
	if !b.Set() {
		return nil
	}
	return turn.NewLedger(in.store, turn.LedgerConfig{
		Limits: turn.BudgetLimits{
			Turn: b.Turn, Session: b.Session, UserDay: b.UserDay, AgentMonth: b.AgentMonth, AutomationRun: b.AutomationRun,
			WarnAt: b.WarnAt, Warn: b.OnExceed == "warn",
		},
		WarnFunc: in.warnOfBudget,
	})
}

// budget opens the account of a turn. A turn keeps the ledger it began with, also if
// the budgets are changed meanwhile.
func (in *installation) budget(ctx context.Context, t parley.TurnContext, kind parley.InputKind) (parley.Budget, func(completed bool), error) {
	ledger := in.current().ledger
	if ledger == nil {
		return nil, func(bool) {}, nil
	}
	return ledger.ForTurn(ctx, t, kind)
}

// warnOfBudget tells the people of a session, and the log, of a budget that is nearly
// used up, or is.
func (in *installation) warnOfBudget(ctx context.Context, w turn.Warning) {
	state := "is nearly used up"
	if w.Exceeded {
		state = "is used up, and the work goes on all the same"
	}
	in.options.Log.Warn("a budget "+state, "budget", w.Budget, "holder", w.Holder, "spent_microusd", w.Spent, "limit_microusd", w.Limit, "session", w.Session, "turn", w.Turn)
	text := fmt.Sprintf("The budget %s of %s %s: $%.4f of $%.4f.", w.Budget, w.Holder, state, dollars(w.Spent), dollars(w.Limit))
	_, err := in.store.Commit(ctx, parley.Batch{At: time.Now(), Sessions: []parley.SessionChange{{
		Session: w.Session,
		Events:  []parley.NewEvent{{Body: &parley.Message{ID: "m_" + rand.Text(), Role: parley.MessageSystem, Hidden: true, Parts: []parley.Part{parley.TextPart(text)}}}},
	}}})
	if err != nil {
		in.options.Log.Warn("warn people of a budget", "session", w.Session, "error", err)
	}
}

func dollars(microUSD int64) float64 { return float64(microUSD) / 1e6 }
