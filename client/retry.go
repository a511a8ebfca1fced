package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/parley-run/parley"
)

// insist repeats what can be repeated safely until it is answered, as often as the
// configuration allows, unless the server asks for more patience than a request
// has. If it may have been done before it failed for good, the error says so.
func (c *Client) insist(ctx context.Context, askFunc func() error) error {
	var err error
	maybe := false
	for tries := 1; ; tries++ {
		err = askFunc()
		e, ok := errors.AsType[*parley.Error](err)
		if !ok || !passes(e.Code) || ctx.Err() != nil {
			break
		}
		maybe = maybe || errors.Is(err, parley.ErrOutcomeUnknown)
		if tries >= c.cfg.Tries || e.RetryAfter > c.cfg.Timeout || !c.pause(ctx, tries, err) {
			break
		}
	}
	if e, ok := errors.AsType[*parley.Error](err); ok && maybe {
		return unknownOutcome(e)
	}
	return err
}

// passes reports whether an error of this kind goes away by itself.
func passes(code parley.Code) bool {
	return code == parley.CodeUnavailable || code == parley.CodeRateLimited
}

// maxAsked is how long a server can make a client wait at most.
const maxAsked = 5 * time.Minute

// pause waits before another attempt, the longer the more of them have failed, and
// not less than the server asked for. It reports false if ctx ended.
func (c *Client) pause(ctx context.Context, failed int, err error) bool {
	d := c.cfg.MaxPause
	if failed < 30 {
		d = min(d, c.cfg.Pause<<(failed-1))
	}
	d -= rand.N(d/2 + 1) //nolint:gosec // chance keeps clients from coming back all at once; it guards nothing
	if e, ok := errors.AsType[*parley.Error](err); ok {
		d = max(d, min(e.RetryAfter, maxAsked))
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
