// Package telegramserver stands in for Telegram's Bot API in tests: a server on
// loopback that speaks its wire format, holds people, chats and what was written
// in them, gives a bot its updates by long poll or webhook, and takes what the bot
// sends. It refuses what the real one refuses, in the real one's words, counts the
// limits by its own clock, and breaks on request in the ways that networks do.
//
// Where the real one silently repairs what would be a fault of ours, such as
// entities that cross each other, this one refuses; such texts start with
// "Bad Request: strict: ".
//
// What it does not have: channels, inline mode, payments, stickers, polls, the old
// Markdown mode, and answers to webhooks that call a method.
//
// A server owns the goroutines of its listener and one that posts to a webhook, if
// one is set; Close waits for them. It imports nothing of the module.
package telegramserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Clock gives the time by which limits, long polls, webhooks and slow answers are
// counted. The zero Config has the machine's.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// The defaults of a [Config].
const (
	DefaultToken    = "110201543:test-token-of-a-server-on-loopback"
	DefaultUsername = "parley_test_bot"

	defaultMaxUpload   = 50 << 20
	defaultMaxDownload = 20 << 20
	defaultMaxPhoto    = 10 << 20
	defaultQueryLife   = 10 * time.Minute
	defaultRetry       = 50 * time.Millisecond
)

// Config is what a server is like.
type Config struct {
	Clock    Clock
	Token    string // "<bot's id>:<secret>"
	Username string // the bot's, without the at sign
	Name     string // the bot's first name; empty: its username

	// Privacy is the mode in which a bot sees of a group only commands, its
	// mentions, and replies to it, unless it is an administrator there.
	Privacy bool

	Limits       Limits
	MaxUpload    int64         // bytes of a request; 50 MB
	MaxDownload  int64         // bytes of a file that a bot may fetch; 20 MB
	WebhookRetry time.Duration // the pause after a webhook that failed
	QueryLife    time.Duration // how long a button's press can be answered
}

// Server is the Bot API for one bot.
type Server struct {
	// URL is where it listens, once [Server.Listen] or [Start] was called.
	URL string

	cfg   Config
	clock Clock
	bot   User
	http  *http.Server
	stop  context.CancelFunc // ends what waits: polls, faults, webhooks
	done  <-chan struct{}
	tasks sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and made anew whenever something changed
	closed  bool

	users    map[int64]*User
	chats    map[int64]*Chat
	nextUser int64
	nextChat int64
	nextID   int // of messages in private chats and plain groups

	updates   queue
	hook      *webhook
	limiter   limiter
	faults    []*Injected
	files     map[string]*storedFile // by file id
	paths     map[string]*storedFile // by path
	queries   map[string]*query
	menus     map[string][]BotCommand
	calls     []Call
	actions   []Action
	refusals  []Violation
	nextAlbum int
}

// New makes a server, which is an [http.Handler]. The caller closes it.
func New(cfg Config) *Server {
	if cfg.Clock == nil {
		cfg.Clock = systemClock{}
	}
	if cfg.Token == "" {
		cfg.Token = DefaultToken
	}
	if cfg.Username == "" {
		cfg.Username = DefaultUsername
	}
	if cfg.Name == "" {
		cfg.Name = cfg.Username
	}
	if cfg.MaxUpload == 0 {
		cfg.MaxUpload = defaultMaxUpload
	}
	if cfg.MaxDownload == 0 {
		cfg.MaxDownload = defaultMaxDownload
	}
	if cfg.WebhookRetry == 0 {
		cfg.WebhookRetry = defaultRetry
	}
	if cfg.QueryLife == 0 {
		cfg.QueryLife = defaultQueryLife
	}
	cfg.Limits = cfg.Limits.orDefaults()
	number, _, _ := strings.Cut(cfg.Token, ":")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id <= 0 {
		panic(fmt.Sprintf("telegramserver: a token starts with the bot's id and a colon, not %q", number))
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		cfg: cfg, clock: cfg.Clock, stop: stop, done: ctx.Done(),
		changed: make(chan struct{}),
		users:   make(map[int64]*User), chats: make(map[int64]*Chat),
		nextUser: 700_000_000, nextChat: 4_000_000_000, nextID: 0,
		files: make(map[string]*storedFile), paths: make(map[string]*storedFile),
		queries: make(map[string]*query), menus: make(map[string][]BotCommand),
		bot: User{ID: id, IsBot: true, FirstName: cfg.Name, Username: cfg.Username},
	}
	s.updates.next = 100_000
	s.limiter = limiter{limits: cfg.Limits, sent: make(map[int64]*window), edits: make(map[int64]*window), until: make(map[int64]time.Time)}
	return s
}

// Start makes a server that listens on loopback until the test is over.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	s := New(cfg)
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Listen starts to listen on loopback and sets URL.
func (s *Server) Listen(ctx context.Context) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.URL = "http://" + listener.Addr().String()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	s.tasks.Go(func() {
		_ = s.http.Serve(listener) // it ends with ErrServerClosed
	})
	return nil
}

// Close ends every request, and waits for the server's goroutines.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	if s.hook != nil {
		s.hook.stop()
	}
	s.notify()
	s.mu.Unlock()
	s.stop()
	if s.http != nil {
		_ = s.http.Close() // nobody is left to be told
	}
	s.tasks.Wait()
}

// Token gives the bot's token.
func (s *Server) Token() string { return s.cfg.Token }

// Bot gives the bot's user.
func (s *Server) Bot() User { return s.bot }

// notify tells everybody who waits that something changed. The caller holds mu.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait waits until done says so, which is asked after each change, without any
// lock held.
func (s *Server) Wait(ctx context.Context, done func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
