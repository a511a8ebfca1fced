package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/lifecycle"
	"github.com/parley-run/parley/route"
)

// entrance is whoever runs turns, for who looks for a session to talk in. What it does
// is done as the owner.
type entrance interface {
	parley.Client
	// Enter gives the terminal's own conversation with an agent, main if it is not
	// named. Anew starts it over; the one before is kept.
	Enter(ctx context.Context, agent string, anew bool) (parley.Session, error)
	// Start makes a session with an id.
	Start(ctx context.Context, id parley.SessionID, agent string) (parley.Session, error)
	// Close ends it.
	Close() error
}

// host is whoever runs the turns that chat talks to: the engine of this process, or a
// daemon.
type host interface {
	entrance
	// Approve answers whether a call may run.
	Approve(ctx context.Context, id parley.SessionID, call parley.CallID, allow bool) error
}

// host gives the daemon that runs on the data folder, or else an engine of this
// process. A signal ends the wait for it.
func (a *app) host(ctx context.Context, signals <-chan struct{}) (host, error) {
	running, err := a.daemon()
	if err != nil {
		return nil, err
	}
	if running != nil {
		return a.remoteHost(*running)
	}
	return a.localHost(ctx, signals, a.err)
}

// cliChannel is the channel of terminals, in keys and ids.
const cliChannel = "cli"

// terminalInbound is what routing takes for the terminal of somebody.
func terminalInbound(p parley.Principal) parley.Inbound {
	_, name, _ := strings.Cut(string(p.Identity), ":")
	return parley.Inbound{Channel: cliChannel, ChatType: "direct", ChatID: name, Sender: parley.Sender{ID: name}}
}

// localHost is an engine of this process.
type localHost struct {
	parley.Client

	in     *installation
	caller access.Caller
	handle *engine.Handle
	stop   context.CancelFunc
	done   <-chan error
}

// chatDrain is how long turns may still take when a chat ends: its own is over by
// then, unless somebody left it.
const chatDrain = 3 * time.Second

// localHost starts an engine, and waits until it is settled. What it warns of is
// written to warnings.
func (a *app) localHost(ctx context.Context, signals <-chan struct{}, warnings io.Writer) (_ *localHost, err error) {
	log := slog.New(slog.NewTextHandler(warnings, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: withoutTime}))
	in, err := a.install(ctx, installOptions{Log: log, Drain: chatDrain})
	if err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- in.run(run) }()
	h := &localHost{in: in, stop: stop, done: done}
	select {
	case <-in.engine.Ready():
	case <-signals:
		return nil, errors.Join(errLeft, h.Close())
	case err := <-done:
		done <- nil // for Close
		return nil, errors.Join(err, h.Close())
	}
	if h.caller, err = in.people.Local(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.handle = in.engine.As(h.caller)
	h.Client = h.handle
	return h, nil
}

func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// Enter implements [host].
func (h *localHost) Enter(ctx context.Context, agent string, anew bool) (parley.Session, error) {
	p := h.caller.Principal()
	to, err := h.in.router().Resolve(route.Request{Inbound: terminalInbound(p), Agent: agent, User: p.User, Role: p.Role})
	if err != nil {
		return parley.Session{}, err
	}
	start, err := h.session(to.Agent)
	if err != nil {
		return parley.Session{}, err
	}
	opened, err := h.handle.Open(ctx, engine.Opening{To: &to, Session: start, Namespace: cliChannel})
	if err != nil || opened.Created || !anew {
		return opened.Session, err
	}
	return h.handle.Reset(ctx, opened.Session.ID, engine.Anew{Carry: lifecycle.CarryNone})
}

// Start implements [host].
func (h *localHost) Start(ctx context.Context, id parley.SessionID, agent string) (parley.Session, error) {
	start, err := h.session(agent)
	if err != nil {
		return parley.Session{}, err
	}
	opened, err := h.handle.Open(ctx, engine.Opening{ID: id, Session: start})
	return opened.Session, err
}

// session is how a session starts.
func (h *localHost) session(agent string) (parley.NewSession, error) {
	snapshot, _, err := h.in.start(agent)
	return parley.NewSession{
		Agent: snapshot, Type: parley.SessionDirect, Source: *terminalSource(),
	}, err
}

// Approve implements [host].
func (h *localHost) Approve(ctx context.Context, id parley.SessionID, call parley.CallID, allow bool) error {
	return h.handle.Approve(ctx, id, call, allow, engine.RememberOnce)
}

// Close lets turns end, and closes the store.
func (h *localHost) Close() error {
	h.stop()
	return errors.Join(<-h.done, h.in.close())
}
