package parleytest

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/model/scripted"
	"github.com/parley-run/parley/sqlite"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/turn"
)

// Config is what a [World] is made of. The zero value is an engine that answers with
// scripted/demo.
type Config struct {
	// Script is what the model says, as a script of package scripted; empty: the
	// demo's.
	Script string
	// Model takes the place of the scripted one.
	Model parley.Model
	// Tools are those of the agent, by group; the policy is the default one.
	Tools []tool.Group
	// Engine is how the engine works. Its runner, clock and feed are set here if
	// they are not.
	Engine engine.Config
}

// World is an engine that runs, and what is around it.
type World struct {
	Store  parley.Store
	Feed   *feed.Feed
	Engine *engine.Engine
	// Clock is the world's time, unless the engine was given another clock.
	Clock *Clock
	// Owner may do everything.
	Owner access.Caller

	t    testing.TB
	said atomic.Int64
}

// patience is how long a test waits for what should happen at once.
const patience = time.Minute

// New makes a world, and ends it with the test.
func New(t testing.TB, cfg Config) *World {
	t.Helper()
	raw, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := &World{
		t: t, Feed: feed.New(raw, feed.Config{}), Clock: NewClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)),
		Owner: access.NewCaller(parley.Principal{Identity: "test:owner", User: "owner", Role: parley.RoleOwner, Via: "local"}),
	}
	w.Store = feed.Announce(raw, w.Feed)
	if cfg.Engine.Clock == nil {
		cfg.Engine.Clock = w.Clock
	}
	if cfg.Engine.Feed == nil {
		cfg.Engine.Feed = w.Feed
	}
	if cfg.Engine.Runner == nil {
		cfg.Engine.Runner = newRunner(t, cfg)
	}
	if w.Engine, err = engine.New(w.Store, cfg.Engine); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Engine.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the engine ended with %v", err)
		}
		w.Feed.Close()
		if err := raw.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	select {
	case <-w.Engine.Ready():
	case err := <-done:
		done <- nil
		t.Fatalf("the engine did not start: %v", err)
	}
	return w
}

func newRunner(t testing.TB, cfg Config) *turn.Runner {
	t.Helper()
	model := cfg.Model
	if model == nil {
		var script *scripted.Script
		var err error
		if cfg.Script != "" {
			if script, err = scripted.Parse("script", []byte(cfg.Script)); err != nil {
				t.Fatal(err)
			}
		}
		if model, err = scripted.New(scripted.Config{Script: script, Clock: cfg.Engine.Clock}); err != nil {
			t.Fatal(err)
		}
	}
	registry, err := tool.New(cfg.Tools, tool.Config{})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := turn.New(turn.Config{Clock: cfg.Engine.Clock, AgentFunc: func(_ context.Context, tc parley.TurnContext) (turn.Agent, error) {
		set, err := registry.For(tc.Principal, nil)
		return turn.Agent{Models: []parley.Model{model}, Tools: set}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return runner
}

// Session opens a session of the owner with a name, and makes it if there is none.
func (w *World) Session(name string) parley.SessionID {
	w.t.Helper()
	opened, err := w.Engine.As(w.Owner).Open(w.t.Context(), engine.Opening{
		ID: parley.SessionID("test:" + name),
		Session: parley.NewSession{
			Agent: parley.AgentSnapshot{Name: "main"}, Type: parley.SessionDirect, Source: parley.Source{Kind: "test", Interactive: true},
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return opened.Session.ID
}

// Say posts a text as the owner, waits for the turn's end, and gives the answer.
func (w *World) Say(id parley.SessionID, text string) string {
	w.t.Helper()
	receipt := w.Post(id, text)
	return w.Answer(id, receipt)
}

// Post posts a text as the owner.
func (w *World) Post(id parley.SessionID, text string) parley.Receipt {
	w.t.Helper()
	receipt, err := w.Engine.As(w.Owner).Post(w.t.Context(), id, parley.Input{
		Ref: parley.InputRef{Origin: "test", ID: fmt.Sprint(w.said.Add(1))}, Parts: []parley.Part{parley.TextPart(text)}, Mentioned: true,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return receipt
}

// Answer waits for the end of the turn that works on an input, and gives what the
// agent said last, or what went wrong.
func (w *World) Answer(id parley.SessionID, receipt parley.Receipt) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	turn, answer := receipt.Turn, ""
	for update, err := range w.Feed.Subscribe(ctx, parley.SeeAll(), id, parley.Position{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		if update.Event == nil {
			continue
		}
		body, err := update.Event.Decode()
		if err != nil {
			w.t.Fatal(err)
		}
		switch b := body.(type) {
		case *parley.Message:
			for _, in := range b.Inputs {
				if in.Origin == "test" && in.ID == receipt.ID {
					turn = update.Event.Turn // it had to wait for it
				}
			}
			if b.Role == parley.MessageAssistant && update.Event.Turn == turn {
				answer = parley.PlainText(b.Parts)
			}
		case *parley.TurnCompleted:
			if turn != "" && update.Event.Turn == turn {
				if b.Error != nil {
					return b.Error.Message
				}
				return answer
			}
		}
	}
	w.t.Fatalf("input %s was not answered in time", receipt.ID)
	return ""
}
