package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/parleytest"
	"github.com/parley-run/parley/sqlite"
)

// runs is a runner made of a function.
type runs func(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error)

func (f runs) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	return f(ctx, t)
}

// clock is set by hand.
type clock = parleytest.Clock

func newClock() *clock { return parleytest.NewClock(time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)) }

// stage is an engine on a real store, which can be stopped and started again.
type stage struct {
	t     testing.TB
	path  string
	clock *clock
	cfg   engine.Config

	store *sqlite.Store
	feed  *feed.Feed
	eng   *engine.Engine
	stop  func()
}

var (
	alice = access.NewCaller(parley.Principal{Identity: "cli:alice", User: "alice", Role: parley.RoleOwner, Via: "local"})
	bob   = access.NewCaller(parley.Principal{Identity: "web:bob", User: "bob", Role: parley.RoleUser, Via: "token"})
)

func newStage(t testing.TB, cfg engine.Config) *stage {
	t.Helper()
	s := &stage{t: t, path: filepath.Join(t.TempDir(), "parley.db"), clock: newClock(), cfg: cfg}
	if s.cfg.Clock == nil {
		s.cfg.Clock = s.clock
	}
	s.start()
	t.Cleanup(func() { s.end() })
	return s
}

// start opens the store and runs the engine until it is ready.
func (s *stage) start() {
	s.t.Helper()
	s.open()
	s.run()
}

func (s *stage) open() {
	s.t.Helper()
	var err error
	if s.store, err = sqlite.Open(s.t.Context(), s.path, sqlite.Config{}); err != nil {
		s.t.Fatal(err)
	}
	s.feed = feed.New(s.store, feed.Config{})
	s.cfg.Feed = s.feed
	if s.eng, err = engine.New(feed.Announce(s.store, s.feed), s.cfg); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) run() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.eng.Run(ctx) }()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	}
	select {
	case <-s.eng.Ready():
	case err := <-done:
		cancel()
		s.t.Fatal(err)
	}
}

// end stops the engine and closes the store.
func (s *stage) end() {
	s.t.Helper()
	if s.stop == nil {
		return
	}
	s.stop()
	s.stop = nil
	s.close()
}

func (s *stage) close() {
	s.t.Helper()
	s.feed.Close()
	if err := s.store.Close(); err != nil {
		s.t.Error(err)
	}
}

// session makes a session with participants.
func (s *stage) session(name string, kind parley.SessionType, people ...parley.IdentityID) parley.SessionID {
	s.t.Helper()
	id := parley.SessionID("cli:" + name)
	source := parley.Source{Kind: "cli", Interactive: true}
	events := []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: source}}}
	for _, p := range people {
		events = append(events, parley.NewEvent{Identity: p, Body: &parley.ParticipantChanged{Identity: p}})
	}
	if _, err := s.store.Commit(s.t.Context(), parley.Batch{At: s.clock.Now(), Sessions: []parley.SessionChange{{
		Session: id, Create: &parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: source, Type: kind}, Events: events,
	}}}); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// say makes an input.
func say(id, text string, change ...func(*parley.Input)) parley.Input {
	in := parley.Input{Ref: parley.InputRef{Origin: "test", ID: id}, Parts: []parley.Part{parley.TextPart(text)}, Mentioned: true}
	for _, f := range change {
		f(&in)
	}
	return in
}

func busy(m parley.BusyMode) func(*parley.Input) { return func(in *parley.Input) { in.Busy = m } }

// post posts.
func (s *stage) post(as access.Caller, id parley.SessionID, in parley.Input) parley.Receipt {
	s.t.Helper()
	r, err := s.eng.As(as).Post(s.t.Context(), id, in)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// follow reads a session's events until enough says so, and gives them all.
func (s *stage) follow(id parley.SessionID, enough func([]parley.Event) bool) []parley.Event {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	var all []parley.Event
	for u, err := range s.feed.Subscribe(ctx, parley.SeeAll(), id, parley.Position{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		if u.Event == nil {
			continue
		}
		all = append(all, *u.Event)
		if enough(all) {
			return all
		}
	}
	s.t.Fatalf("%s: it did not get there: %s", id, sketch(s.t, all))
	return nil
}

// turns waits for so many completed turns.
func (s *stage) turns(id parley.SessionID, n int) []parley.Event {
	s.t.Helper()
	return s.follow(id, func(all []parley.Event) bool {
		have := 0
		for _, e := range all {
			if e.Type == parley.EventTurnCompleted {
				have++
			}
		}
		return have >= n
	})
}

// has waits for an event of a type.
func (s *stage) has(id parley.SessionID, typ parley.EventType) []parley.Event {
	s.t.Helper()
	return s.follow(id, func(all []parley.Event) bool { return all[len(all)-1].Type == typ })
}

// sketch gives the messages and ends of turns, in short.
func sketch(t testing.TB, events []parley.Event) string {
	t.Helper()
	out := ""
	for _, e := range events {
		body, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch b := body.(type) {
		case *parley.Message:
			mark := map[parley.MessageRole]string{parley.MessageUser: ">", parley.MessageAssistant: "<", parley.MessageTool: "=", parley.MessageSystem: "*"}[b.Role]
			text := parley.PlainText(b.Parts)
			for _, c := range b.Calls() {
				text += "(" + c.Name + ")"
			}
			for _, p := range b.Parts {
				if p.Result != nil {
					text += p.Result.Text
				}
			}
			if b.Hidden {
				text = "!"
			}
			out += " " + mark + text
		case *parley.TurnCompleted:
			out += " |" + string(b.StopReason)
			if b.Error != nil {
				out += ":" + b.Error.Code
			}
		}
	}
	if out == "" {
		return ""
	}
	return out[1:]
}

// answers is a runner that answers with what it was last told.
func answers(t parley.TurnContext) parley.TurnEnd {
	text := ""
	for _, m := range t.Window.Turn {
		if m.Role == parley.MessageUser {
			if text != "" {
				text += "+"
			}
			text += parley.PlainText(m.Parts)
		}
	}
	return ends(t, "re:"+text)
}

// ends is a turn's end with some words.
func ends(t parley.TurnContext, words string) parley.TurnEnd {
	return parley.TurnEnd{
		Last:      &parley.Message{ID: fmt.Sprintf("%s.%d.last", t.Turn.ID, t.Turn.Attempt), Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(words)}},
		Completed: parley.TurnCompleted{StopReason: parley.StopDone, Usage: parley.Usage{InputTokens: 10, OutputTokens: 2}},
	}
}

// held is a runner whose turns say that they began and wait to be let go.
type held struct {
	began chan parley.TurnContext
	let   chan struct{}
}

func newHeld() *held {
	return &held{began: make(chan parley.TurnContext, 100), let: make(chan struct{}, 100)}
}

func (h *held) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	h.began <- t
	select {
	case <-h.let:
		return answers(t), nil
	case <-ctx.Done():
		if context.Cause(ctx) == parley.ErrCanceled { //nolint:errorlint // it is the cause itself
			end := ends(t, "half")
			end.Completed.StopReason = parley.StopAborted
			return end, nil
		}
		return parley.TurnEnd{}, &parley.SuspendError{Err: context.Cause(ctx)}
	}
}
