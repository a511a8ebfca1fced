package telegramserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"
)

// webhook is where updates are posted to.
type webhook struct {
	url, secret string
	max         int64
	failedAt    time.Time
	failure     string
	stop        context.CancelFunc
}

// webhookTimeout is how long a bot may take for one update.
const webhookTimeout = time.Minute

var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// setWebhook sets where updates are posted to. Unlike the real one it takes plain
// HTTP, as servers on loopback have no certificates.
func (s *Server) setWebhook(c *call) (any, *apiError) {
	target, secret := c.values["url"], c.values["secret_token"]
	if target == "" {
		return s.deleteWebhook(c)
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	}
	if secret != "" && !secretForm.MatchString(secret) {
		return nil, badRequest("secret token contains unallowed characters")
	}
	var allowed []string
	if c.object("allowed_updates", &allowed) != nil {
		return nil, badRequest("can't parse allowed_updates JSON array")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errNotFound
	}
	s.dropWebhook(c)
	if _, ok := c.values["allowed_updates"]; ok {
		s.updates.allowed = allowed
	}
	ctx, stop := context.WithCancel(context.Background())
	hook := &webhook{url: target, secret: secret, max: c.number("max_connections"), stop: stop}
	if hook.max == 0 {
		hook.max = 40
	}
	s.hook = hook
	s.notify()
	s.tasks.Go(func() { s.post(ctx, hook) })
	return true, nil
}

// deleteWebhook ends posting updates.
func (s *Server) deleteWebhook(c *call) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropWebhook(c)
	s.notify()
	return true, nil
}

// dropWebhook ends the webhook there is. The caller holds mu.
func (s *Server) dropWebhook(c *call) {
	if s.hook != nil {
		s.hook.stop()
		s.hook = nil
	}
	if c.flag("drop_pending_updates") {
		s.updates.pending = nil
	}
}

// getWebhookInfo says how posting goes.
func (s *Server) getWebhookInfo(*call) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := struct {
		URL         string   `json:"url"`
		Certificate bool     `json:"has_custom_certificate"`
		Pending     int      `json:"pending_update_count"`
		FailedAt    int64    `json:"last_error_date,omitempty"`
		Failure     string   `json:"last_error_message,omitempty"`
		Max         int64    `json:"max_connections,omitempty"`
		Allowed     []string `json:"allowed_updates,omitempty"`
	}{Pending: len(s.updates.pending), Allowed: s.updates.allowed}
	if h := s.hook; h != nil {
		info.URL, info.Max, info.Failure = h.url, h.max, h.failure
		if h.failure != "" {
			info.FailedAt = h.failedAt.Unix()
		}
	}
	return info, nil
}

// post posts updates, one after the other, each until the bot takes it.
func (s *Server) post(ctx context.Context, hook *webhook) {
	transport := &http.Transport{}
	client := &http.Client{Transport: transport, Timeout: webhookTimeout}
	defer transport.CloseIdleConnections()
	defer hook.stop()
	for ctx.Err() == nil {
		s.mu.Lock()
		changed := s.changed
		found := s.updates.take(1)
		s.mu.Unlock()
		if len(found) == 0 {
			pause(ctx, changed)
			continue
		}
		err := deliver(ctx, client, hook, found[0])
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			s.delivered(hook, found[0].ID)
			continue
		}
		s.failed(hook, err)
		again := make(chan struct{})
		stop := s.clock.AfterFunc(s.cfg.WebhookRetry, func() { close(again) })
		pause(ctx, again)
		stop()
	}
}

// pause waits for a signal, or the context's end.
func pause(ctx context.Context, signal <-chan struct{}) {
	select {
	case <-signal:
	case <-ctx.Done():
	}
}

// delivered drops the update that was posted.
func (s *Server) delivered(hook *webhook, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.updates.pending, func(p pending) bool { return p.ID == id })
	if s.hook == hook && at >= 0 {
		s.updates.pending = slices.Delete(slices.Clone(s.updates.pending), at, at+1)
	}
	s.notify()
}

// failed keeps why posting did not work.
func (s *Server) failed(hook *webhook, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hook.failedAt, hook.failure = s.clock.Now(), err.Error()
	s.notify()
}

// deliver posts one update.
func deliver(ctx context.Context, client *http.Client, hook *webhook, u Update) error {
	body, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("encode the update: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if hook.secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", hook.secret)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // what was answered is known by then
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return wrong("Wrong response from the webhook: %s", resp.Status)
	}
	return nil
}
