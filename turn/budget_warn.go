package turn

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// maxTold bounds what a ledger remembers of its warnings; beyond that some are
// given again. Budgets of sessions have no end after which it could be forgotten.
const maxTold = 4096

// budgetMessage is a warning that is given once.
type budgetMessage struct {
	pot      potName
	exceeded bool
}

// warnings gives those that are due before an amount is taken out of pots, and
// notes that they were given.
func (a *Account) warnings(pots []*pot, amount int64) []Warning {
	l := a.ledger
	if l.cfg.WarnFunc == nil {
		return nil
	}
	var list []Warning
	for _, p := range pots {
		if p.name.kind == budgetSub {
			continue
		}
		exceeded := l.cfg.Limits.Warn && !p.room(amount)
		near := l.cfg.Limits.WarnAt > 0 && p.spent >= p.level(l.cfg.Limits.WarnAt)
		if exceeded && l.tell(p, true) || !exceeded && near && l.tell(p, false) {
			list = append(list, Warning{
				Budget: p.name.kind, Holder: p.name.holder(), Spent: p.spent, Limit: p.limit, Exceeded: exceeded,
				Session: a.name.session, Turn: a.name.turn,
			})
		}
	}
	return list
}

// tell notes that a warning is given and reports whether it was not before. Who
// knows that a budget is exceeded is not told that it is nearly used up.
func (l *Ledger) tell(p *pot, exceeded bool) bool {
	known := func(exceeded bool) bool { _, ok := l.told[budgetMessage{p.name, exceeded}]; return ok }
	if known(exceeded) || known(true) {
		return false
	}
	if len(l.told) >= maxTold {
		now := l.now()
		maps.DeleteFunc(l.told, func(_ budgetMessage, until time.Time) bool { return !until.IsZero() && !now.Before(until) })
		if len(l.told) >= maxTold {
			clear(l.told)
		}
	}
	l.told[budgetMessage{p.name, exceeded}] = p.until
	return true
}

// forget lets go of the warnings about a turn that is over.
func (l *Ledger) forget(turn accountName) {
	for _, kind := range []BudgetKind{BudgetTurn, BudgetAutomationRun} {
		for _, exceeded := range []bool{false, true} {
			delete(l.told, budgetMessage{potName{kind: kind, turn: turn}, exceeded})
		}
	}
}

func (a *Account) warn(ctx context.Context, list []Warning) {
	for _, w := range list {
		a.ledger.cfg.WarnFunc(ctx, w)
	}
}

// refuse says why an amount cannot be taken out of the pot, and what to do.
func (p *pot) refuse(now time.Time, amount int64) error {
	text := fmt.Sprintf("the budget of %s for %s has no room for the next model call: %s is spent",
		dollars(p.limit), p.owner(), dollars(p.spent))
	if p.reserved > 0 {
		text += fmt.Sprintf(", %s is set aside for calls under way", dollars(p.reserved))
	}
	e := parley.Errorf(parley.CodeBudgetExceeded, "%s, and the call may cost %s; %s", text, dollars(amount), p.advice(amount))
	if p.helpsToWait(amount) {
		e.RetryAfter = p.until.Sub(now)
	}
	return e
}

// helpsToWait reports whether the next period has room.
func (p *pot) helpsToWait(amount int64) bool { return !p.until.IsZero() && amount <= p.limit }

func (p *pot) owner() string {
	switch p.name.kind {
	case BudgetUserDay:
		if p.name.user == "" {
			return fmt.Sprintf("identity %q on %s (UTC)", p.name.identity, p.name.from.Format(time.DateOnly))
		}
		return fmt.Sprintf("user %q on %s (UTC)", p.name.user, p.name.from.Format(time.DateOnly))
	case BudgetAgentMonth:
		return fmt.Sprintf("agent %q in %s (UTC)", p.name.agent, p.name.from.Format("2006-01"))
	case BudgetAutomationRun:
		return "one run of an automation"
	case BudgetSession:
		return "this session"
	case budgetSub:
		return "this part of the turn"
	}
	return "one turn"
}

func (p *pot) advice(amount int64) string {
	raise := fmt.Sprintf("raise budget.%s", p.name.kind)
	switch {
	case p.name.kind == budgetSub:
		return "give it more, or less to do"
	case p.helpsToWait(amount):
		return fmt.Sprintf("go on after %s UTC, or %s", p.until.Format("2006-01-02 15:04"), raise)
	case p.name.kind == BudgetSession:
		return "start a new session, or " + raise
	case !p.until.IsZero():
		return raise
	}
	return "ask for less at once, or " + raise
}

// dollars shows an amount to people, exact and with no more digits than it takes.
func dollars(microUSD int64) string {
	sign := ""
	if microUSD < 0 {
		sign, microUSD = "-", -microUSD
	}
	cents := strings.TrimRight(fmt.Sprintf("%06d", microUSD%1_000_000), "0")
	return sign + "$" + strconv.FormatInt(microUSD/1_000_000, 10) + "." + cents + strings.Repeat("0", max(0, 2-len(cents)))
}
