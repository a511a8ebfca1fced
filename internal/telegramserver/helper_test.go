package telegramserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"go.uber.org/goleak"

	"github.com/parley-run/parley/internal/telegramserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// within is how long a test waits for what has to happen.
const within = 20 * time.Second

// soon is a context for what has to happen.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return ctx
}

// clock is a clock that tests move.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer
}

type timer struct {
	at   time.Time
	f    func()
	done bool
}

func newClock() *clock { return &clock{now: time.Unix(1_750_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		stopped := !t.done
		t.done = true
		return stopped
	}
}

// advance moves the clock and runs what became due.
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for _, t := range c.timers {
		if !t.done && !t.at.After(c.now) {
			t.done = true
			due = append(due, t.f)
		}
	}
	c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool { return t.done })
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// timersSet says how many timers wait.
func (c *clock) timersSet() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// client makes an HTTP client that leaves no connection behind.
func client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// newBot makes a bot of the real library that talks to the server.
func newBot(t *testing.T, s *telegramserver.Server, options ...bot.Option) *bot.Bot {
	t.Helper()
	options = append([]bot.Option{
		bot.WithServerURL(s.URL), bot.WithHTTPClient(2*time.Second, client(t)), bot.WithCheckInitTimeout(within),
		bot.WithErrorsHandler(func(error) {}),
	}, options...)
	b, err := bot.New(s.Token(), options...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// follow starts the bot and gives the updates it gets.
func follow(t *testing.T, s *telegramserver.Server, options ...bot.Option) <-chan *models.Update {
	t.Helper()
	updates := make(chan *models.Update, 1000)
	b := newBot(t, s, append(options,
		bot.WithNotAsyncHandlers(),
		bot.WithDefaultHandler(func(_ context.Context, _ *bot.Bot, u *models.Update) { updates <- u }))...)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Start(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return updates
}

// next gives the next update.
func next(t *testing.T, updates <-chan *models.Update) *models.Update {
	t.Helper()
	select {
	case u := <-updates:
		return u
	case <-soon(t).Done():
		t.Fatal("no update came")
		return nil
	}
}

// refused checks that an error has the server's words.
func refused(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil {
		t.Fatalf("it was taken, want it refused with %q", words)
	}
	if !strings.Contains(err.Error(), words) {
		t.Fatalf("it was refused with %q, want %q", err, words)
	}
}

// firstChat gives the chat of the first of some updates.
func firstChat(t *testing.T, raw []byte) int64 {
	t.Helper()
	var updates []models.Update
	if err := json.Unmarshal(raw, &updates); err != nil {
		t.Fatal(err)
	}
	return updates[0].Message.Chat.ID
}
