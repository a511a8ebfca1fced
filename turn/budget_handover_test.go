package turn_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
	"github.com/parley-run/parley/turn"
)

// TestSpendingIsHandedOverOnce follows a turn into the store: at no step is what it
// has spent counted twice, or not at all, whether or not another turn of the same
// user is open.
func TestSpendingIsHandedOverOnce(t *testing.T) {
	t.Parallel()
	for _, other := range []bool{false, true} {
		r := newBudgetRig(t, turn.BudgetLimits{UserDay: 100, AgentMonth: 200})
		r.books.owners = map[parley.IdentityID]parley.UserID{"web:anna": "anna"}
		if other {
			r.open(annasTurn("t0"))
		}
		look := func(what string, want int64) {
			t.Helper()
			a := r.open(annasTurn("looks"))
			defer a.Close()
			r.fits(fmt.Sprintf("%s, beside another turn: %v", what, other), a, want)
		}
		a := r.open(annasTurn("t1"))
		look("nothing is spent", 100)
		r.spend(a, 30)
		look("the turn has spent", 70)
		r.books.add(budgetEntry{at: budgetNoon, agent: "helper", identity: "web:anna", cost: 30})
		look("the turn is committed", 70)
		a.Close()
		look("its account is closed", 70)
		a.Close()
		a.Suspend()
		look("its account is closed again", 70)
	}
}

func TestWhatIsSetAsideIsFreeAfterClose(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{UserDay: 100})
	other := r.open(annasTurn("t2"))
	for _, end := range []func(*turn.Account){(*turn.Account).Close, (*turn.Account).Suspend} {
		a := r.open(annasTurn("t1"))
		settle, err := a.Reserve(t.Context(), 90)
		if err != nil {
			t.Fatal(err)
		}
		r.fits("before", other, 10)
		end(a)
		r.fits("after", other, 100)
		settle(90)
		r.fits("after it was settled late", other, 100)
	}
}

func TestATurnOverMidnight(t *testing.T) {
	t.Parallel()
	r := newBudgetRig(t, turn.BudgetLimits{Turn: 1000, UserDay: 100, AgentMonth: 150})
	r.books.owners = map[parley.IdentityID]parley.UserID{"web:anna": "anna"}
	r.books.add(budgetEntry{at: budgetNoon.AddDate(0, 0, 1), agent: "helper", identity: "web:anna", cost: 5})
	a := r.open(annasTurn("t1"))
	r.spend(a, 80)
	late, err := a.Reserve(t.Context(), 20)
	if err != nil {
		t.Fatal(err)
	}
	r.clock.set(time.Date(2026, 2, 1, 0, 0, 0, 0, time.FixedZone("east", 60*60)))
	r.fits("where it is tomorrow already", a, 0)
	r.clock.set(budgetNoon.Add(12 * time.Hour))
	r.fits("the next day, which is the next month", a, 95)
	late(20)
	r.fits("what was set aside the day before", a, 95)
	r.spend(a, 95)
	r.fits("the next day is used up", a, 0)
	r.clock.set(budgetNoon.AddDate(0, 0, 2))
	r.fits("the day after, in a month with 50 left", a, 50)
	a.Close()
	if periods, _, _ := r.ledger.Held(); periods != 0 {
		t.Errorf("%d periods are held", periods)
	}
}

func TestSuspendedTurnsStayOnTheBooks(t *testing.T) {
	t.Parallel()
	limits := turn.BudgetLimits{Turn: 60, Session: 70, UserDay: 100}
	r := newBudgetRig(t, limits)
	r.books.owners = map[parley.IdentityID]parley.UserID{"web:anna": "anna"}
	a := r.open(annasTurn("t1"))
	r.spend(a, 40)
	a.Suspend()
	a.Suspend()
	a.Close()
	other := annasTurn("t2")
	other.Session.ID = "cli:other"
	b := r.open(other)
	r.fits("beside a suspended turn", b, 60)
	req := annasTurn("t1")
	req.Turn.Usage.CostMicroUSD = 40
	a = r.open(req)
	r.fits("of another when it goes on", b, 60)
	r.fits("of its own", a, 20)
	r.spend(a, 10)
	a.Suspend()
	req.Turn.Usage.CostMicroUSD = 40 // the store was not told of the last call
	a = r.open(req)
	r.fits("of its own, with what the store does not know", a, 10)
	a.Suspend()

	// Another process knows no more than the store does.
	second := newBudgetRig(t, limits)
	c := second.open(other)
	second.fits("before the turn is opened again", c, 60)
	a = second.open(req)
	second.fits("after it is", c, 60)
	second.spend(c, 35)
	second.fits("of its own", a, 20)
	second.spend(c, 20)
	second.fits("what the day has left", a, 5)

	r.clock.set(budgetNoon.AddDate(0, 0, 1))
	r.open(other).Suspend() // forgets what was suspended in days that are over
	b.Close()
	if periods, suspended, _ := r.ledger.Held(); periods != 1 || suspended != 1 {
		t.Errorf("the ledger holds %d periods and %d suspended turns", periods, suspended)
	}
	r.open(other).Close()
	if periods, suspended, _ := r.ledger.Held(); periods+suspended != 0 {
		t.Errorf("the ledger holds %d periods and %d suspended turns", periods, suspended)
	}
}

// budgetTurn is what is true about a turn.
type budgetTurn struct {
	req       turn.OpenRequest
	account   *turn.Account // nil: not open
	committed bool          // the store has it, its account is about to be closed
	known     bool          // to the ledger, or committed
	cost      int64
	reserved  []budgetCall
}

type budgetCall struct {
	amount int64
	settle func(int64)
}

// budgetModel knows every amount and where it belongs, and adds up what is asked
// for.
type budgetModel struct {
	*rand.Rand
	rig    *budgetRig
	limits turn.BudgetLimits
	turns  []*budgetTurn
}

// gone gives what is spent and set aside of a budget.
func (m *budgetModel) gone(counts func(*budgetTurn) bool) (n int64) {
	for _, t := range m.turns {
		if t.known && counts(t) {
			n += t.cost
			for _, c := range t.reserved {
				n += c.amount
			}
		}
	}
	return n
}

// left gives what a turn may set aside.
func (m *budgetModel) left(t *budgetTurn) int64 {
	sameUser := func(o *budgetTurn) bool {
		if t.req.Principal.User == "" {
			return o.req.Principal.Identity == t.req.Principal.Identity
		}
		return o.req.Principal.User == t.req.Principal.User
	}
	return min(
		m.limits.Turn-m.gone(func(o *budgetTurn) bool { return o == t }),
		m.limits.UserDay-m.gone(sameUser),
		m.limits.AgentMonth-m.gone(func(o *budgetTurn) bool { return o.req.Session.Agent.Name == t.req.Session.Agent.Name }))
}

var budgetPeople = []parley.Principal{
	{Identity: "web:anna", User: "anna"},
	{Identity: "telegram:7", User: "anna"},
	{Identity: "web:ben", User: "ben"},
	{Identity: "web:guest"},
}

func (m *budgetModel) newTurn() *budgetTurn {
	t := &budgetTurn{req: annasTurn(parley.TurnID(fmt.Sprintf("t%d", len(m.turns))))}
	t.req.Principal = budgetPeople[m.IntN(len(budgetPeople))]
	t.req.Session.Agent.Name = []string{"helper", "coder"}[m.IntN(2)]
	m.turns = append(m.turns, t)
	return t
}

// step does something with a turn that can be done with it.
func (m *budgetModel) step(t *budgetTurn) {
	switch what := m.IntN(10); {
	case t.committed && t.account == nil: // it is over
	case t.account == nil:
		t.req.Turn.Usage.CostMicroUSD = t.cost
		t.account, t.known = m.rig.open(t.req), true
	case t.committed:
		t.account.Close()
		t.account = nil
	case len(t.reserved) > 0 && what < 5:
		c := t.reserved[0]
		t.reserved = t.reserved[1:]
		spent := m.Int64N(c.amount + 1)
		c.settle(spent)
		t.cost += spent
	case what < 8:
		m.reserve(t)
	case len(t.reserved) > 0:
	case what == 8:
		m.rig.books.add(budgetEntry{at: budgetNoon, agent: t.req.Session.Agent.Name, identity: t.req.Principal.Identity, cost: t.cost})
		t.committed = true
	default:
		t.account.Suspend()
		t.account = nil
	}
}

// reserve asks for what there is or a little more, and compares.
func (m *budgetModel) reserve(t *budgetTurn) {
	left := m.left(t)
	amount := max(0, left+m.Int64N(2))
	if m.IntN(4) > 0 {
		amount = m.Int64N(amount/4 + 1)
	}
	settle, err := t.account.Reserve(m.rig.Context(), amount)
	switch {
	case amount > left && !errors.Is(err, parley.ErrBudgetExceeded):
		m.rig.Fatalf("turn %s reserves %d of %d: %v", t.req.Turn.ID, amount, left, err)
	case amount <= left && err != nil:
		m.rig.Fatalf("turn %s reserves %d of %d: %v", t.req.Turn.ID, amount, left, err)
	case err == nil:
		t.reserved = append(t.reserved, budgetCall{amount, settle})
	}
}

// restart gives up the ledger with all that it knows. What turns have spent that
// are not completed is unknown until they are opened again.
func (m *budgetModel) restart() {
	for _, t := range m.turns {
		t.account, t.reserved, t.known = nil, nil, t.committed
	}
	m.rig.ledger = turn.NewLedger(m.rig.books, turn.LedgerConfig{Limits: m.limits, Clock: m.rig.clock})
}

// TestLedgerAgreesWithAModel does what turns do in random order, one step after
// another and any step between a commit and the Close that follows it, and
// compares each answer with what is true.
func TestLedgerAgreesWithAModel(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for i := range soak.Count(100, 1000) {
		limits := turn.BudgetLimits{Turn: 2_000, UserDay: 6_000, AgentMonth: 9_000}
		m := &budgetModel{Rand: rand.New(rand.NewPCG(seed, uint64(i))), rig: newBudgetRig(t, limits), limits: limits}
		m.rig.books.owners = map[parley.IdentityID]parley.UserID{"web:anna": "anna", "telegram:7": "anna", "web:ben": "ben"}
		for range 300 {
			switch n := m.IntN(200); {
			case n == 0:
				m.restart()
			case n < 20 || len(m.turns) == 0:
				m.step(m.newTurn())
			default:
				m.step(m.turns[m.IntN(len(m.turns))])
			}
		}
	}
}

// TestManyNeverExceedALimit lets turns reserve, settle, suspend and end at the same
// time. What they have been granted never adds up to more than the limit.
func TestManyNeverExceedALimit(t *testing.T) {
	t.Parallel()
	const limit = 50_000
	seed := soak.Seed(t)
	r := newBudgetRig(t, turn.BudgetLimits{UserDay: limit, AgentMonth: 2 * limit})
	r.books.owners = map[parley.IdentityID]parley.UserID{"web:anna": "anna"}
	g := &budgetGrants{limit: limit}
	var work sync.WaitGroup
	for w := range 8 {
		work.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			for n := range soak.Count(100, 1000) {
				if err := g.runTurn(t, r, rng, parley.TurnID(fmt.Sprintf("t%d.%d", w, n))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	if g.refused == 0 || g.most < limit*9/10 {
		t.Errorf("the limit was not reached: at most %d of %d, %d were refused", g.most, limit, g.refused)
	}
	r.fits("at the end", r.open(annasTurn("end")), limit-g.sum)
}

// budgetGrants adds up what was granted. It counts a grant after it was given and takes
// away what was not used before that is settled, so the true sum is never less.
type budgetGrants struct {
	mu           sync.Mutex
	limit        int64
	sum, most    int64
	refused      int
	transgressed error
}

func (g *budgetGrants) add(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sum += n
	if g.most = max(g.most, g.sum); g.sum > g.limit && g.transgressed == nil {
		g.transgressed = fmt.Errorf("%d of %d were granted", g.sum, g.limit)
	}
}

// runTurn runs one turn with two calls at a time, and suspends it now and then.
func (g *budgetGrants) runTurn(t *testing.T, r *budgetRig, rng *rand.Rand, id parley.TurnID) error {
	req := annasTurn(id)
	for suspended := true; suspended; {
		a, err := r.ledger.Open(t.Context(), req)
		if err != nil {
			return err
		}
		var calls sync.WaitGroup
		var costs [2]int64
		for i := range costs {
			amount, spent := 1+rng.Int64N(500), rng.Int64N(100)
			calls.Go(func() { costs[i] = g.call(t, a, amount, min(amount, spent)) })
		}
		calls.Wait()
		req.Turn.Usage.CostMicroUSD += sumOf(costs[:])
		if suspended = rng.IntN(4) == 0; suspended {
			a.Suspend()
			continue
		}
		r.books.add(budgetEntry{at: budgetNoon, agent: "helper", identity: "web:anna", cost: req.Turn.Usage.CostMicroUSD})
		a.Close()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.transgressed
}

func (g *budgetGrants) call(t *testing.T, b parley.Budget, amount, spent int64) int64 {
	settle, err := b.Reserve(t.Context(), amount)
	if err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.refused++
		if !errors.Is(err, parley.ErrBudgetExceeded) {
			g.transgressed = err
		}
		return 0
	}
	g.add(amount)
	g.add(spent - amount)
	settle(spent)
	return spent
}

// TestLedgerOverAStore has a real store between two ledgers.
func TestLedgerOverAStore(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	r := newBudgetRig(t, turn.BudgetLimits{UserDay: 100, AgentMonth: 1000})
	r.ledger = turn.NewLedger(store, turn.LedgerConfig{Limits: turn.BudgetLimits{UserDay: 100, AgentMonth: 150}, Clock: r.clock})
	req := annasTurn("t1")
	a := r.open(req)
	r.spend(a, 60)
	_, err = store.Commit(t.Context(), parley.Batch{
		At:         budgetNoon,
		Users:      []parley.UserChange{{User: parley.User{ID: "anna", Role: parley.RoleUser}}},
		Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: "web:anna", User: "anna"}}},
		Sessions: []parley.SessionChange{{
			Session: "cli:home",
			Create:  &parley.NewSession{Agent: req.Session.Agent, Source: parley.Source{Kind: "cli"}, Type: parley.SessionDirect},
			Events: []parley.NewEvent{{Turn: "t1", Identity: "web:anna", Body: &parley.TurnCompleted{
				StopReason: parley.StopDone, Usage: parley.Usage{CostMicroUSD: 60},
			}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.fits("before Close", a, 40)
	a.Close()
	r.fits("after Close", r.open(annasTurn("t2")), 40)
	r.ledger = turn.NewLedger(store, turn.LedgerConfig{Limits: turn.BudgetLimits{UserDay: 100, AgentMonth: 150}, Clock: r.clock})
	r.fits("in another process", r.open(annasTurn("t3")), 40)
	r.clock.set(budgetNoon.Add(-24 * time.Hour))
	r.fits("on another day of the month", r.open(annasTurn("t4")), 90)
}
