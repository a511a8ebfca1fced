package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"
)

const (
	// connectTime is how long it may take to reach Telegram. It is shorter than the
	// outbox waits for an answer, so that a network that is down is known as such.
	connectTime = 8 * time.Second
	callTime    = 30 * time.Second // of calls that nobody else limits
)

func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: connectTime, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout: connectTime,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// errNotSent is in the chain if Telegram cannot have seen a request.
var errNotSent = errors.New("the request was not sent")

// serverError is an answer of a server that was not well: what became of the request is
// not known.
type serverError struct{ status int }

func (e *serverError) Error() string {
	return fmt.Sprintf("%d %s", e.status, http.StatusText(e.status))
}

// caller makes the library's requests. It tells those that cannot have arrived from
// those that can.
type caller struct{ client *http.Client }

// Do makes a request. The library writes bodies into a pipe; here they are read whole,
// so that a request that was not begun can be made again over another connection.
func (c *caller) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	err = errors.Join(err, req.Body.Close())
	if err != nil {
		return nil, errors.Join(errNotSent, err)
	}
	var begun atomic.Bool
	again := req.Clone(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{WroteHeaders: func() { begun.Store(true) }}))
	again.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp, err := c.client.Do(again)
	if err != nil {
		if !begun.Load() {
			err = errors.Join(errNotSent, err)
		}
		return nil, withoutURL(err)
	}
	if resp.StatusCode >= http.StatusInternalServerError {
		return nil, errors.Join(&serverError{resp.StatusCode}, resp.Body.Close())
	}
	return resp, nil
}

// withoutURL takes the address out of an error: the token is in it.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		e.URL = "Telegram"
	}
	return err
}

// answer is what the Bot API says to a request.
type answer struct {
	OK          bool              `json:"ok"`
	Result      []json.RawMessage `json:"result"`
	Code        int               `json:"error_code"`
	Description string            `json:"description"`
	Parameters  struct {
		RetryAfter int `json:"retry_after"`
	} `json:"parameters"`
}

// updates asks for updates from an offset on, which confirms those before it, and waits
// so long for the first one.
func (b *Bot) updates(ctx context.Context, offset int64, wait time.Duration) (_ []json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait+callTime)
	defer cancel()
	body, err := json.Marshal(map[string]any{"offset": offset, "timeout": int(wait / time.Second), "allowed_updates": wanted})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.cfg.URL+"/bot"+b.cfg.Token+"/getUpdates", bytes.NewReader(body))
	if err != nil {
		return nil, withoutURL(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&caller{client: b.client}).Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	var got answer
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return nil, fmt.Errorf("read updates: %w", err)
	}
	if got.OK {
		return got.Result, nil
	}
	// As the library has them.
	kinds := map[int]error{
		http.StatusUnauthorized: bot.ErrorUnauthorized, http.StatusNotFound: bot.ErrorNotFound,
		http.StatusConflict: bot.ErrorConflict, http.StatusBadRequest: bot.ErrorBadRequest,
	}
	if got.Code == http.StatusTooManyRequests {
		return nil, &bot.TooManyRequestsError{Message: got.Description, RetryAfter: got.Parameters.RetryAfter}
	}
	if kind := kinds[got.Code]; kind != nil {
		return nil, fmt.Errorf("%w, %s", kind, got.Description)
	}
	return nil, fmt.Errorf("%d %s", got.Code, got.Description)
}
