package intake

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/group"
	"github.com/parley-run/parley/route"
)

// Config is what an Intake is made of.
type Config struct {
	// Engine, People, RouteFunc and AgentFunc are required.
	Engine *engine.Engine
	People *access.People
	// RouteFunc gives where messages go at present.
	RouteFunc func() *route.Router
	// AgentFunc gives an agent as it is configured at present.
	AgentFunc func(name string) (Agent, bool)
	// Blobs keep media; nil: none are taken.
	Blobs Blobs
	// MediaLimit is the size of the largest medium in bytes; 0: 25 MiB.
	MediaLimit int64
	// Groups says who triggers a turn in a group.
	Groups group.Config
	// Pause is how long a message waits for another of the same person, and Longest
	// how long the first one does at most; 0: 1.5 and 8 seconds. Negative: none waits.
	Pause, Longest time.Duration
	// Outbox knows what buttons are about; nil: there are none.
	Outbox Outbox
	// LinkedFunc is told of accounts that were linked to a user by a code; nil: nobody
	// is.
	LinkedFunc func(parley.IdentityID)
	Clock      parley.Clock // nil: the machine's
	Log        *slog.Logger // nil: nothing is logged
}

// Agent is an agent, as far as its visitors are concerned.
type Agent struct {
	Door     access.Door
	Snapshot parley.AgentSnapshot
}

// Blobs is where media are kept.
type Blobs interface {
	Put(ctx context.Context, r io.Reader) (parley.Blob, error)
}

// Intake takes in what chat platforms bring. Its methods may be called from many
// goroutines.
type Intake struct {
	cfg      Config
	replies  *replies
	bots     *access.Throttle // programs that trigger turns, by chat
	visitors *access.Throttle // strangers who are told how to get in
	follows  *follows
	handled  *recent // what was dealt with and left no input
	failures *recent // what could not be admitted, and how often
}

// New makes an intake.
func New(cfg Config) (*Intake, error) {
	if cfg.Engine == nil || cfg.People == nil || cfg.RouteFunc == nil || cfg.AgentFunc == nil {
		return nil, parley.Errorf(parley.CodeInvalid, "an intake needs an engine, people, routes and agents")
	}
	if cfg.Clock == nil {
		cfg.Clock = parley.SystemClock{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	orDefault(&cfg.Pause, 1500*time.Millisecond)
	orDefault(&cfg.Longest, 8*time.Second)
	orDefault(&cfg.MediaLimit, 25<<20)
	return &Intake{
		cfg:      cfg,
		replies:  newReplies(cfg.Clock, cfg.Log),
		bots:     access.NewThrottle(access.ThrottleConfig{Clock: cfg.Clock, Rate: 0.1, Burst: 3}),
		visitors: access.NewThrottle(access.ThrottleConfig{Clock: cfg.Clock, Rate: 1.0 / 60, Burst: 1}),
		follows:  newFollows(cfg.Clock),
		handled:  newRecent(), failures: newRecent(),
	}, nil
}

func orDefault[T int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// Close waits for replies that are on their way. It may be called twice; what is
// received after it is admitted, but not replied to outside of its conversation.
func (k *Intake) Close() { k.replies.close() }

// Platform is what is configured for one account on a platform.
type Platform struct {
	// Allow are people and chats whose messages are taken whatever the agent's door
	// says: ids of senders, or of chats as type:id, such as group:-1001. Who comes
	// this way without a role has that of a user, for as long as it is so configured.
	Allow []string
	// Pause is that of [Config], if it is different here.
	Pause time.Duration
}

// For gives the receiver of a platform. It sends replies that belong to no conversation
// through p, which keeps to the platform's limits: see [channel.Outbox.Paced]. What is received for one chat must come one
// after the other, as the platform has it; different chats need not wait for each
// other.
func (k *Intake) For(p channel.Platform, cfg Platform) (channel.Receiver, error) {
	bot := parley.IdentityID(p.Name() + ":bot")
	credential, err := access.NewChannel(p.Name(), parley.Principal{Identity: bot, Role: parley.RoleGuest, Via: "channel"})
	if err != nil {
		return nil, err
	}
	return &receiver{Intake: k, platform: p, credential: credential, allow: readAllow(cfg.Allow), pause: max(cmp.Or(cfg.Pause, k.cfg.Pause), 0)}, nil
}

// receiver is the way in for one platform.
type receiver struct {
	*Intake

	platform   channel.Platform
	credential access.Caller
	allow      map[string]bool
	pause      time.Duration
}
