package main

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/config"
	"github.com/parley-run/parley/group"
	"github.com/parley-run/parley/intake"
	"github.com/parley-run/parley/secret"
)

// platformConfig is what the adapter of a chat platform is made of.
type platformConfig struct {
	// Account is the name of the bot; empty for the one that has none.
	Account string
	Token   secret.Value
	// Webhook is the address to which the platform brings messages; empty: it is
	// asked for them. An adapter that takes it is an [http.Handler].
	Webhook string
	// BaseURL is the address of the platform's API; empty: the usual one.
	BaseURL string
	Log     *slog.Logger
}

// newPlatformFunc makes an adapter. It calls nobody.
type newPlatformFunc func(platformConfig) (channel.Platform, error)

// platforms are the adapters that this program has, by the names of their channels.
func platforms() map[string]newPlatformFunc {
	return map[string]newPlatformFunc{telegram.Name: newTelegram}
}

// channels are the chat platforms of an installation.
type channels struct {
	bots   []*bot
	intake *intake.Intake
	log    *slog.Logger
}

// bot is an account on a chat platform.
type bot struct {
	name     string // telegram, or telegram/work
	channel  config.Channel
	cfg      config.Bot
	platform channel.Platform
	receiver channel.Receiver

	mu    sync.Mutex
	state string // ok, or what is wrong
}

// botName is what people call a bot.
func botName(channel, account string) string {
	if account == "" {
		return channel
	}
	return channel + "/" + account
}

// hookPath is where a platform brings messages for a bot.
func hookPath(channel, account string) string {
	if account == "" {
		account = "default"
	}
	return "/hooks/" + channel + "/" + account
}

// newBots makes the bots of the configuration.
func (in *installation) newBots(ctx context.Context, table map[string]newPlatformFunc) ([]*bot, error) {
	var bots []*bot
	c := &in.started.Config
	maker := &botMaker{table: table, sources: in.sources, public: c.Serve.PublicURL, log: in.options.Log}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		of := c.Channels[name].Bots()
		// A channel that others bring messages from needs none.
		if len(of) == 0 && table[name] != nil {
			in.options.Log.Warn("channels."+name+" has no token, so no bot is connected", "channel", name)
		}
		for _, account := range slices.Sorted(maps.Keys(of)) {
			b, err := maker.newBot(ctx, name, account, of[account])
			if err != nil {
				return nil, err
			}
			b.channel = c.Channels[name]
			bots = append(bots, b)
		}
	}
	if len(bots) > 0 && in.offline() {
		return nil, parley.Errorf(parley.CodeInvalid, "channels: %s would answer people from a script, as no model is configured; set ANTHROPIC_API_KEY or OPENAI_API_KEY, "+
			"or name a model as agents.main.model, which may be scripted/demo", bots[0].name)
	}
	return bots, nil
}

// newBot makes a bot. Nobody is called.
func (m *botMaker) newBot(ctx context.Context, name, account string, cfg config.Bot) (*bot, error) {
	b := &bot{name: botName(name, account), cfg: cfg, state: "it has not started yet"}
	makeFunc := m.table[name]
	if makeFunc == nil {
		return nil, parley.Errorf(parley.CodeInvalid, "channels.%s: this program has no adapter for it; take its token out of the configuration", name)
	}
	token, err := cfg.Token.Resolve(ctx, m.sources)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeOf(err), Message: "the token of " + b.name + " cannot be read", Err: err}
	}
	made := platformConfig{Account: account, Token: token, BaseURL: cfg.BaseURL, Log: m.log.With("channel", b.name)}
	if cfg.Webhook {
		made.Webhook = strings.TrimSuffix(m.public, "/") + hookPath(name, account)
	}
	b.platform, err = makeFunc(made)
	return b, err
}

// openOutbox puts the outbox around the store: whatever is said in a session that is
// a chat's is on its way there with the commit that says it.
func (in *installation) openOutbox(bots []*bot) (err error) {
	in.channels = &channels{bots: bots, log: in.options.Log}
	cfg := channel.Config{Log: in.options.Log, HoldAfter: in.started.Config.Limits.HoldAfter, OpenFunc: in.openMedia}
	for _, b := range bots {
		cfg.Platforms = append(cfg.Platforms, b.platform)
	}
	in.outbox, err = channel.New(in.store, cfg)
	if err == nil {
		in.store = in.outbox.Store()
	}
	return err
}

// openIntake makes the way in for the bots.
func (in *installation) openIntake(linkedFunc func(parley.IdentityID)) (err error) {
	c := in.channels
	c.intake, err = intake.New(intake.Config{
		Engine: in.engine, People: in.people, RouteFunc: in.router, Blobs: in.media, MediaLimit: int64(in.started.Config.Limits.Blob),
		AgentFunc: func(name string) (intake.Agent, bool) {
			snapshot, door, err := in.start(name)
			return intake.Agent{Door: door, Snapshot: snapshot}, err == nil
		},
		Groups: group.Config{OwnersMention: !in.started.Config.Groups.OwnerAlways}, Outbox: in.outbox, LinkedFunc: linkedFunc, Log: in.options.Log,
	})
	if err != nil {
		return err
	}
	for _, b := range c.bots {
		pause := b.channel.Burst
		if pause == 0 {
			pause = -1 // every message is answered by itself
		}
		if b.receiver, err = c.intake.For(in.outbox.Paced(b.platform), intake.Platform{Allow: b.cfg.Allow, Pause: pause}); err != nil {
			return err
		}
	}
	return nil
}

// receive takes in messages until ctx ends.
func (c *channels) receive(ctx context.Context) {
	var all sync.WaitGroup
	for _, b := range c.bots {
		all.Go(func() { b.receive(ctx, c.log) })
	}
	all.Wait()
	if c.intake != nil {
		c.intake.Close()
	}
}

const (
	firstBotPause   = time.Second
	longestBotPause = time.Minute
)

// receive runs the adapter, and again if it fails: nothing is lost meanwhile, as the
// platform keeps what was not taken.
func (b *bot) receive(ctx context.Context, log *slog.Logger) {
	pause := firstBotPause
	for ctx.Err() == nil {
		b.set("ok")
		began := time.Now()
		err := b.platform.Run(ctx, b.receiver)
		if ctx.Err() != nil {
			break
		}
		if time.Since(began) > longestBotPause {
			pause = firstBotPause
		}
		text := "it ended by itself"
		if err != nil {
			text = describe(err)
		}
		b.set(text)
		log.Error("a channel does not receive; trying again", "channel", b.name, "error", err, "in", pause)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, longestBotPause)
	}
	b.set("it has stopped")
}

func (b *bot) set(state string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = state
}

// condition says how a bot is.
func (b *bot) condition() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r, ok := b.platform.(channel.Reporter); ok && b.state == "ok" {
		return r.Condition()
	}
	return b.state
}

// conditions say how all of them are.
func (c *channels) conditions() map[string]string {
	all := map[string]string{}
	for _, b := range c.bots {
		all[b.name] = b.condition()
	}
	return all
}

// hooks answers what platforms bring, and leaves everything else to next.
func (c *channels) hooks(next http.Handler) http.Handler {
	mux, some := http.NewServeMux(), false
	for _, b := range c.bots {
		if h, ok := b.platform.(http.Handler); ok && b.cfg.Webhook {
			mux.Handle("POST "+hookPath(b.platform.Name(), b.platform.Account()), h)
			some = true
		}
	}
	if !some {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/hooks/") {
			mux.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
