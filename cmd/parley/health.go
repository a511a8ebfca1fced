package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/httpapi"
	"github.com/parley-run/parley/internal/disk"
)

// health says how an installation is. Whoever asks often gets the same answer for a
// moment, so that asking costs nothing.
type health struct {
	in    *installation
	ended atomic.Bool // it is stopping

	mu   sync.Mutex
	last httpapi.Readiness
	at   time.Time
}

func newHealth(in *installation) *health { return &health{in: in} }

// fresh is how long an answer is good.
const fresh = time.Second

// stopping says that no more messages should be sent here.
func (h *health) stopping() { h.ended.Store(true) }

// readiness implements the daemon's GET /readyz.
func (h *health) readiness(ctx context.Context) httpapi.Readiness {
	h.mu.Lock()
	defer h.mu.Unlock()
	// What is not ready is looked at more often, as somebody waits for it.
	if age := time.Since(h.at); age > fresh || !h.last.Ready && age > fresh/10 {
		h.last, h.at = h.look(ctx), time.Now()
	}
	out := h.last
	if h.ended.Load() {
		out.Ready = false
	}
	return out
}

// leastDisk is how much room there has to be for messages to be taken.
const leastDisk = 64 << 20

func (h *health) look(ctx context.Context) httpapi.Readiness {
	// That who asked went away says nothing about the store.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	out := httpapi.Readiness{Store: "ok", Disk: "ok", Providers: h.providers(), Channels: h.in.channels.conditions()}
	select {
	case <-h.in.engine.Ready():
		out.Ready = true
	default:
		out.Store = "settling what the last stop left behind"
		return out
	}
	// A change of nothing goes the way of every other, up to the disk.
	if _, err := h.in.store.Commit(ctx, parley.Batch{At: time.Now()}); err != nil {
		out.Ready, out.Store = false, "it cannot be written"
		h.in.options.Log.Error("the store cannot be written", "error", err)
	}
	switch room, err := disk.Room(h.in.dir); {
	case err != nil:
		out.Disk = "its room is not known"
	case room < leastDisk:
		out.Ready, out.Disk = false, "it is full"
	}
	if err := countWork(ctx, h.in.engine, &out.Backlog); err != nil {
		h.in.options.Log.Error("the store cannot be read", "error", err)
		out.Ready, out.Store = false, "it cannot be read"
	}
	// Messages are taken whatever is in the way of answers.
	if err := countUnsent(ctx, h.in.store, &out.Backlog); err != nil {
		h.in.options.Log.Error("the outbox cannot be read", "error", err)
	}
	return out
}

// countWork says how much the engine has to do.
func countWork(ctx context.Context, eng *engine.Engine, b *httpapi.Backlog) error {
	stats, err := eng.Stats(ctx)
	if err != nil {
		return err
	}
	b.Running, b.Parked, b.Awaiting, b.Queued = stats.Running, stats.Parked, stats.Awaiting, stats.Queued
	if !stats.OldestQueued.IsZero() {
		b.OldestSeconds = int64(time.Since(stats.OldestQueued).Seconds())
	}
	return nil
}

// countUnsent says how much has not arrived in chats.
func countUnsent(ctx context.Context, store parley.Store, b *httpapi.Backlog) error {
	stats, err := channel.StatsOf(ctx, store)
	if err != nil {
		return err
	}
	b.Unsent, b.Held, b.Dead = stats.Open, stats.Held, stats.Dead
	return nil
}

// providers says how those who have models are, as far as they were asked.
func (h *health) providers() map[string]string {
	words := map[string]string{"closed": "ok", "open": "it is down, and left alone for a while", "half_open": "it was down, and is tried again"}
	all := map[string]string{}
	for name, state := range h.in.runner.Breakers() {
		all[name] = words[state]
	}
	return all
}
