package telegram

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// Name is the platform's name.
const Name = "telegram"

// DefaultURL is where Telegram's Bot API is.
const DefaultURL = "https://api.telegram.org"

// Config is what a bot is made of. Only Token is required.
type Config struct {
	// Token is what BotFather gave for the bot.
	Token string
	// Account tells several bots apart; empty: the only one.
	Account string
	// URL is where the Bot API is; empty: [DefaultURL].
	URL string
	// Webhook is the https address at which the bot, as an [http.Handler], can be
	// reached: then Telegram brings updates there. Empty: they are asked for.
	Webhook string
	// Commands are what the menu of chats with the bot offers. Those that Telegram
	// would refuse are left out; without any, the menu stays as it is.
	Commands []Command
	// Limits are how much may be sent; nil: what Telegram asks bots to keep to.
	Limits *channel.Limits
	// EditEvery is the time between two edits of a message; 0: two seconds.
	EditEvery time.Duration
	// Client makes the requests; nil: one of the bot's own, which knows the proxies of
	// the environment.
	Client *http.Client
	Clock  parley.Clock // nil: the machine's
	Log    *slog.Logger // nil: nothing is logged
}

// Command is a line of the menu: its name without the slash.
type Command struct{ Name, Description string }

// Telegram's own limits.
const (
	maxText     = 4096 // UTF-16 units of a message
	maxCaption  = 1024
	maxUpload   = 50 << 20 // bytes of a file that bots can send
	maxPhoto    = 10 << 20 // and of one that is shown as a photo
	maxData     = 64       // bytes that a button carries
	maxEntities = 100
	maxDownload = 20 << 20 // bytes of a file that bots can fetch
	maxAnswer   = 200      // UTF-16 units of the answer to a button
)

// limits are what Telegram's questions and answers for developers of bots say.
var limits = channel.Limits{
	Overall:  channel.Rate{N: 30, Per: time.Second},
	PerChat:  channel.Rate{N: 3, Per: 3 * time.Second},
	PerGroup: channel.Rate{N: 20, Per: time.Minute},
}

// Bot is a bot on Telegram. It implements [channel.Platform].
type Bot struct {
	cfg    Config
	client *http.Client
	api    *bot.Bot
	state  state
	crowd  crowd
	hook   atomic.Pointer[taker] // while Run waits for the webhook
	chats  chatLocks             // updates of one chat are taken in one after the other

	mu    sync.Mutex
	moved map[string]int64 // groups that have become supergroups, by their former id
}

var (
	_ channel.Platform = (*Bot)(nil)
	_ channel.Profiler = (*Bot)(nil)
	_ channel.Reporter = (*Bot)(nil)
	_ http.Handler     = (*Bot)(nil)
)

// tokenForm is what tokens look like.
var tokenForm = regexp.MustCompile(`^[0-9]{1,20}:[A-Za-z0-9_-]{1,200}$`)

// New makes a bot. It talks to nobody; a token that cannot be one is
// [parley.CodeInvalid].
func New(cfg Config) (*Bot, error) {
	if !tokenForm.MatchString(cfg.Token) {
		return nil, parley.Errorf(parley.CodeInvalid, "that is no token of a Telegram bot; BotFather gives them as a number, a colon, and letters")
	}
	if cfg.URL == "" {
		cfg.URL = DefaultURL
	}
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	if cfg.Limits == nil {
		cfg.Limits = &limits
	}
	if cfg.EditEvery <= 0 {
		cfg.EditEvery = 2 * time.Second
	}
	if cfg.Clock == nil {
		cfg.Clock = parley.SystemClock{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Client == nil {
		cfg.Client = newClient()
	}
	b := &Bot{cfg: cfg, client: cfg.Client, moved: map[string]int64{}}
	b.state.set("it has not started yet")
	api, err := bot.New(cfg.Token,
		bot.WithSkipGetMe(), bot.WithServerURL(cfg.URL), bot.WithHTTPClient(pollTime, &caller{client: b.client}),
		bot.WithErrorsHandler(func(err error) { cfg.Log.Debug("Telegram's library", "error", err) }),
	)
	if err != nil {
		return nil, err
	}
	b.api = api
	return b, nil
}

// Close gives back the connections that are open. The bot can still be used.
func (b *Bot) Close() { b.client.CloseIdleConnections() }

// Name implements [channel.Platform].
func (*Bot) Name() string { return Name }

// Account implements [channel.Platform].
func (b *Bot) Account() string { return b.cfg.Account }

// Capabilities implements [channel.Platform].
func (b *Bot) Capabilities() channel.Capabilities {
	return channel.Capabilities{
		MaxUnits: maxText, Units: channel.UTF16, MaxMedia: maxUpload, MaxCaption: maxCaption,
		Edits: true, EditEvery: b.cfg.EditEvery,
		Typing: true, TypingEvery: 4 * time.Second, // it is shown for five
		Buttons: true, MaxData: maxData,
		Limits: *b.cfg.Limits, GroupFunc: isGroup,
	}
}

// isGroup reports whether a target is a group: Telegram gives these ids below zero.
func isGroup(to parley.Target) bool { return strings.HasPrefix(to.Chat, "-") }

// Profile implements [channel.Profiler]. That Telegram cannot be reached is
// [parley.CodeUnavailable].
func (b *Bot) Profile(ctx context.Context) (channel.Profile, error) {
	me, err := b.getMe(ctx)
	if err != nil {
		return channel.Profile{}, err
	}
	p := channel.Profile{ID: chatID(me.ID), Name: "@" + me.Username, Link: "https://t.me/" + me.Username + "?start="}
	if !me.CanReadAllGroupMessages {
		p.Hints = append(p.Hints, "In groups Telegram shows the bot only commands, what mentions it, and answers to it (privacy mode). "+
			"To change that, send /setprivacy to @BotFather, or make the bot an administrator of the group; then take it out of the group and add it again.")
	}
	if !me.CanJoinGroups {
		p.Hints = append(p.Hints, "The bot cannot be added to groups. To change that, send /setjoingroups to @BotFather.")
	}
	return p, nil
}

func (b *Bot) getMe(ctx context.Context) (models.User, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	user, err := b.api.GetMe(ctx)
	if err != nil {
		return models.User{}, b.problem(err)
	}
	return *user, nil
}

// fullName is what people call somebody.
func fullName(u *models.User) string {
	if name := strings.TrimSpace(u.FirstName + " " + u.LastName); name != "" {
		return name
	}
	return u.Username
}
