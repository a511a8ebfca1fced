package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

func (s *Server) systemRoutes() {
	add(s, public, endpoint[none, healthOut]{
		method: http.MethodGet, path: "/healthz", name: "health", summary: "The process lives.",
		do: func(*call, *none) (healthOut, error) { return healthOut{Status: "ok"}, nil },
	})
	add(s, public, endpoint[none, Readiness]{
		method: http.MethodGet, path: "/readyz", name: "ready", summary: "Messages can be taken: what the last stop left behind is settled, and the store can commit.",
		also: map[int]string{http.StatusServiceUnavailable: "not yet, or not any more"}, do: (*call).ready,
	})
	add(s, public, endpoint[none, json.RawMessage]{
		method: http.MethodGet, path: "/api/openapi.json", name: "openAPI", summary: "This document.",
		do: func(c *call, _ *none) (json.RawMessage, error) {
			c.w.Header().Set("Cache-Control", "no-cache")
			return s.document, nil
		},
	})
	if s.cfg.Metrics != nil {
		add(s, owners, endpoint[none, none]{
			method: http.MethodGet, path: "/metrics", name: "metrics", summary: "Measurements for Prometheus.", gives: "text/plain",
			do: func(c *call, _ *none) (none, error) {
				c.took = true
				s.cfg.Metrics.ServeHTTP(c.w, c.r)
				return none{}, nil
			},
		})
	}
	add(s, signedIn, endpoint[none, json.RawMessage]{
		method: http.MethodPost, path: "/api/resolve", name: "resolve", takes: "application/json",
		summary: "Say which conversation a message belongs to, and why. It changes nothing. For owners, and for channels about messages of their own.", do: (*call).resolveLine,
	})
}

type healthOut struct {
	Status string `json:"status"`
}

func (c *call) ready(_ *none) (Readiness, error) {
	out := c.readiness(c.r.Context())
	if !out.Ready {
		c.status = http.StatusServiceUnavailable
	}
	c.w.Header().Set("Cache-Control", "no-store")
	return out, nil
}

// readiness asks the program, or else the engine.
func (c *call) readiness(ctx context.Context) Readiness {
	var out Readiness
	if c.cfg.ReadyFunc != nil {
		out = c.cfg.ReadyFunc(ctx)
	} else {
		out = c.engineReady(ctx)
	}
	if out.Channels == nil {
		out.Channels = map[string]string{}
	}
	if out.Providers == nil {
		out.Providers = map[string]string{}
	}
	return out
}

func (c *call) engineReady(ctx context.Context) Readiness {
	out := Readiness{Store: "ok", Disk: "ok"}
	select {
	case <-c.engine.Ready():
		out.Ready = true
	default:
		return out
	}
	stats, err := c.engine.Stats(ctx)
	if err != nil {
		c.log.Error("the engine cannot be asked how it is", "request", c.id, "error", err)
		out.Ready, out.Store = false, "it cannot be read"
		return out
	}
	out.Backlog = Backlog{Running: stats.Running, Parked: stats.Parked, Awaiting: stats.Awaiting, Queued: stats.Queued}
	if !stats.OldestQueued.IsZero() {
		out.Backlog.OldestSeconds = int64(c.cfg.Clock.Now().Sub(stats.OldestQueued).Seconds())
	}
	return out
}

// resolveLine answers a question as `parley resolve` does.
func (c *call) resolveLine(_ *none) (json.RawMessage, error) {
	line, err := c.body()
	if err != nil {
		return nil, err
	}
	// Who may not ask is told so whatever the question is.
	mayAsk := owners.allows(c.cred.Caller)
	if mayAsk != nil && c.cred.Caller.Namespace() == "" {
		return nil, mayAsk
	}
	lines := route.NewLines(c.cfg.RouteFunc())
	req, err := lines.Decode(line)
	if err != nil {
		return nil, err
	}
	if mayAsk != nil && req.Inbound.Channel != c.cred.Caller.Namespace() {
		return nil, parley.Errorf(parley.CodeForbidden, "a channel may ask about messages of its own alone")
	}
	answer, ok := lines.Append(nil, line)
	if !ok {
		var failed errorBody
		if err := json.Unmarshal(answer, &failed); err != nil {
			return nil, err
		}
		return nil, &parley.Error{Code: failed.Error.Code, Message: failed.Error.Message}
	}
	return trimLine(answer), nil
}

func trimLine(b []byte) json.RawMessage {
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return b
}
