package turn

import (
	"context"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// BudgetKind says what a budget is for. The names are those of the
// configuration.
type BudgetKind string

// The kinds of budgets.
const (
	BudgetTurn          BudgetKind = "turn"
	BudgetSession       BudgetKind = "session"
	BudgetUserDay       BudgetKind = "user_day"
	BudgetAgentMonth    BudgetKind = "agent_month"
	BudgetAutomationRun BudgetKind = "automation_run"

	budgetSub BudgetKind = "sub_turn" // what a turn gives to one that it runs itself
)

// BudgetLimits are budgets in millionths of a dollar. 0 is no limit.
type BudgetLimits struct {
	Turn          int64 // one turn, over all its attempts
	Session       int64 // all turns of a session
	UserDay       int64 // a user in a day (UTC), or an identity that belongs to no user
	AgentMonth    int64 // an agent in a month (UTC)
	AutomationRun int64 // a turn that an automation started
	WarnAt        int   // the percentage at which [LedgerConfig.WarnFunc] is called; 0: never
	// Warn lets calls pass that a budget has no room for, and says so instead.
	Warn bool
}

// Warning says that a budget is nearly used up, or is.
type Warning struct {
	Budget BudgetKind
	Holder string // whose budget: a user, an identity, an agent, a session or a turn
	Spent  int64  // in millionths of a dollar
	Limit  int64
	// Exceeded says that there is no room for the next call, which is made all
	// the same; see [BudgetLimits.Warn].
	Exceeded bool
	// Session and Turn are what brought it about.
	Session parley.SessionID
	Turn    parley.TurnID
}

// LedgerConfig says what a ledger allows.
type LedgerConfig struct {
	Limits BudgetLimits
	// Clock tells which day it is. nil: the machine's.
	Clock parley.Clock
	// WarnFunc is told once for each budget, holder and period in the life of a
	// ledger. It is called in the goroutine of the call that brought it about,
	// from several at once if several spend. nil: nobody is told.
	WarnFunc func(ctx context.Context, w Warning)
}

// Ledger knows what may still be spent. It holds what turns of this process have
// spent and set aside while they are open, and reads from the store what was
// spent before.
//
// A day or a month is read from the store when the first account needs it, and
// kept until the last one that does is closed. In between the ledger adds up
// itself: what an open turn spends is not in the store yet, what a closed one has
// spent is, and only who counts it once, when it is charged, never counts it
// twice or not at all while it is handed over. So what reaches the store past the
// ledger (an import, an account that was linked to a user) is seen once none of
// the holder's turns is open.
//
// A ledger may be used from many goroutines; it starts none.
type Ledger struct {
	usage parley.UsageReader
	cfg   LedgerConfig

	mu        sync.Mutex
	periods   map[potName]*pot
	suspended map[accountName]*Account
	told      map[budgetMessage]time.Time // when its period is over; zero: never
}

// accountName names a turn in the store.
type accountName struct {
	session parley.SessionID
	turn    parley.TurnID
}

// NewLedger makes a ledger over what a store says was spent.
func NewLedger(usage parley.UsageReader, cfg LedgerConfig) *Ledger {
	return &Ledger{
		usage: usage, cfg: cfg,
		periods: map[potName]*pot{}, suspended: map[accountName]*Account{}, told: map[budgetMessage]time.Time{},
	}
}

// OpenRequest names the turn that is about to spend, as the store has it.
type OpenRequest struct {
	Session   parley.Session
	Turn      parley.Turn
	Principal parley.Principal
	Kind      parley.InputKind // of the input that started the turn
}

func (r *OpenRequest) validate(limits BudgetLimits) error {
	switch {
	case r.Session.ID == "" || r.Turn.ID == "":
		return parley.Errorf(parley.CodeInvalid, "an account needs the session and the turn it is for")
	case limits.UserDay > 0 && r.Principal.User == "" && r.Principal.Identity == "":
		return parley.Errorf(parley.CodeInvalid, "there is a budget per user, but turn %q has no principal", r.Turn.ID)
	case limits.AgentMonth > 0 && r.Session.Agent.Name == "":
		return parley.Errorf(parley.CodeInvalid, "there is a budget per agent, but session %q has none", r.Session.ID)
	}
	return nil
}

// Open opens the account of a turn that starts or goes on. What the turn has
// spent before, which is in no day yet, is charged to the present day and month,
// unless the ledger still has it from [Account.Suspend]. It fails if the store
// cannot be read.
//
// Whoever completes a suspended turn without running it opens and closes its
// account as well.
func (l *Ledger) Open(ctx context.Context, r OpenRequest) (*Account, error) {
	if err := r.validate(l.cfg.Limits); err != nil {
		return nil, err
	}
	a := &Account{
		ledger: l, name: accountName{r.Session.ID, r.Turn.ID},
		principal: r.Principal, agent: r.Session.Agent.Name, open: map[*reservation]bool{},
	}
	l.mu.Lock()
	before := l.suspended[a.name]
	delete(l.suspended, a.name)
	if before != nil {
		a.periods, a.charged = before.periods, before.charged
	}
	l.mu.Unlock()
	present, err := a.present(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if before != nil {
			before.periods = a.periods
			l.suspended[a.name] = before
		} else {
			l.leave(a)
		}
		return nil, err
	}
	if missing := r.Turn.Usage.CostMicroUSD - a.charged; missing > 0 {
		a.charged += missing
		for _, p := range present {
			p.spent += missing
		}
	}
	a.openOwn(&r, l.cfg.Limits)
	return a, nil
}

// now gives the time in UTC.
func (l *Ledger) now() time.Time {
	if l.cfg.Clock == nil {
		return time.Now().UTC()
	}
	return l.cfg.Clock.Now().UTC()
}
