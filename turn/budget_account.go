package turn

import (
	"context"
	"slices"

	"github.com/parley-run/parley"
)

// Account is what one turn spends from, a [parley.Budget]. It may be used from
// many goroutines.
type Account struct {
	ledger    *Ledger
	name      accountName
	principal parley.Principal
	agent     string

	// The ledger's mutex guards these.
	own     []*pot // of the turn and its session
	periods []*pot // of each day and month it has spent in
	charged int64  // what the turn has cost so far
	open    map[*reservation]bool
	closed  bool
}

var _ parley.Budget = (*Account)(nil)

// reservation is money set aside in several pots.
type reservation struct {
	pots   []*pot
	amount int64
}

// openOwn makes the pots that no other account uses: a session has one turn at a
// time.
func (a *Account) openOwn(r *OpenRequest, limits BudgetLimits) {
	session := accountName{session: a.name.session}
	for _, p := range []pot{
		{name: potName{kind: BudgetTurn, turn: a.name}, limit: limits.Turn},
		{name: potName{kind: BudgetAutomationRun, turn: a.name}, limit: limits.AutomationRun},
		{name: potName{kind: BudgetSession, turn: session}, limit: limits.Session, spent: r.Session.Counters.CostMicroUSD},
	} {
		if p.limit <= 0 || p.name.kind == BudgetAutomationRun && r.Kind != parley.InputAutomation {
			continue
		}
		p.spent += a.charged
		a.own = append(a.own, &p)
	}
}

// present gives the pots of the present day and month. The first time in a day
// or month it may have to read the store.
func (a *Account) present(ctx context.Context) ([]*pot, error) {
	now := a.ledger.now()
	var list []*pot
	for _, wanted := range []pot{a.day(now), a.month(now)} {
		if wanted.limit <= 0 {
			continue
		}
		p, err := a.period(ctx, wanted)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// period gives the pot of a period, which the account keeps from then on.
func (a *Account) period(ctx context.Context, wanted pot) (*pot, error) {
	l := a.ledger
	known := func(p *pot) bool { return p.name == wanted.name }
	l.mu.Lock()
	i := slices.IndexFunc(a.periods, known)
	if i >= 0 {
		defer l.mu.Unlock()
		return a.periods[i], nil
	}
	l.mu.Unlock()
	p, err := l.join(ctx, wanted)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.closed {
		l.drop(p)
		return p, nil
	}
	a.periods = append(a.periods, p) // twice, if two calls began the day: then it is left twice
	return p, nil
}

// Reserve implements [parley.Budget]. It fails with
// [parley.CodeBudgetExceeded] if a budget has no room, saying which, and as
// the store does if a day or month begins that cannot be read. Settle may be
// called again, which does nothing; nor does it once the account is closed.
func (a *Account) Reserve(ctx context.Context, microUSD int64) (settle func(spent int64), err error) {
	return a.reserve(ctx, microUSD, nil)
}

// Sub gives a budget within the account's for a turn that the turn runs itself: at
// most the limit, in millionths of a dollar, and what the account has room for.
// [BudgetLimits.Warn] does not soften its limit. 0 is no limit of its own.
func (a *Account) Sub(limit int64) parley.Budget {
	if limit <= 0 {
		return a
	}
	return &subAccount{account: a, pot: &pot{name: potName{kind: budgetSub, turn: a.name}, limit: limit}}
}

type subAccount struct {
	account *Account
	pot     *pot
}

// Reserve implements [parley.Budget].
func (s *subAccount) Reserve(ctx context.Context, microUSD int64) (settle func(spent int64), err error) {
	return s.account.reserve(ctx, microUSD, s.pot)
}

func (a *Account) reserve(ctx context.Context, microUSD int64, sub *pot) (func(spent int64), error) {
	present, err := a.present(ctx)
	if err != nil {
		return nil, err
	}
	r := &reservation{amount: max(microUSD, 0)}
	if sub != nil {
		r.pots = append(r.pots, sub)
	}
	warnings, err := a.setAside(r, present)
	if err != nil {
		return nil, err
	}
	a.warn(ctx, warnings)
	// What was spent is spent, also when the call was canceled.
	ctx = context.WithoutCancel(ctx)
	return func(spent int64) { a.warn(ctx, a.settle(r, max(spent, 0))) }, nil
}

// setAside takes the reservation out of all pots, or of none.
func (a *Account) setAside(r *reservation, present []*pot) ([]Warning, error) {
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.closed {
		return nil, parley.Errorf(parley.CodeConflict, "the account of turn %q is closed; open it again to spend", a.name.turn)
	}
	r.pots = slices.Concat(r.pots, a.own, present)
	for _, p := range r.pots {
		if !p.room(r.amount) && (!l.cfg.Limits.Warn || p.name.kind == budgetSub) {
			return nil, p.refuse(l.now(), r.amount)
		}
	}
	warnings := a.warnings(r.pots, r.amount)
	for _, p := range r.pots {
		p.reserved += r.amount
	}
	a.open[r] = true
	return warnings, nil
}

// settle replaces the reservation by what was spent, the first time.
func (a *Account) settle(r *reservation, spent int64) []Warning {
	a.ledger.mu.Lock()
	defer a.ledger.mu.Unlock()
	if !a.open[r] {
		return nil
	}
	a.release(r)
	a.charged += spent
	for _, p := range r.pots {
		p.spent += spent
	}
	return a.warnings(r.pots, 0)
}

func (a *Account) release(r *reservation) {
	delete(a.open, r)
	for _, p := range r.pots {
		p.reserved -= r.amount
	}
}

// Close ends the account of a completed turn, after the commit that completed
// it: what the turn has spent is the store's from then on. What is set aside
// still is set free. It may be called twice.
func (a *Account) Close() {
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.end() {
		l.leave(a)
		l.forget(a.name)
	}
}

// Suspend ends the account of a turn that has to wait. What it has spent is in
// no day of the store until the turn is completed, so the ledger keeps it until
// the turn is opened again or the periods it was spent in are over. It may be
// called twice, also after Close.
func (a *Account) Suspend() {
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if !a.end() || len(a.periods) == 0 {
		return
	}
	if other := l.suspended[a.name]; other != nil {
		l.leave(other)
	}
	l.suspended[a.name] = a
	l.sweep()
}

// end closes the account for further use and reports whether it was open.
func (a *Account) end() bool {
	if a.closed {
		return false
	}
	a.closed = true
	for r := range a.open {
		a.release(r)
	}
	return true
}

// sweep forgets suspended turns all of whose periods are over.
func (l *Ledger) sweep() {
	now := l.now()
	for name, a := range l.suspended {
		if !slices.ContainsFunc(a.periods, func(p *pot) bool { return now.Before(p.until) }) {
			delete(l.suspended, name)
			l.leave(a)
		}
	}
}
