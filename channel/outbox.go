package channel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// Config is how an outbox works. Zero values are the defaults.
type Config struct {
	// Platforms are where deliveries go. What is for others waits until they are here.
	Platforms []Platform
	Clock     parley.Clock
	Log       *slog.Logger
	// IDFunc makes ids; nil: random ones.
	IDFunc func() string
	// HoldAfter is how old a reply may be to be sent without asking: one hour.
	HoldAfter time.Duration
	// CallTime is how long a platform may take to answer: 30 seconds.
	CallTime time.Duration
	// Drain is how long calls under way may take when Run is to end: 5 seconds.
	Drain time.Duration
	// Pause is how long the outbox waits after the first failure, each time twice as
	// long up to MaxPause: one second, and five minutes.
	Pause, MaxPause time.Duration
	// OpenFunc gives the bytes of a medium, and how many they are. One that is gone for
	// good is [parley.CodeNotFound]. Nil: none can be sent, and people are told so.
	OpenFunc func(ctx context.Context, m parley.Media) (content io.ReadCloser, size int64, err error)
	// StreamAfter is how long a reply has to be under way before its beginning is
	// shown: one second. What is done by then is sent once.
	StreamAfter time.Duration
}

func (c *Config) fill() {
	if c.Clock == nil {
		c.Clock = parley.SystemClock{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.IDFunc == nil {
		c.IDFunc = rand.Text
	}
	for _, d := range []struct {
		value *time.Duration
		def   time.Duration
	}{
		{&c.HoldAfter, time.Hour},
		{&c.CallTime, 30 * time.Second},
		{&c.Drain, 5 * time.Second},
		{&c.Pause, time.Second},
		{&c.MaxPause, 5 * time.Minute},
		{&c.StreamAfter, time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.def
		}
	}
}

// Outbox brings deliveries to their chats. [Outbox.Store] puts them into the outbox,
// [Outbox.Feed] lets it show replies while they are written, and [Outbox.Run] works.
type Outbox struct {
	store    parley.Store
	cfg      Config
	accounts map[account]*office

	mu       sync.Mutex
	works    context.Context //nolint:containedctx // that of Run, while it runs: goroutines are started by commits
	calls    context.Context //nolint:containedctx // of calls to platforms: it ends a little later
	wg       sync.WaitGroup
	lines    map[place]*line
	sessions map[parley.SessionID]*liveSession
	chats    map[parley.SessionID]parley.Target // of sessions, as they are stored
}

// account names a platform and an account on it.
type account struct{ channel, account string }

// place names a chat. Its topics are one place: they share its limits.
type place struct {
	account
	chat string
}

func placeOf(t parley.Target) place {
	return place{account: account{channel: t.Channel, account: t.Account}, chat: t.Chat}
}

func (p place) target() parley.Target {
	return parley.Target{Channel: p.channel, Account: p.account.account, Chat: p.chat}
}

// office is a platform with what goes through it.
type office struct {
	Platform
	can     Capabilities
	limiter *Limiter
}

// New makes an outbox over a store. Two platforms with one name and account are
// [parley.CodeInvalid].
func New(store parley.Store, cfg Config) (*Outbox, error) {
	cfg.fill()
	o := &Outbox{
		store: store, cfg: cfg, accounts: map[account]*office{},
		lines: map[place]*line{}, sessions: map[parley.SessionID]*liveSession{}, chats: map[parley.SessionID]parley.Target{},
	}
	for _, p := range cfg.Platforms {
		at := account{channel: p.Name(), account: p.Account()}
		if o.accounts[at] != nil {
			return nil, parley.Errorf(parley.CodeInvalid, "the account %q on %s is there twice", at.account, at.channel)
		}
		can := p.Capabilities()
		if can.EditEvery <= 0 {
			can.EditEvery = 3 * time.Second
		}
		if can.TypingEvery <= 0 {
			can.TypingEvery = 4 * time.Second
		}
		o.accounts[at] = &office{Platform: p, can: can, limiter: NewLimiter(can, cfg.Clock)}
	}
	return o, nil
}

// Run brings deliveries to their chats until ctx ends, which is no error. Calls under
// way then get [Config].Drain to end. A store that cannot be read or written for the
// moment is waited for. It may be called once at a time.
func (o *Outbox) Run(ctx context.Context) error {
	calls, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	err := o.persist(ctx, o.sweepDrafts) // before anything is sent: then none of them can be under way
	o.mu.Lock()
	o.works, o.calls = ctx, calls
	o.mu.Unlock()
	if err == nil {
		err = o.persist(ctx, o.wakeOpen)
	}
	if err == nil {
		<-ctx.Done()
	}
	o.mu.Lock()
	o.works = nil
	for _, l := range o.lines {
		l.cancelTimer()
	}
	o.mu.Unlock()
	cancel := o.cfg.Clock.AfterFunc(o.cfg.Drain, stop)
	defer cancel()
	o.wg.Wait()
	o.mu.Lock()
	clear(o.lines)
	o.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("look into the outbox: %w", err)
	}
	return nil
}

// persist does something at the beginning, and again while the store is unavailable:
// nothing would be sent until the next start.
func (o *Outbox) persist(ctx context.Context, do func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := do(ctx)
		if ctx.Err() != nil || !errors.Is(err, parley.ErrUnavailable) {
			return err
		}
		o.cfg.Log.Warn("look into the outbox; trying again", "error", err)
		woken := make(chan struct{})
		stop := o.cfg.Clock.AfterFunc(min(o.pause(attempt), mostInsistPause), func() { close(woken) })
		select {
		case <-woken:
		case <-ctx.Done():
			stop()
			return ctx.Err()
		}
	}
}

// wakeOpen starts the work for every chat that has some.
func (o *Outbox) wakeOpen(ctx context.Context) error {
	q := parley.DeliveryQuery{Draft: new(false), Limit: parley.MaxPageSize}
	for {
		rows, err := o.store.Deliveries(ctx, parley.SeeAll(), q)
		if err != nil {
			return err
		}
		for i := range rows {
			o.wake(placeOf(rows[i].Target))
			q.After = rows[i].ID
		}
		if len(rows) < parley.MaxPageSize {
			return nil
		}
	}
}

// sweepDrafts drops beginnings whose turn is over: its end went another way, as the
// store could not be written to.
func (o *Outbox) sweepDrafts(ctx context.Context) error {
	q := parley.DeliveryQuery{Draft: new(true), Limit: parley.MaxPageSize}
	for {
		rows, err := o.store.Deliveries(ctx, parley.SeeAll(), q)
		if err != nil {
			return err
		}
		for i := range rows {
			d := &rows[i]
			q.After = d.ID
			turn, err := o.store.Turn(ctx, parley.SeeAll(), d.Session, d.Turn)
			if err != nil && !errors.Is(err, parley.ErrNotFound) {
				return err
			}
			if err == nil && turn.State != parley.TurnDone {
				continue
			}
			c := parley.DeliveryChange{State: new(parley.DeliveryDropped), Draft: new(false), LastError: new("its turn ended without it")}
			if _, err := o.change(d, c); err != nil {
				return err
			}
		}
		if len(rows) < parley.MaxPageSize {
			return nil
		}
	}
}

// wake has somebody look at a chat.
func (o *Outbox) wake(at place) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if l := o.line(at); l != nil {
		l.wake()
	}
}

// line gives the line of a chat, or nil if nobody works, or the chat's platform is not
// here.
func (o *Outbox) line(at place) *line {
	office := o.accounts[at.account]
	if o.works == nil || o.works.Err() != nil || office == nil {
		return nil
	}
	l := o.lines[at]
	if l == nil {
		l = &line{o: o, at: at, office: office, typing: map[string]parley.Target{}}
		o.lines[at] = l
	}
	return l
}

// pause is how long to wait after so many attempts.
func (o *Outbox) pause(attempts int) time.Duration {
	d := o.cfg.Pause
	for range attempts - 1 {
		if d *= 2; d >= o.cfg.MaxPause {
			return o.cfg.MaxPause
		}
	}
	return d
}
