package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/turn"
)

const oneDollar = 1_000_000

// budgetNoon is when the tests of budgets begin.
var budgetNoon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// budgetClock stands still until it is set.
type budgetClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *budgetClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *budgetClock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

func (*budgetClock) AfterFunc(time.Duration, func()) func() bool {
	panic("the ledger waits for nothing")
}

// budgetBooks are what a store knows about spending, in memory.
type budgetBooks struct {
	mu      sync.Mutex
	entries []budgetEntry
	owners  map[parley.IdentityID]parley.UserID
	fails   error
	before  func() // called in each read
}

type budgetEntry struct {
	at       time.Time
	agent    string
	identity parley.IdentityID
	cost     int64
}

func (b *budgetBooks) add(e budgetEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = append(b.entries, e)
}

func (b *budgetBooks) Spent(_ context.Context, q parley.SpentQuery) (parley.Usage, error) {
	if b.before != nil {
		b.before()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var sum parley.Usage
	for _, e := range b.entries {
		if (q.Agent == "" || q.Agent == e.agent) && (q.Identity == "" || q.Identity == e.identity) &&
			(q.User == "" || q.User == b.owners[e.identity]) && !e.at.Before(q.From) && e.at.Before(q.Until) {
			sum.CostMicroUSD += e.cost
		}
	}
	return sum, b.fails
}

// budgetRig is a ledger with all that tests look at.
type budgetRig struct {
	*testing.T
	books    *budgetBooks
	clock    *budgetClock
	ledger   *turn.Ledger
	warnings []turn.Warning
}

func newBudgetRig(t *testing.T, limits turn.BudgetLimits) *budgetRig {
	r := &budgetRig{T: t, books: &budgetBooks{}, clock: &budgetClock{at: budgetNoon}}
	r.ledger = turn.NewLedger(r.books, turn.LedgerConfig{
		Limits: limits, Clock: r.clock, WarnFunc: func(_ context.Context, w turn.Warning) { r.warnings = append(r.warnings, w) },
	})
	return r
}

// annasTurn is a turn of the user anna with the agent helper.
func annasTurn(id parley.TurnID) turn.OpenRequest {
	return turn.OpenRequest{
		Session:   parley.Session{ID: "cli:home", Agent: parley.AgentSnapshot{Name: "helper"}},
		Turn:      parley.Turn{ID: id, Session: "cli:home"},
		Principal: parley.Principal{Identity: "web:anna", User: "anna", Role: parley.RoleUser},
		Kind:      parley.InputMessage,
	}
}

func (r *budgetRig) open(req turn.OpenRequest) *turn.Account {
	r.Helper()
	a, err := r.ledger.Open(r.Context(), req)
	if err != nil {
		r.Fatalf("Open: %v", err)
	}
	return a
}

// spend reserves and settles the same amount.
func (r *budgetRig) spend(b parley.Budget, amount int64) {
	r.Helper()
	settle, err := b.Reserve(r.Context(), amount)
	if err != nil {
		r.Fatalf("Reserve %d: %v", amount, err)
	}
	settle(amount)
}

// fits makes sure that an amount can be set aside, and nothing above it.
func (r *budgetRig) fits(what string, b parley.Budget, amount int64) {
	r.Helper()
	if settle, err := b.Reserve(r.Context(), amount+1); !errors.Is(err, parley.ErrBudgetExceeded) {
		r.Errorf("%s: Reserve %d: %v; want it to be refused", what, amount+1, err)
		if err == nil {
			settle(0)
		}
	}
	settle, err := b.Reserve(r.Context(), amount)
	if err != nil {
		r.Errorf("%s: Reserve %d: %v", what, amount, err)
		return
	}
	settle(0)
}

func TestBudgetsOfEachKind(t *testing.T) {
	t.Parallel()
	used := func(n int64) parley.Usage { return parley.Usage{CostMicroUSD: n} }
	for name, test := range map[string]struct {
		limits  turn.BudgetLimits
		entries []budgetEntry
		change  func(*turn.OpenRequest)
		want    int64 // what is left
		text    string
		wait    time.Duration
	}{
		"turn": {
			limits: turn.BudgetLimits{Turn: oneDollar / 2},
			change: func(r *turn.OpenRequest) { r.Turn.Usage = used(450_000) },
			want:   50_000,
			text: "the budget of $0.50 for one turn has no room for the next model call: $0.45 is spent, and the call may cost $0.050001; " +
				"ask for less at once, or raise budget.turn",
		},
		"session": {
			limits: turn.BudgetLimits{Session: 3 * oneDollar},
			change: func(r *turn.OpenRequest) { r.Session.Counters.Usage, r.Turn.Usage = used(oneDollar), used(oneDollar/2) },
			want:   oneDollar + oneDollar/2,
			text: "the budget of $3.00 for this session has no room for the next model call: $1.50 is spent, and the call may cost $1.500001; " +
				"start a new session, or raise budget.session",
		},
		"user in a day": {
			limits: turn.BudgetLimits{UserDay: 2 * oneDollar},
			entries: []budgetEntry{
				{at: budgetNoon.Add(-12 * time.Hour), identity: "telegram:7", cost: 100_000},
				{at: budgetNoon, identity: "web:anna", cost: 200_000},
				{at: budgetNoon.Add(-12*time.Hour - 1), identity: "web:anna", cost: oneDollar},
				{at: budgetNoon, identity: "web:ben", cost: oneDollar},
			},
			change: func(r *turn.OpenRequest) { r.Turn.Usage = used(1_000) },
			want:   1_699_000,
			text: `the budget of $2.00 for user "anna" on 2026-01-31 (UTC) has no room for the next model call: $0.301 is spent, ` +
				"and the call may cost $1.699001; go on after 2026-02-01 00:00 UTC, or raise budget.user_day",
			wait: 12 * time.Hour,
		},
		"identity of nobody in a day": {
			limits:  turn.BudgetLimits{UserDay: oneDollar},
			entries: []budgetEntry{{at: budgetNoon, identity: "web:anna", cost: oneDollar}, {at: budgetNoon, identity: "web:guest", cost: 1}},
			change:  func(r *turn.OpenRequest) { r.Principal = parley.Principal{Identity: "web:guest"} },
			want:    oneDollar - 1,
			text: `the budget of $1.00 for identity "web:guest" on 2026-01-31 (UTC) has no room for the next model call: $0.000001 is spent, ` +
				"and the call may cost $1.00; go on after 2026-02-01 00:00 UTC, or raise budget.user_day",
			wait: 12 * time.Hour,
		},
		"agent in a month": {
			limits: turn.BudgetLimits{AgentMonth: 100 * oneDollar},
			entries: []budgetEntry{
				{at: budgetNoon.AddDate(0, 0, -30), agent: "helper", cost: 98 * oneDollar},
				{at: budgetNoon, agent: "helper", cost: oneDollar},
				{at: budgetNoon.AddDate(0, 0, -31), agent: "helper", cost: oneDollar},
				{at: budgetNoon, agent: "coder", cost: oneDollar},
			},
			want: oneDollar,
			text: `the budget of $100.00 for agent "helper" in 2026-01 (UTC) has no room for the next model call: $99.00 is spent, ` +
				"and the call may cost $1.000001; go on after 2026-02-01 00:00 UTC, or raise budget.agent_month",
			wait: 12 * time.Hour,
		},
		"more than a day has": {
			limits: turn.BudgetLimits{UserDay: oneDollar}, want: oneDollar,
			text: `the budget of $1.00 for user "anna" on 2026-01-31 (UTC) has no room for the next model call: $0.00 is spent, ` +
				"and the call may cost $1.000001; raise budget.user_day",
		},
		"automation": {
			limits: turn.BudgetLimits{AutomationRun: oneDollar},
			change: func(r *turn.OpenRequest) { r.Kind, r.Turn.Usage = parley.InputAutomation, used(oneDollar/4) },
			want:   750_000,
			text: "the budget of $1.00 for one run of an automation has no room for the next model call: $0.25 is spent, " +
				"and the call may cost $0.750001; ask for less at once, or raise budget.automation_run",
		},
		"the tightest counts": {
			limits: turn.BudgetLimits{Turn: 5, Session: 4, UserDay: 3, AgentMonth: 2, AutomationRun: 1}, want: 2,
			text: `the budget of $0.000002 for agent "helper" in 2026-01 (UTC) has no room for the next model call: $0.00 is spent, ` +
				"and the call may cost $0.000003; raise budget.agent_month",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newBudgetRig(t, test.limits)
			r.books.entries = test.entries
			r.books.owners = map[parley.IdentityID]parley.UserID{"web:anna": "anna", "telegram:7": "anna"}
			req := annasTurn("t1")
			if test.change != nil {
				test.change(&req)
			}
			a := r.open(req)
			r.fits("at first", a, test.want)
			_, err := a.Reserve(t.Context(), test.want+1)
			var e *parley.Error
			if !errors.As(err, &e) || e.Message != test.text || e.RetryAfter != test.wait {
				t.Errorf("Reserve: %v, wait %v\nwant %s, wait %v", err, e.RetryAfter, test.text, test.wait)
			}
			r.spend(a, test.want)
			r.fits("when all is spent", a, 0)
			a.Close()
		})
	}
}

func TestNoLimitIsNoLimit(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{WarnAt: 80, AutomationRun: 1}) // a person's turn is no run of an automation
	r.books.fails = errors.New("nobody has to ask")
	a := r.open(annasTurn("t1"))
	r.spend(a, 1<<53)
	r.spend(a, 1<<53)
	a.Suspend()
	r.spend(r.open(annasTurn("t1")), 1<<53)
	if len(r.warnings) > 0 {
		t.Errorf("warnings: %v", r.warnings)
	}
}

func TestSettleReplacesTheReservationOnce(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{Turn: 100, UserDay: 90})
	a := r.open(annasTurn("t1"))
	first, err := a.Reserve(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	r.fits("beside a reservation", a, 30)
	_, err = a.Reserve(t.Context(), 31)
	if err == nil || !strings.Contains(err.Error(), "$0.00 is spent, $0.00006 is set aside for calls under way, and") {
		t.Errorf("Reserve: %v", err)
	}
	first(20)
	r.fits("after it was settled", a, 70)
	first(20)
	first(0)
	r.fits("after it was settled again", a, 70)
	second, err := a.Reserve(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	second(85) // dearer than thought
	if _, err := a.Reserve(t.Context(), 0); !errors.Is(err, parley.ErrBudgetExceeded) {
		t.Errorf("Reserve beyond the limit: %v", err)
	}
	third := r.open(annasTurn("t2"))
	if _, err := third.Reserve(t.Context(), -1000); !errors.Is(err, parley.ErrBudgetExceeded) {
		t.Errorf("Reserve less than nothing: %v", err)
	}
}

func TestWarningsAreGivenOnce(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{Turn: 99, Session: 100, UserDay: 200, WarnAt: 80})
	session := parley.Usage{}
	run := func(id parley.TurnID, amounts ...int64) {
		req := annasTurn(id)
		req.Session.Counters.Usage = session
		a := r.open(req)
		for _, n := range amounts {
			r.spend(a, n)
			session.CostMicroUSD += n
		}
		r.books.add(budgetEntry{at: r.clock.Now(), identity: "web:anna", cost: sumOf(amounts)})
		a.Close()
	}
	r.books.owners = map[parley.IdentityID]parley.UserID{"web:anna": "anna"}
	warns := func(want ...turn.Warning) {
		t.Helper()
		if d := cmp.Diff(want, r.warnings); d != "" {
			t.Errorf("warnings: %s", d)
		}
		r.warnings = nil
	}
	run("t1", 79)
	warns()
	run("t2", 1, 1, 1)
	warns(turn.Warning{Budget: turn.BudgetSession, Holder: "cli:home", Spent: 80, Limit: 100, Session: "cli:home", Turn: "t2"})
	session = parley.Usage{}
	run("t3", 70, 10, 1)
	warns(turn.Warning{Budget: turn.BudgetTurn, Holder: "t3", Spent: 80, Limit: 99, Session: "cli:home", Turn: "t3"},
		turn.Warning{Budget: turn.BudgetUserDay, Holder: "anna", Spent: 162, Limit: 200, Session: "cli:home", Turn: "t3"})
	run("t4", 1, 1)
	warns()
	r.clock.set(budgetNoon.AddDate(0, 0, 1))
	session = parley.Usage{}
	run("t5", 70)
	run("t6", 30)
	session = parley.Usage{}
	run("t7", 60, 1)
	warns(turn.Warning{Budget: turn.BudgetUserDay, Holder: "anna", Spent: 160, Limit: 200, Session: "cli:home", Turn: "t7"})
	if periods, suspended, told := r.ledger.Held(); periods+suspended != 0 || told != 3 {
		t.Errorf("the ledger holds %d periods, %d suspended turns and %d warnings", periods, suspended, told)
	}
}

func sumOf(list []int64) (n int64) {
	for _, x := range list {
		n += x
	}
	return n
}

func TestAnExceededBudgetMayWarnOnly(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{Turn: 100, AgentMonth: 1000, WarnAt: 50, Warn: true})
	a := r.open(annasTurn("t1"))
	r.spend(a, 60)
	r.spend(a, 41)
	r.spend(a, 41)
	settle, err := a.Sub(2000).Reserve(t.Context(), 900)
	if err != nil {
		t.Fatal(err)
	}
	settle(500) // who was told of more is not told of less
	r.spend(a, 1)
	want := []turn.Warning{
		{Budget: turn.BudgetTurn, Holder: "t1", Spent: 60, Limit: 100, Session: "cli:home", Turn: "t1"},
		{Budget: turn.BudgetTurn, Holder: "t1", Spent: 60, Limit: 100, Exceeded: true, Session: "cli:home", Turn: "t1"},
		{Budget: turn.BudgetAgentMonth, Holder: "helper", Spent: 142, Limit: 1000, Exceeded: true, Session: "cli:home", Turn: "t1"},
	}
	if d := cmp.Diff(want, r.warnings); d != "" {
		t.Errorf("warnings: %s", d)
	}
	if _, err := a.Sub(10).Reserve(t.Context(), 11); !errors.Is(err, parley.ErrBudgetExceeded) {
		t.Errorf("Reserve in a sub-account: %v", err)
	}
}

func TestSubAccountsHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{Turn: 100})
	a := r.open(annasTurn("t1"))
	sub, other := a.Sub(60), a.Sub(60)
	r.fits("the sub-account's limit", sub, 60)
	r.spend(sub, 50)
	r.fits("what is left of it", sub, 10)
	r.fits("what the turn has left", a, 50)
	r.fits("what another has left", other, 50)
	r.spend(a, 45)
	r.fits("what the turn leaves", sub, 5)
	r.fits("without a limit of its own", a.Sub(0), 5)
	a.Close()
	if _, err := sub.Reserve(t.Context(), 0); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("Reserve after Close: %v", err)
	}
}

func TestBudgetsFailWithTheirStore(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{UserDay: 10, AgentMonth: 10})
	r.books.fails = parley.Errorf(parley.CodeUnavailable, "the disk is gone")
	if _, err := r.ledger.Open(t.Context(), annasTurn("t1")); !errors.Is(err, parley.ErrUnavailable) {
		t.Fatalf("Open: %v", err)
	}
	if periods, _, _ := r.ledger.Held(); periods != 0 {
		t.Errorf("%d periods are held", periods)
	}
	r.books.fails = nil
	a := r.open(annasTurn("t1"))
	r.spend(a, 4)
	a.Suspend()
	r.clock.set(budgetNoon.AddDate(0, 0, 1))
	r.books.fails = parley.Errorf(parley.CodeUnavailable, "the disk is gone")
	if _, err := r.ledger.Open(t.Context(), annasTurn("t1")); !errors.Is(err, parley.ErrUnavailable) {
		t.Fatalf("Open of a suspended turn: %v", err)
	}
	r.clock.set(budgetNoon)
	other := r.open(annasTurn("t2"))
	r.fits("what a suspended turn leaves", other, 6)
	req := annasTurn("t1")
	req.Turn.Usage.CostMicroUSD = 4
	a = r.open(req)
	r.fits("when it goes on after all", a, 6)
	a.Close()
	other.Close()
	if periods, suspended, _ := r.ledger.Held(); periods+suspended != 0 {
		t.Errorf("%d periods and %d suspended turns are held", periods, suspended)
	}
	for _, req := range []turn.OpenRequest{{}, {Session: parley.Session{ID: "cli:home"}, Turn: parley.Turn{ID: "t"}}} {
		if _, err := r.ledger.Open(t.Context(), req); !errors.Is(err, parley.ErrInvalid) {
			t.Errorf("Open without what a budget is about: %v", err)
		}
	}
}

// TestOneReadsForAll opens accounts while another reads the store: who is canceled
// does not wait, a read that fails is made again, one that succeeds is not.
func TestOneReadsForAll(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{UserDay: 10})
	reading, finish := make(chan struct{}), make(chan struct{})
	var reads int
	r.books.before = func() {
		if reads++; reads == 1 {
			close(reading)
			<-finish
		}
	}
	failed := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		r.books.fails = errors.New("once")
		_, err := r.ledger.Open(t.Context(), annasTurn("t1"))
		r.books.fails = nil
		failed <- err
	}()
	<-reading
	cancel()
	if _, err := r.ledger.Open(ctx, annasTurn("t2")); !errors.Is(err, context.Canceled) || !errors.Is(err, parley.ErrUnavailable) {
		t.Errorf("Open: %v", err)
	}
	close(finish)
	if err := <-failed; err == nil {
		t.Error("Open: no error")
	}
	a := r.open(annasTurn("t3"))
	r.fits("after a failed read", a, 10)
	r.fits("from another turn", r.open(annasTurn("t4")), 10)
	if reads != 2 {
		t.Errorf("%d reads", reads)
	}
}

func TestLedgersForget(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{Session: 1, UserDay: 1 << 40, WarnAt: 50})
	for i := range 5000 {
		req := annasTurn("t1")
		req.Session.ID = parley.SessionID(fmt.Sprintf("cli:%d", i))
		a := r.open(req)
		r.spend(a, 1)
		a.Close()
	}
	if _, _, told := r.ledger.Held(); told > 4096 || len(r.warnings) != 5000 {
		t.Errorf("%d warnings were given, %d are remembered", len(r.warnings), told)
	}

	first, second := r.open(annasTurn("t1")), r.open(annasTurn("t1")) // which nobody should do
	first.Suspend()
	second.Suspend()
	r.open(annasTurn("t1")).Close()

	a := r.open(annasTurn("t2"))
	r.clock.set(budgetNoon.AddDate(0, 0, 1))
	r.books.before = a.Close // while the next day is read
	if _, err := a.Reserve(t.Context(), 0); !errors.Is(err, parley.ErrConflict) {
		t.Errorf("Reserve: %v", err)
	}
	if periods, suspended, _ := r.ledger.Held(); periods+suspended != 0 {
		t.Errorf("%d periods and %d suspended turns are held", periods, suspended)
	}
}
