package telegram_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/internal/telegramserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long something may take that has to happen.
const patience = 30 * time.Second

// world is a Telegram server, a bot on it, and who receives what the bot does.
type world struct {
	*telegramserver.Server
	t     *testing.T
	bot   *telegram.Bot
	inbox *inbox
	ann   telegramserver.User
	bob   telegramserver.User
}

func newWorld(t *testing.T, server telegramserver.Config, cfg telegram.Config) *world {
	t.Helper()
	if server.Limits == (telegramserver.Limits{}) {
		server.Limits = telegramserver.NoLimits
	}
	w := &world{Server: telegramserver.Start(t, server), t: t, inbox: newInbox()}
	w.ann = w.AddUser(telegramserver.User{FirstName: "Ann", LastName: "Lee", Username: "annlee"})
	w.bob = w.AddUser(telegramserver.User{FirstName: "Bob"})
	cfg.Token, cfg.URL = w.Token(), w.URL
	w.bot = newBot(t, cfg)
	return w
}

func newBot(t *testing.T, cfg telegram.Config) *telegram.Bot {
	t.Helper()
	b, err := telegram.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// run lets a bot receive until the test is over, or it is stopped.
func (w *world) run() (stop func() error) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.bot.Run(ctx, w.inbox) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	w.t.Cleanup(func() {
		if err := stop(); err != nil {
			w.t.Errorf("the bot ended with %v", err)
		}
	})
	return stop
}

func (w *world) deadline() context.Context {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	return ctx
}

// until waits until the server has seen that something is so.
func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	if err := w.Wait(w.deadline(), done); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// eventually waits until something is so that nobody tells of.
func (w *world) eventually(what string, done func() bool) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	ctx := w.deadline()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.t.Fatalf("%s: it is not so; the bot is %q", what, w.bot.Condition())
		}
	}
}

// received waits for so many messages and gives all there are.
func (w *world) received(n int) []channel.Received {
	w.t.Helper()
	w.eventually("messages are received", func() bool { return len(w.inbox.all()) >= n })
	return w.inbox.all()
}

// confirmed waits until the bot has confirmed every update.
func (w *world) confirmed() {
	w.t.Helper()
	w.until("updates are confirmed", func() bool { return w.Pending() == 0 })
}

// send sends a text to a chat.
func (w *world) send(c *telegramserver.Chat, text string) (string, error) {
	w.t.Helper()
	return w.bot.Send(w.t.Context(), channel.Outgoing{Target: to(c), Text: channel.Plain(text)})
}

func to(c *telegramserver.Chat) parley.Target {
	return parley.Target{Channel: "telegram", Chat: id(c)}
}

// inbox is a receiver that keeps what it gets.
type inbox struct {
	mu       sync.Mutex
	messages []channel.Received
	presses  []channel.Press
	// receiveFunc is asked before a message is kept; nil: all are taken.
	receiveFunc func(context.Context, channel.Received) error
	answer      string
	pressErr    error
}

func newInbox() *inbox { return &inbox{answer: "Approved."} }

// Receive keeps a message, unless it is refused.
func (i *inbox) Receive(ctx context.Context, m channel.Received) error {
	i.mu.Lock()
	refuse := i.receiveFunc
	i.mu.Unlock()
	if refuse != nil {
		if err := refuse(ctx, m); err != nil {
			return err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.messages = append(i.messages, m)
	return nil
}

// Press keeps a press, unless it fails.
func (i *inbox) Press(_ context.Context, p channel.Press) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.pressErr; err != nil {
		i.pressErr = nil
		return "", err
	}
	i.presses = append(i.presses, p)
	return i.answer, nil
}

func (i *inbox) all() []channel.Received {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.messages)
}

func (i *inbox) texts() []string {
	var texts []string
	for _, m := range i.all() {
		texts = append(texts, parley.PlainText(m.Parts))
	}
	return texts
}

var errBusy = errors.New("the store is busy")

// clock is one whose time passes as soon as somebody waits for it, so that pauses take
// none, and which remembers how long they were.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	pauses []time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.pauses = append(c.pauses, d)
	return time.AfterFunc(time.Millisecond, f).Stop
}

func (c *clock) waited() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.pauses)
}

// post posts to a handler as Telegram does to a webhook.
func post(t *testing.T, h http.Handler, secret, body string) int {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Body = io.NopCloser(readerOf(body))
	if secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// presentClock is such a clock that tells the present time.
type presentClock struct{ *clock }

// Now gives the machine's time, by which the server dates what it tells.
func (presentClock) Now() time.Time { return time.Now() }
