package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/group"
	"github.com/parley-run/parley/keep"
	"github.com/parley-run/parley/lifecycle"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/turn"
)

// installation is a data folder at work: the store, what is said in it live, and
// the engine with the agents of the configuration. install makes one; it does
// nothing by itself until run is called, and has to be closed.
type installation struct {
	dir     string
	started *config.Loaded // the configuration it was made with
	options installOptions
	sources secret.Sources

	opened *keep.Opened
	store  parley.Store // whose commits the feed is told
	feed   *feed.Feed
	media  *blob.Store
	people *access.People
	first  bool // the owner was made by this start
	engine *engine.Engine
	runner *turn.Runner

	outbox   *channel.Outbox
	channels *channels

	servers *engine.Cache[*servers]

	mu      sync.Mutex
	present *setup // what the configuration says, since the last reload
}

// installOptions is what the commands decide that make an installation. The zero
// value is for one that nobody looks at.
type installOptions struct {
	// Log is told what nobody waits for; nil: nothing is written. What is written
	// has no secrets in it.
	Log *slog.Logger
	// Idle says that no turn will run: agents need no models and tools.
	Idle bool
	// Channels says that messages of chat platforms are taken in and answered.
	Channels bool
	// Bots takes the place of those of the configuration.
	Bots []*bot
	// LinkedFunc is told of accounts that were linked to a user in a chat; nil: nobody
	// is.
	LinkedFunc func(parley.IdentityID)
	// Drain is how long running turns may take to end when it stops; 0: as the
	// configuration says.
	Drain time.Duration
	// StoreFunc, ModelFunc and RunnerFunc put something around a part, such as
	// what measures it; nil: nothing.
	StoreFunc  func(parley.Store) parley.Store
	ModelFunc  func(parley.Model) parley.Model
	RunnerFunc func(parley.Runner) parley.Runner
	// SettledFunc is told what becomes of turns that the last stop cut off; nil:
	// nobody is.
	SettledFunc func(lifecycle.Action)
}

// install opens the data folder, and makes it if it is not there. What is wrong with
// the configuration, a model without its credential among it, is told before there
// is a store.
func (a *app) install(ctx context.Context, options installOptions) (*installation, error) {
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	scrubber := &secret.Scrubber{}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	options.Log = slog.New(scrubber.Handler(options.Log.Handler()))
	in := &installation{dir: dir, started: loaded, options: options, sources: secret.Sources{
		Dir: dir, Scrubber: scrubber, LookupEnvFunc: a.lookupEnv,
	}}
	in.servers = engine.NewCache(engine.CacheConfig[*servers]{CloseFunc: (*servers).close})
	if in.present, err = in.newSetup(ctx, loaded); err != nil {
		return nil, err
	}
	if err := in.open(ctx, a); err != nil {
		return nil, errors.Join(err, in.close())
	}
	return in, nil
}

// lookupEnv gives a variable of the environment; an empty one counts as not set.
func (a *app) lookupEnv(name string) (string, bool) {
	v := a.getenv(name)
	return v, v != ""
}

// open opens the store and makes what stands on it.
func (in *installation) open(ctx context.Context, a *app) (err error) {
	c := &in.started.Config
	if err := os.MkdirAll(in.dir, 0o700); err != nil {
		return &parley.Error{Code: parley.CodeUnavailable, Message: "cannot make the data folder", Err: err}
	}
	path := c.Store.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(in.dir, path)
	}
	folder := a.folder(path)
	folder.Media.Limit = int64(c.Limits.Blob)
	if in.opened, err = folder.Open(ctx, false); err != nil {
		return err
	}
	in.media = in.opened.Media
	in.feed = feed.New(in.opened.Store, feed.Config{})
	in.store = feed.Announce(in.opened.Store, in.feed)
	if wrap := in.options.StoreFunc; wrap != nil {
		in.store = wrap(in.store)
	}
	bots := in.options.Bots
	if in.options.Channels {
		if bots, err = in.newBots(ctx, a.platforms); err != nil {
			return err
		}
	}
	if err := in.openOutbox(bots); err != nil {
		return err
	}
	in.present.ledger = in.newLedger(c.Budget)
	if err := in.openPeople(ctx); err != nil {
		return err
	}
	if in.runner, err = turn.New(turn.Config{AgentFunc: in.turnAgent, MediaFunc: in.mediaBytes, Scrubber: in.sources.Scrubber}); err != nil {
		return err
	}
	prompter, err := in.newPrompter(ctx)
	if err != nil {
		return err
	}
	if in.engine, err = engine.New(in.store, in.engineConfig(prompter)); err != nil {
		return err
	}
	return in.openIntake(in.options.LinkedFunc)
}

// engineConfig gives what the engine has to know.
func (in *installation) engineConfig(p parley.Prompter) engine.Config {
	c := &in.started.Config
	var runner parley.Runner = &boundRunner{in: in, next: in.runner}
	if wrap := in.options.RunnerFunc; wrap != nil {
		runner = wrap(runner)
	}
	drain := in.options.Drain
	if drain == 0 {
		drain = atLeast(c.Serve.Drain)
	}
	return engine.Config{
		Runner: runner, Prompter: p, Feed: in.outbox.Feed(in.feed), BudgetFunc: in.budget, ForgetFunc: in.servers.Forget,
		Limits: engine.Limits{
			RunningTurns: c.Limits.RunningTurns, Queue: c.Limits.Queue, MaxTurns: c.Limits.MaxTurns,
			Outage: atLeast(c.Limits.Outage), Drain: drain,
		},
		Busy: c.Session.Busy, Reset: c.Policies(), Resume: c.Resume(),
		Groups: group.Config{OwnersMention: !c.Groups.OwnerAlways}, StopSuspends: c.Session.Stop == "suspend",
		AgentFunc: in.agentAtPresent, ModelsFunc: in.modelNames, Zone: in.zone(), SettledFunc: in.options.SettledFunc,
		Log: in.options.Log,
	}
}

// atLeast gives a duration that no engine takes for its default: 0 in the
// configuration is no time at all.
func atLeast(d time.Duration) time.Duration { return max(d, time.Nanosecond) }

// sweepEvery is how often media that nothing refers to are looked for.
const sweepEvery = time.Hour

// run works until ctx ends, and then lets turns end; see [engine.Engine.Run]. Chats are
// listened to once everything is settled and until ctx ends; answers go out until all
// turns have ended.
func (in *installation) run(ctx context.Context) error {
	var sweeping, receiving, sending sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	sendCtx, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	sweeping.Go(func() { in.sweep(ctx) })
	var sent error
	if len(in.channels.bots) > 0 {
		sending.Go(func() {
			if sent = in.outbox.Run(sendCtx); sent != nil {
				stop() // chats would not be answered any more
			}
		})
		receiving.Go(func() {
			select {
			case <-in.engine.Ready():
				in.channels.receive(ctx)
			case <-ctx.Done():
			}
		})
	}
	err := in.engine.Run(ctx)
	stop()
	receiving.Wait()
	stopSending()
	sending.Wait()
	sweeping.Wait()
	return errors.Join(err, sent)
}

// sweep takes away media that nothing refers to, now and then.
func (in *installation) sweep(ctx context.Context) {
	timer := time.NewTimer(sweepEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		swept, err := in.media.Sweep(ctx)
		if err != nil && ctx.Err() == nil {
			in.options.Log.Warn("sweep media", "error", err)
		}
		next := sweepEvery
		if swept.More && err == nil {
			next = time.Second
		}
		timer.Reset(next)
	}
}

// close ends everything, those who stand on others first. Run has returned by then,
// or was never called.
func (in *installation) close() error {
	in.servers.Close()
	if in.channels != nil && in.channels.intake != nil {
		in.channels.intake.Close()
	}
	var err error
	in.mu.Lock()
	if in.present != nil {
		err = in.present.retire()
	}
	in.mu.Unlock()
	if in.feed != nil {
		in.feed.Close()
	}
	if in.people != nil {
		in.people.Close()
	}
	if in.opened != nil {
		err = errors.Join(err, in.opened.Close())
	}
	return err
}

// mediaBytes gives media of a session's window to a model.
func (in *installation) mediaBytes(ctx context.Context, _ parley.SessionID, m parley.Media) (data []byte, err error) {
	content, _, err := in.openMedia(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	return io.ReadAll(content)
}

// openMedia opens media of a message, for who is shown the message: a model whose window
// has it, or a chat it goes to. What is gone for good is [parley.CodeNotFound].
func (in *installation) openMedia(ctx context.Context, m parley.Media) (content io.ReadCloser, size int64, err error) {
	opened, found, err := in.media.Open(ctx, parley.SeeAll(), parley.BlobHandle(m.Handle))
	switch {
	case errors.Is(err, blob.ErrMissing), errors.Is(err, blob.ErrDamaged):
		in.options.Log.Error("show media of a message", "handle", m.Handle, "error", err)
		return nil, 0, parley.Errorf(parley.CodeNotFound, "the media is gone")
	case err != nil:
		return nil, 0, err
	}
	return opened, found.Size, nil
}
