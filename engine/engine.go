package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
	"github.com/parley-run/parley/lifecycle"
)

// Config is how an engine works. A zero field is its default.
type Config struct {
	// Runner runs the turns. Required.
	Runner parley.Runner
	// Prompter writes system prompts; nil: turns have none.
	Prompter parley.Prompter
	// Feed shows answers while they are written, and what is stored to who
	// follows it; nil: nobody does. The store has to announce its changes to it.
	Feed parley.Feed
	// BudgetFunc gives the budget of a turn, and what to call once the turn's end
	// is durable, or it waits; nil: nothing is limited.
	BudgetFunc func(ctx context.Context, t parley.TurnContext, kind parley.InputKind) (parley.Budget, func(completed bool), error)
	// Clock is where times come from; nil: the system's.
	Clock parley.Clock
	// IDFunc makes names of turns, messages and sessions, never the same twice;
	// nil: random ones.
	IDFunc func() string
	Limits Limits
	// Busy is what happens to messages during a turn where neither they nor
	// their session say; empty: they wait.
	Busy parley.BusyMode
	// Reset says when the clock starts a conversation anew.
	Reset lifecycle.Policies
	// Resume says which turns go on by themselves after a stop.
	Resume lifecycle.Resume
	// Groups says who triggers a turn in a group.
	Groups group.Config
	// NoCommands leaves texts that begin with a slash to the agent. By default the
	// slash commands of package command are carried out.
	NoCommands bool
	// AgentFunc gives an agent as it is configured at present, for sessions that start
	// because another was reset; nil, or false: they keep the agent of that one.
	AgentFunc func(name string) (parley.AgentSnapshot, bool)
	// ModelsFunc gives the models of a session's agent, the first choice first, for
	// /model; nil: nothing can be chosen. What was chosen [ChosenModel] gives.
	ModelsFunc func(parley.Session) []string
	// StopSuspends makes /stop suspend the session as well: the next message starts
	// another.
	StopSuspends bool
	// Zone is that of times that people read; nil: UTC.
	Zone *time.Location
	// SettledFunc is told what becomes of each turn that the last stop cut off; nil:
	// nobody is.
	SettledFunc func(lifecycle.Action)
	// CustomTypes are types of events that the runner may emit.
	CustomTypes []parley.EventType
	// ForgetFunc is told of sessions that are reset, put away or deleted, so that
	// nothing is kept ready for them; see [Cache]. Nil: nothing is.
	ForgetFunc func(parley.SessionID)
	// Log is told what nobody waits for; nil: nothing is written.
	Log *slog.Logger
}

// Limits bound the work. A zero field is its default.
type Limits struct {
	RunningTurns int           // at once, over all sessions. 0: 64
	Queue        int           // inputs of one session that may wait. 0: 32
	MaxTurns     int           // of one session, those of people. 0: 50
	Outage       time.Duration // how long a turn waits for models that are down. 0: 30 minutes
	Drain        time.Duration // how long running turns may take to end when the engine stops. 0: 30 seconds
}

// Engine owns the work of all sessions of a store: their turns, and what waits for
// one. Its methods may be called by many goroutines; those that change something
// return when it is durable.
type Engine struct {
	store parley.Store
	keys  *Keys
	cfg   Config
	slots *slots
	ready chan struct{} // closed once everything is settled
	holds holds
	looks looks

	mu      sync.Mutex
	working bool // lanes may start
	lanes   map[parley.SessionID]*lane
	timers  map[parley.SessionID]*alarm // one per session that waits for a time
	laneCtx context.Context             //nolint:containedctx // of all lanes; ends when the drain is over
	work    sync.WaitGroup
}

// New makes an engine. It does nothing by itself until [Engine.Run] is called, but
// takes messages.
func New(store parley.Store, cfg Config) (*Engine, error) {
	if cfg.Runner == nil {
		return nil, parley.Errorf(parley.CodeInvalid, "an engine needs a runner")
	}
	if err := errors.Join(cfg.Reset.Validate(), cfg.Resume.Validate()); err != nil {
		return nil, err
	}
	if cfg.Clock == nil {
		cfg.Clock = parley.SystemClock{}
	}
	if cfg.IDFunc == nil {
		cfg.IDFunc = randomID
	}
	if cfg.ForgetFunc == nil {
		cfg.ForgetFunc = func(parley.SessionID) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	orDefault(&cfg.Limits.RunningTurns, 64)
	orDefault(&cfg.Limits.Queue, 32)
	orDefault(&cfg.Limits.MaxTurns, 50)
	orDefault(&cfg.Limits.Outage, 30*time.Minute)
	orDefault(&cfg.Limits.Drain, 30*time.Second)
	return &Engine{
		store: store, keys: NewKeys(store, cfg.Clock), cfg: cfg, slots: newSlots(cfg.Limits.RunningTurns),
		ready: make(chan struct{}), lanes: map[parley.SessionID]*lane{}, timers: map[parley.SessionID]*alarm{},
	}, nil
}

func orDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

func randomID() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// errStopped is the cause with which running turns end when the engine stops.
var errStopped = errors.New("the program stops")

// Run settles what the last stop left behind, works until ctx ends, and drains:
// turns that run get [Limits.Drain] to end; what is not done by then is marked to be
// resumed. It returns nil after that, or an error if it could not settle.
func (e *Engine) Run(ctx context.Context) error {
	laneCtx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	e.mu.Lock()
	if e.laneCtx != nil {
		e.mu.Unlock()
		return parley.Errorf(parley.CodeConflict, "the engine runs already, or ran before")
	}
	e.laneCtx = laneCtx
	e.mu.Unlock()
	if err := e.settle(ctx); err != nil {
		return fmt.Errorf("settle what the last stop left: %w", err)
	}
	e.mu.Lock()
	e.working = true
	e.mu.Unlock()
	if err := e.wakeWaiting(ctx); err != nil {
		e.drain(end)
		return fmt.Errorf("look for work: %w", err)
	}
	close(e.ready)
	<-ctx.Done()
	e.drain(end)
	return nil
}

// Ready is closed once everything that the last stop left behind is settled.
func (e *Engine) Ready() <-chan struct{} { return e.ready }

// drain lets running turns end, and stops those that take too long.
func (e *Engine) drain(end context.CancelCauseFunc) {
	e.mu.Lock()
	e.working = false
	for id, due := range e.timers {
		due.stop()
		delete(e.timers, id)
	}
	e.mu.Unlock()
	done := make(chan struct{})
	go func() { e.work.Wait(); close(done) }()
	stop := e.cfg.Clock.AfterFunc(e.cfg.Limits.Drain, func() { end(errStopped) })
	<-done
	stop()
}

// wakeWaiting starts the lanes of all sessions where something waits.
func (e *Engine) wakeWaiting(ctx context.Context) error {
	turns, err := e.store.OpenTurns(ctx, parley.SeeAll(), "")
	if err != nil {
		return err
	}
	for _, t := range turns {
		e.wake(t.Session)
	}
	var after parley.InputRef
	for {
		inputs, err := e.store.OpenInputs(ctx, parley.SeeAll(), "", after, parley.MaxPageSize)
		if err != nil {
			return err
		}
		for i := range inputs {
			e.wake(inputs[i].Session)
			after = inputs[i].Ref
		}
		if len(inputs) < parley.MaxPageSize {
			return nil
		}
	}
}
