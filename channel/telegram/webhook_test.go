package telegram_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/internal/telegramserver"
)

// newHooked makes a world whose bot has a webhook.
func newHooked(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, telegramserver.Config{WebhookRetry: 1}, telegram.Config{})
	var handler atomic.Pointer[telegram.Bot]
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { handler.Load().ServeHTTP(rw, r) }))
	t.Cleanup(front.Close)
	w.bot = newBot(t, telegram.Config{Token: w.Token(), URL: w.URL, Webhook: front.URL + "/hooks/telegram/default", Clock: newClock()})
	handler.Store(w.bot)
	return w
}

// secret is what the bot gave to the server.
func (w *world) secret() string {
	w.t.Helper()
	w.until("the webhook is set", func() bool { return len(w.Calls("setWebhook")) > 0 })
	return w.Calls("setWebhook")[0].Params["secret_token"]
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	w := newHooked(t)
	chat := w.Private(w.ann)
	var refused atomic.Int32
	w.inbox.receiveFunc = func(_ context.Context, m channel.Received) error {
		if parley.PlainText(m.Parts) == "second" && refused.Add(1) <= 3 {
			return errBusy
		}
		return nil
	}
	w.Say(chat, w.ann, "first")
	w.Say(chat, w.ann, "second")
	w.Say(chat, w.ann, "third")
	stop := w.run()
	w.received(3)
	w.confirmed()
	if diff := cmp.Diff([]string{"first", "second", "third"}, w.inbox.texts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.eventually("it is well", func() bool { return w.bot.Condition() == "ok" })
	if n := refused.Load(); n != 4 {
		t.Errorf("the second was brought %d times", n)
	}
	// Nobody is there for a while; then what was brought meanwhile comes again.
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	w.Say(chat, w.ann, "fourth")
	w.run()
	w.received(4)
	w.confirmed()
}

func TestWebhook_Secret(t *testing.T) {
	t.Parallel()
	w := newHooked(t)
	stop := w.run()
	secret := w.secret()
	const update = `{"update_id":1,"message":{"message_id":1,"date":1,"chat":{"id":5,"type":"private"},"from":{"id":5,"first_name":"Eve"},"text":"hello"}}`
	for name, c := range map[string]struct {
		secret, body string
		status       int
	}{
		"none":     {"", update, http.StatusUnauthorized},
		"wrong":    {strings.Repeat("0", len(secret)), update, http.StatusUnauthorized},
		"longer":   {secret + "0", update, http.StatusUnauthorized},
		"no JSON":  {secret, "hello", http.StatusBadRequest},
		"strange":  {secret, `{"update_id":"x"}`, http.StatusOK},
		"too long": {secret, `"` + strings.Repeat("x", 5<<20) + `"`, http.StatusBadRequest},
	} {
		if got := post(t, w.bot, c.secret, c.body); got != c.status {
			t.Errorf("%s: %d, want %d", name, got, c.status)
		}
	}
	if got := w.inbox.texts(); len(got) > 0 {
		t.Errorf("received %q", got)
	}
	if got := post(t, w.bot, secret, update); got != http.StatusOK {
		t.Errorf("with the secret: %d", got)
	}
	w.received(1)
	rec := httptest.NewRecorder()
	w.bot.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	if rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET is answered by %d", rec.Code)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := post(t, w.bot, secret, update); got != http.StatusServiceUnavailable {
		t.Errorf("while nobody takes it in: %d", got)
	}
}

// TestWebhook_Unreached has Telegram fail to reach the webhook, and somebody else set
// another one.
func TestWebhook_Unreached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{WebhookRetry: 1}, telegram.Config{})
	w.bot = newBot(t, telegram.Config{Token: w.Token(), URL: w.URL, Webhook: "http://127.0.0.1:1/nobody", Clock: presentClock{newClock()}})
	w.Say(w.Private(w.ann), w.ann, "hello")
	w.run()
	w.eventually("that is known", func() bool {
		return strings.HasPrefix(w.bot.Condition(), "Telegram cannot bring messages to http://127.0.0.1:1/nobody")
	})
}
