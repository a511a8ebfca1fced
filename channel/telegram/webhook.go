package telegram

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-telegram/bot"
)

const (
	secretHeader = "X-Telegram-Bot-Api-Secret-Token" //nolint:gosec // the name of a header
	maxUpdate    = 4 << 20                           // bytes
	checkEvery   = time.Minute
)

// secret is what Telegram sends along with updates. It follows from the token: who does
// not know that cannot guess it, and it stays the same over restarts.
func (b *Bot) secret() string {
	mac := hmac.New(sha256.New, []byte(b.cfg.Token))
	mac.Write([]byte("secret of a webhook"))
	return hex.EncodeToString(mac.Sum(nil))
}

// ServeHTTP takes an update that Telegram brings to [Config].Webhook. It is told so
// after the update was taken in; otherwise it brings it again.
func (b *Bot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "only POST is answered here", http.StatusMethodNotAllowed)
		return
	}
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(secretHeader)), []byte(b.secret())) != 1 {
		http.Error(w, "the secret is missing or wrong", http.StatusUnauthorized)
		return
	}
	in := b.hook.Load()
	if in == nil {
		http.Error(w, "nobody takes updates in at present", http.StatusServiceUnavailable)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpdate))
	if err != nil || !json.Valid(raw) {
		http.Error(w, "that is no update", http.StatusBadRequest)
		return
	}
	u := b.decode(raw)
	if u == nil {
		return // it was told; once more would help nobody
	}
	if err := b.inOrder(r.Context(), chatOf(u), func() error { return b.handle(r.Context(), in, u) }); err != nil {
		b.cfg.Log.Warn("an update could not be taken in; Telegram brings it again", "error", err)
		http.Error(w, "it could not be taken in", http.StatusServiceUnavailable)
	}
}

// serveWebhook has Telegram bring updates until ctx ends. They are brought again to the
// next start, as the webhook stays.
func (b *Bot) serveWebhook(ctx context.Context, in *taker) error {
	b.hook.Store(in)
	defer b.hook.Store(nil)
	var pause pauses
	set := false
	since := b.cfg.Clock.Now()
	for ctx.Err() == nil {
		wait := checkEvery
		var err error
		if set {
			set, err = b.checkWebhook(ctx, since)
			since = b.cfg.Clock.Now()
		}
		if err == nil && !set {
			err = b.setWebhook(ctx)
			set = err == nil
		}
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			pause.reset()
			b.receives()
		} else {
			var final error
			if wait, final = b.fails(err, &pause); final != nil {
				return final
			}
		}
		b.wait(ctx, wait)
	}
	return nil
}

func (b *Bot) setWebhook(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err := b.api.SetWebhook(ctx, &bot.SetWebhookParams{URL: b.cfg.Webhook, SecretToken: b.secret(), AllowedUpdates: wanted})
	return err
}

// checkWebhook looks whether the webhook is still set, and whether Telegram reached it
// of late.
func (b *Bot) checkWebhook(ctx context.Context, since time.Time) (set bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	info, err := b.api.GetWebhookInfo(ctx)
	if err != nil {
		return true, err
	}
	if info.URL != b.cfg.Webhook {
		return false, nil
	}
	if info.PendingUpdateCount > 0 && info.LastErrorMessage != "" && int64(info.LastErrorDate) >= since.Unix() {
		return true, &webhookError{address: b.cfg.Webhook, reason: info.LastErrorMessage}
	}
	return true, nil
}

// webhookError says why Telegram does not reach the webhook.
type webhookError struct{ address, reason string }

func (e *webhookError) Error() string {
	return fmt.Sprintf("Telegram cannot bring messages to %s: %s", e.address, e.reason)
}

// chatLocks lets one at a time do something for a chat.
type chatLocks struct {
	mu   sync.Mutex
	free map[string]chan struct{} // closed when the one who is at it is done
}

// inOrder does something for a chat after what is being done for it.
func (b *Bot) inOrder(ctx context.Context, chat string, do func() error) error {
	t := &b.chats
	own := make(chan struct{})
	for {
		t.mu.Lock()
		busy, ok := t.free[chat]
		if !ok {
			if t.free == nil {
				t.free = map[string]chan struct{}{}
			}
			t.free[chat] = own
			t.mu.Unlock()
			break
		}
		t.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.free, chat)
		close(own)
	}()
	return do()
}
