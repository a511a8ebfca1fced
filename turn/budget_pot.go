package turn

import (
	"context"
	"time"

	"github.com/parley-run/parley"
)

// potName says whose money it is, and of when.
type potName struct {
	kind     BudgetKind
	user     parley.UserID
	identity parley.IdentityID // of nobody
	agent    string
	turn     accountName // turn is empty for a session
	from     time.Time   // zero: no period
}

// pot is one limit and what is gone of it. The ledger's mutex guards it.
type pot struct {
	name     potName
	limit    int64
	spent    int64
	reserved int64
	until    time.Time // the end of its period; zero: none

	// These are of periods only.
	accounts int           // that use it
	reading  chan struct{} // held by who reads what the store has
	read     bool          // guarded by reading
}

// room reports whether as much can be taken out. What is left may be negative:
// a call can cost more than was set aside for it.
func (p *pot) room(microUSD int64) bool { return microUSD <= p.limit-p.spent-p.reserved }

// level gives the amount at which a part of the limit is used up.
func (p *pot) level(percent int) int64 {
	n := int64(percent)
	return p.limit/100*n + (p.limit%100*n+99)/100
}

// holder names whose pot it is.
func (n *potName) holder() string {
	switch {
	case n.user != "":
		return string(n.user)
	case n.identity != "":
		return string(n.identity)
	case n.agent != "":
		return n.agent
	case n.turn.turn != "":
		return string(n.turn.turn)
	}
	return string(n.turn.session)
}

// day and month give the pots of the account's holder at a time, without what is
// gone of them.
func (a *Account) day(now time.Time) pot {
	year, month, day := now.Date()
	from := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	name := potName{kind: BudgetUserDay, user: a.principal.User, from: from}
	if name.user == "" {
		name.identity = a.principal.Identity
	}
	return pot{name: name, limit: a.ledger.cfg.Limits.UserDay, until: from.AddDate(0, 0, 1)}
}

func (a *Account) month(now time.Time) pot {
	from := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	name := potName{kind: BudgetAgentMonth, agent: a.agent, from: from}
	return pot{name: name, limit: a.ledger.cfg.Limits.AgentMonth, until: from.AddDate(0, 1, 0)}
}

// join gives the pot of a period to one more account, and reads what the store
// has if it is the first. The caller leaves it again with [Ledger.drop].
func (l *Ledger) join(ctx context.Context, wanted pot) (*pot, error) {
	l.mu.Lock()
	p := l.periods[wanted.name]
	if p == nil {
		p = &wanted
		p.reading = make(chan struct{}, 1)
		l.periods[p.name] = p
	}
	p.accounts++
	l.mu.Unlock()
	if err := l.readPot(ctx, p); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.drop(p)
		return nil, err
	}
	return p, nil
}

// readPot reads what the store has, unless somebody has done so. Nobody has
// charged the pot before: those who charge it have it read first, and while one
// of them is there the pot stays.
func (l *Ledger) readPot(ctx context.Context, p *pot) error {
	select {
	case p.reading <- struct{}{}:
		defer func() { <-p.reading }()
	case <-ctx.Done():
		return &parley.Error{Code: parley.CodeUnavailable, Op: "read what was spent", Err: ctx.Err()}
	}
	if p.read {
		return nil
	}
	u, err := l.usage.Spent(ctx, parley.SpentQuery{
		User: p.name.user, Identity: p.name.identity, Agent: p.name.agent, From: p.name.from, Until: p.until,
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	p.spent += u.CostMicroUSD
	l.mu.Unlock()
	p.read = true
	return nil
}

// drop takes an account off the pot of a period. Without any, the store has all
// that was spent of it.
func (l *Ledger) drop(p *pot) {
	if p.accounts--; p.accounts == 0 {
		delete(l.periods, p.name)
	}
}

// leave takes an account off all its periods.
func (l *Ledger) leave(a *Account) {
	for _, p := range a.periods {
		l.drop(p)
	}
	a.periods = nil
}
