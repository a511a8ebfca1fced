package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// logged writes the line of a request: no query, no header and no body, which may
// hold secrets.
func (c *call) logged(took time.Duration) {
	route := c.pattern
	if route == "" {
		route = "none"
	}
	level := slog.LevelInfo
	if c.w.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	c.log.LogAttrs(context.Background(), level, "request",
		slog.String("request", c.id), slog.String("method", c.method), slog.String("route", route),
		slog.Int("status", c.w.status), slog.Duration("took", took), slog.Int64("bytes", c.w.bytes),
		slog.String("client", c.from()), slog.String("identity", string(c.cred.Caller.Principal().Identity)))
}

// from is where the request comes from.
func (c *call) from() string {
	if c.r == nil {
		return c.address
	}
	return c.client().String()
}

// detach lets go of the request, and keeps what the log needs: a stream may last
// for days.
func (c *call) detach() {
	c.address = c.from()
	c.detached, c.r = true, nil
	c.w = &recorder{status: c.w.status, begun: true}
}
