package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/sqlite"
)

var carol = access.NewCaller(parley.Principal{Identity: "web:carol", User: "carol", Role: parley.RoleGuest, Via: "token"})

// TestRandomHistories lets several people do random things at once to a few
// sessions, while models fail, time passes and the program stops: some of the time
// as it should, some of the time by losing its store without closing it. Afterwards
// what is stored is compared with what was promised; see checker.
//
// PARLEY_SEED repeats one history, as far as goroutines run alike.
func TestRandomHistories(t *testing.T) { //nolint:tparallel // the group ends when its parallel parts have
	t.Parallel()
	if seed, ok := soak.Repeat(t); ok {
		for range soak.Count(1, 1) {
			oneHistory(t, seed, &coverage{})
		}
		return
	}
	seed := uint64(time.Now().UnixNano())
	count := soak.Count(95, 950)
	var covered coverage
	t.Run("all", func(t *testing.T) {
		const parts = 4
		for part := range parts {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for i := part; i < count && !t.Failed(); i += parts {
					oneHistory(t, seed+uint64(i), &covered)
				}
			})
		}
	})
	t.Logf("what happened:\n%s", covered.table())
	if missing := covered.missing(); len(missing) > 0 && count >= 90 && !t.Failed() {
		t.Errorf("these never happened: %v", missing)
	}
}

func oneHistory(t *testing.T, seed uint64, covered *coverage) {
	t.Helper()
	dir := t.TempDir()
	h := newHistory(seed, dir)
	path := filepath.Join(dir, "0")
	err := os.Mkdir(path, 0o700)
	phases := 2 + h.rng.IntN(2)
	for i := 0; i < phases && err == nil; i++ {
		stop := []stopping{stopClean, stopDropped, stopDropped}[h.rng.IntN(3)]
		if i == phases-1 {
			stop = stopDone
		}
		next := filepath.Join(dir, fmt.Sprint(i+1))
		if err = h.phase(t.Context(), path, next, stop); err == nil && stop == stopDropped {
			path = next
		}
	}
	if err != nil {
		t.Errorf("PARLEY_SEED=%d: %v", seed, err)
		return
	}
	for _, found := range h.check(t.Context(), path, covered) {
		t.Errorf("PARLEY_SEED=%d: %s", seed, found)
	}
}

// stopping is how a phase of a history ends.
type stopping int

const (
	stopClean   stopping = iota // the engine drains, the store is closed
	stopDropped                 // what is on the disk is all that is left
	stopDone                    // everything is let run out first
)

// history is the life of one store.
type history struct {
	rng    *rand.Rand // of the one goroutine that has the history; workers have their own
	seed   uint64
	key    []byte
	clock  *clock
	ledger *ledger
	// foreign: the runner is not the default one. takes: things are redacted and
	// deleted, so that windows change.
	foreign, takes bool
	wire           *tripwire // nil: nobody is killed at a step
	killed         bool      // processes were killed, and the subscribers with them

	mood *mood
	gate *gate // of the store that is open
	eng  *engine.Engine
	seen []place // what a subscriber saw that was there all the time
	from parley.Position
	mu   sync.Mutex // guards seen and from
}

// place is where an event is in the log.
type place struct {
	session  parley.SessionID
	seq, pos uint64
	typ      parley.EventType
}

func newHistory(seed uint64, dir string) *history {
	rng := rand.New(rand.NewPCG(seed, 1))
	h := &history{rng: rng, seed: seed, clock: newClock(), ledger: &ledger{path: filepath.Join(dir, "ledger")}}
	if rng.IntN(3) == 0 {
		h.key = make([]byte, sqlite.KeyBytes)
	}
	h.foreign, h.takes = rng.IntN(2) == 0, rng.IntN(2) == 0
	return h
}

// phase opens the store, lets people act until it stops, and stops it. A store that
// is dropped goes on at next.
func (h *history) phase(ctx context.Context, path, next string, stop stopping) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	store, err := sqlite.Open(ctx, filepath.Join(path, "parley.db"), sqlite.Config{Key: h.key})
	if err != nil {
		return err
	}
	h.gate = &gate{Store: store, wire: h.wire}
	h.mood = newMood()
	f := feed.New(store, feed.Config{})
	cfg, err := h.config()
	if err != nil {
		return err
	}
	cfg.Feed = f
	if h.eng, err = engine.New(feed.Announce(h.gate, f), cfg); err != nil {
		return err
	}
	if err := h.setUp(ctx); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	before, err := store.OpenTurns(ctx, parley.SeeAll(), "")
	if err != nil {
		return err
	}
	running, end := context.WithCancel(ctx)
	defer end()
	done := make(chan error, 1)
	go func() { done <- h.eng.Run(running) }()
	select {
	case <-h.eng.Ready():
	case err := <-done:
		return fmt.Errorf("start: %w", err)
	}
	h.settled(ctx, before)
	following, watch := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); h.watch(following, f) }()

	rest, err := h.live(ctx, stop, path, next)
	end()
	err = errors.Join(err, h.drained(done))
	rest()
	if stop == stopDone && err == nil {
		err = h.caughtUp(ctx, store)
	}
	watch()
	<-watched
	f.Close()
	return errors.Join(err, store.Close())
}

// live lets people act until it is time to stop. Rest waits for those who still do.
func (h *history) live(ctx context.Context, stop stopping, path, next string) (rest func(), err error) {
	const workers = 3
	ops := 8 + h.rng.IntN(9)
	var all sync.WaitGroup
	enough := make(chan struct{})
	for w := range workers {
		rng := rand.New(rand.NewPCG(h.rng.Uint64(), uint64(w)))
		all.Go(func() {
			for i := range ops {
				if i == ops-3 && w == 0 {
					close(enough)
				}
				h.act(ctx, rng)
				h.mood.step()
			}
		})
	}
	<-enough
	switch stop {
	case stopDropped:
		err = h.gate.drop(path, next)
		h.mood.calm()
	case stopDone:
		all.Wait()
		err = h.runOut(ctx)
	}
	return all.Wait, err
}

// drained waits for the engine, while time passes.
func (h *history) drained(done chan error) error {
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(2 * time.Millisecond):
			h.clock.Advance(7 * time.Second)
		}
	}
}

// runOut lets everything that is under way come to its end.
func (h *history) runOut(ctx context.Context) error {
	h.mood.calm()
	for range 4000 {
		turns, err := h.gate.Store.OpenTurns(ctx, parley.SeeAll(), "")
		if err != nil {
			return err
		}
		inputs, err := h.gate.Store.OpenInputs(ctx, parley.SeeAll(), "", parley.InputRef{}, 100)
		if err != nil {
			return err
		}
		if len(turns) == 0 && len(inputs) == 0 {
			return nil
		}
		approvals, err := h.gate.Store.Approvals(ctx, parley.SeeAll(), "")
		if err != nil {
			return err
		}
		for _, a := range approvals {
			_ = h.eng.As(alice).Approve(ctx, a.Session, a.Call, true, "")
		}
		select {
		case <-h.gate.changed():
		case <-time.After(2 * time.Millisecond):
			h.clock.Advance(5 * time.Second)
		}
	}
	turns, _ := h.gate.Store.OpenTurns(ctx, parley.SeeAll(), "")
	inputs, _ := h.gate.Store.OpenInputs(ctx, parley.SeeAll(), "", parley.InputRef{}, 100)
	return fmt.Errorf("it does not come to an end: %+v %+v", turns, inputs)
}

// settled looks whether every turn that was cut off is marked or gone.
func (h *history) settled(ctx context.Context, before []parley.Turn) {
	for _, was := range before {
		s, err := h.gate.Store.Session(ctx, parley.SeeAll(), was.Session)
		is, err2 := h.gate.Store.Turn(ctx, parley.SeeAll(), was.Session, was.ID)
		if err != nil || err2 != nil {
			h.ledger.bad("after the start, turn %s: %v, %v", was.ID, err, err2)
			continue
		}
		if is.State == parley.TurnRunning && is.Attempt == was.Attempt && s.Recovery.State == parley.RecoveryNone {
			approvals, err := h.gate.Store.Approvals(ctx, parley.SeeAll(), was.Session)
			waits := false
			for _, a := range approvals {
				waits = waits || a.Turn == was.ID && a.State == parley.ApprovalPending
			}
			if err != nil || !waits {
				h.ledger.bad("after the start, turn %s is %s, and the session %+v (%v)", is.ID, is.State, s.Recovery, err)
			}
		}
	}
}

// watch is a subscriber that is there all the time.
func (h *history) watch(ctx context.Context, f *feed.Feed) {
	for u, err := range f.Subscribe(ctx, parley.SeeAll(), "", h.from) {
		if err != nil {
			if ctx.Err() == nil {
				h.ledger.bad("the feed: %v", err)
			}
			return
		}
		if u.Resync != "" {
			h.ledger.bad("the feed: resync %s", u.Resync)
			return
		}
		h.mu.Lock()
		h.from = u.Position
		if u.Event != nil {
			h.seen = append(h.seen, place{u.Event.Session, u.Event.Seq, u.Event.Pos, u.Event.Type})
		}
		h.mu.Unlock()
	}
}

// caughtUp waits until the subscriber has seen the last event.
func (h *history) caughtUp(ctx context.Context, store parley.Store) error {
	head, err := store.Head(ctx)
	if err != nil {
		return err
	}
	for range 5000 {
		h.mu.Lock()
		at := h.from.Seq
		h.mu.Unlock()
		if at >= head.Pos {
			return nil
		}
		<-time.After(time.Millisecond)
	}
	return errors.New("a subscriber does not get to the end of the log")
}

// gate is a store that can be lost.
type gate struct {
	parley.Store
	wire *tripwire

	mu   sync.RWMutex
	dead bool

	more   sync.Mutex
	notify chan struct{}
}

var errLost = parley.Errorf(parley.CodeInternal, "the store was lost")

// Commit commits, unless the store is lost.
func (g *gate) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.dead {
		return parley.Result{}, errLost
	}
	if g.wire != nil {
		g.wire.step("before a commit")
		defer g.wire.step("after a commit")
	}
	r, err := g.Store.Commit(ctx, b)
	if err == nil {
		g.more.Lock()
		if g.notify != nil {
			close(g.notify)
			g.notify = nil
		}
		g.more.Unlock()
	}
	return r, err
}

// changed is closed at the next commit.
func (g *gate) changed() <-chan struct{} {
	g.more.Lock()
	defer g.more.Unlock()
	if g.notify == nil {
		g.notify = make(chan struct{})
	}
	return g.notify
}

// alive does something that only a process that lives can do.
func (g *gate) alive(f func()) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.dead {
		return false
	}
	f()
	return true
}

// drop leaves at next what is on the disk at this moment, and lets nothing more
// happen to the store.
func (g *gate) drop(path, next string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = true
	if err := os.Mkdir(next, 0o700); err != nil {
		return err
	}
	// After a redaction the store empties its write-ahead log by itself. What two
	// readings agree on did not change in between: a crash could have left it.
	names := []string{"parley.db-wal", "parley.db"}
	var last [][]byte
	for {
		files := make([][]byte, len(names))
		for i, name := range names {
			var err error
			if files[i], err = os.ReadFile(filepath.Join(path, name)); err != nil {
				return err
			}
		}
		if slices.EqualFunc(files, last, bytes.Equal) {
			break
		}
		last = files
	}
	for i, name := range names {
		if err := os.WriteFile(filepath.Join(next, name), last[i], 0o600); err != nil {
			return err
		}
	}
	return nil
}
