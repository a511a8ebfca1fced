package channel_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/parleytest"
	"github.com/parley-run/parley/sqlite"
)

var start = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

var (
	owner    = parley.Principal{Identity: "cli:anna", User: "anna", Role: parley.RoleOwner, Via: "local"}
	somebody = parley.Principal{Identity: "fake:7", User: "ben", Role: parley.RoleUser, Via: "channel"}
)

// world is an outbox on a real store and a fake platform. It can be cut off at any
// step, as by a kill, and started again: then the store has what was committed, and the
// platform what it took.
type world struct {
	t        testing.TB
	clock    *parleytest.Clock
	store    *sqlite.Store
	platform channel.Platform
	chat     *fakeChat
	cfg      channel.Config

	// commits decides what becomes of a commit; nil: each is made.
	commits func(parley.Batch) fate

	life   *life
	outbox *channel.Outbox
	stop   func()
	turns  int
}

// life is what one process is allowed to do: so many steps, then nothing any more.
type life struct {
	mu    sync.Mutex
	steps int // -1: no end
	taken int
	over  chan struct{}
}

// step takes one step and says whether the process still sessions.
func (l *life) step() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.over:
		return false
	default:
	}
	l.taken++
	if l.steps >= 0 && l.taken > l.steps {
		close(l.over)
		return false
	}
	return true
}

// count gives how many steps were taken.
func (l *life) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

func (l *life) dead() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

var errKilled = &parley.Error{Code: parley.CodeInternal, Message: "killed"}

// mortalStore is a store as a process sees it that can be cut off before and after
// each commit.
type mortalStore struct {
	parley.Store
	life *life
	// commits decides what becomes of a commit; nil: each is made.
	commits func(parley.Batch) fate
}

func (m *mortalStore) Commit(ctx context.Context, b parley.Batch) (parley.Result, error) {
	if !m.life.step() {
		return parley.Result{}, errKilled
	}
	became := taken
	if m.commits != nil {
		became = m.commits(b)
	}
	if became == astray || became == vanished {
		return parley.Result{}, storeError(became)
	}
	r, err := m.Store.Commit(ctx, b)
	if !m.life.step() {
		return parley.Result{}, errKilled
	}
	if became == doubtful && err == nil {
		return parley.Result{}, storeError(became)
	}
	return r, err
}

// storeError is that of a store that cannot write, or cannot say whether it did.
func storeError(f fate) error {
	err := &parley.Error{Code: parley.CodeUnavailable, Message: "the disk failed"}
	if f != astray {
		err.Err = parley.ErrOutcomeUnknown
	}
	return err
}

// mortalPlatform is a platform as such a process sees it.
type mortalPlatform struct {
	channel.Platform
	life *life
}

func (m *mortalPlatform) Send(ctx context.Context, out channel.Outgoing) (string, error) {
	if !m.life.step() {
		return "", errKilled
	}
	id, err := m.Platform.Send(ctx, out)
	if !m.life.step() {
		return "", errKilled
	}
	return id, err
}

func (m *mortalPlatform) Edit(ctx context.Context, id string, out channel.Outgoing) error {
	if !m.life.step() {
		return errKilled
	}
	err := m.Platform.Edit(ctx, id, out)
	if !m.life.step() {
		return errKilled
	}
	return err
}

type mortalFinder struct {
	*mortalPlatform
	channel.Finder
}

func newWorld(t testing.TB, platform channel.Platform, chat *fakeChat) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, clock: parleytest.NewClock(start), store: store, platform: platform, chat: chat}
	t.Cleanup(func() {
		w.end()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// oneChat makes a world with a fake platform, started.
func oneChat(t testing.TB) *world {
	t.Helper()
	f := newFakeChat()
	w := newWorld(t, f, f)
	w.begin(-1)
	return w
}

// begin starts a process that sessions for so many steps; -1: until its end.
func (w *world) begin(steps int) {
	w.t.Helper()
	w.prepare(steps)
	for !channel.Running(w.outbox) {
		<-time.After(100 * time.Microsecond)
	}
}

// prepare is begin without waiting until the process works.
func (w *world) prepare(steps int) {
	w.t.Helper()
	w.life = &life{steps: steps, over: make(chan struct{})}
	mortal := &mortalPlatform{Platform: w.platform, life: w.life}
	cfg := w.cfg
	cfg.Clock = w.clock
	cfg.Platforms = []channel.Platform{mortal}
	if finder, ok := w.platform.(channel.Finder); ok {
		cfg.Platforms = []channel.Platform{&mortalFinder{mortal, finder}}
	}
	var err error
	if w.outbox, err = channel.New(&mortalStore{Store: w.store, life: w.life, commits: w.commits}, cfg); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	outbox := w.outbox
	go func() { ran <- outbox.Run(ctx) }()
	w.stop = func() {
		cancel()
		for waiting := true; waiting; {
			select {
			case err := <-ran:
				waiting = false
				if err != nil && !errors.Is(err, errKilled) {
					w.t.Errorf("Run: %v", err)
				}
			case <-time.After(time.Millisecond):
				w.clock.Advance(time.Second) // it waits for nothing longer than that
			}
		}
	}
}

func (w *world) end() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// again ends the process and starts another.
func (w *world) again() {
	w.t.Helper()
	w.end()
	w.begin(-1)
}

// until lets time pass until something holds.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			w.t.Fatalf("it does not come to that: %s; calls: %v; shown: %q; open: %+v", what, w.chat.called(), w.chat.texts("a"), w.open())
		}
		w.clock.Advance(100 * time.Millisecond)
		<-time.After(200 * time.Microsecond) // others work
	}
}

// open gives the open deliveries.
func (w *world) open() []parley.Delivery { return w.rows("") }

func (w *world) rows(state parley.DeliveryState) []parley.Delivery {
	w.t.Helper()
	rows, err := w.store.Deliveries(context.Background(), parley.SeeAll(), parley.DeliveryQuery{State: state, Limit: parley.MaxPageSize})
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}

// everything gives all deliveries.
func (w *world) everything() (list []parley.Delivery) {
	for _, state := range []parley.DeliveryState{"", parley.DeliverySent, parley.DeliveryHeld, parley.DeliveryDead, parley.DeliveryDropped} {
		list = append(list, w.rows(state)...)
	}
	return list
}

// settled waits until nothing is open.
func (w *world) settled() {
	w.t.Helper()
	w.until("nothing is open", func() bool { return len(w.open()) == 0 || w.life.dead() })
}

// commit commits as an engine does, and says whether it did.
func (w *world) commit(b parley.Batch) bool {
	w.t.Helper()
	b.At = w.clock.Now()
	_, err := w.outbox.Store().Commit(context.Background(), b)
	if err != nil && !errors.Is(err, errKilled) && !errors.Is(err, parley.ErrUnavailable) {
		w.t.Fatalf("commit: %v", err)
	}
	return err == nil
}

func (w *world) change(c parley.SessionChange) bool {
	w.t.Helper()
	return w.commit(parley.Batch{Sessions: []parley.SessionChange{c}})
}

func target(chat string) *parley.Target {
	return &parley.Target{Channel: "fake", Chat: chat, ReplyTo: "m1"}
}

// session makes a session.
func (w *world) session(id parley.SessionID) {
	w.t.Helper()
	source := parley.Source{Kind: "channel", Platform: "fake", Interactive: true}
	_, err := w.store.Commit(w.t.Context(), parley.Batch{At: w.clock.Now(), Sessions: []parley.SessionChange{{
		Session: id, Create: &parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: source, Type: parley.SessionDirect},
		Events: []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: source}}},
	}}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// ask admits an input and starts its turn.
func (w *world) ask(id parley.SessionID, to *parley.Target) parley.TurnID {
	w.t.Helper()
	w.turns++
	turn := parley.TurnID(fmt.Sprintf("t%d", w.turns))
	in := parley.Input{
		Ref: parley.InputRef{Origin: "fake//" + string(id), ID: string(turn)}, Kind: parley.InputMessage, Parts: []parley.Part{parley.TextPart("hello")},
		Principal: somebody, State: parley.InputRunning, Turn: turn, Target: to,
	}
	w.change(parley.SessionChange{
		Session: id, Admit: []parley.Input{in}, Turns: []parley.TurnChange{{ID: turn, Start: true}},
		Events: []parley.NewEvent{{Turn: turn, Body: &parley.TurnStarted{Attempt: 1}}},
	})
	return turn
}

// says is a message of the agent.
func says(turn parley.TurnID, id, text string) parley.NewEvent {
	return parley.NewEvent{Turn: turn, Body: &parley.Message{ID: id, Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(text)}}}
}

// closing is the end of a turn.
func closing(id parley.SessionID, turn parley.TurnID, last ...parley.NewEvent) parley.SessionChange {
	return parley.SessionChange{
		Session: id, Turns: []parley.TurnChange{{ID: turn, State: new(parley.TurnDone)}},
		Events: append(last, parley.NewEvent{Turn: turn, Body: &parley.TurnCompleted{StopReason: parley.StopDone}}),
		Inputs: []parley.InputChange{{Ref: parley.InputRef{Origin: "fake//" + string(id), ID: string(turn)}, State: parley.InputDone}},
	}
}

// answer asks and answers in a chat named like the session.
func (w *world) answer(id parley.SessionID, text string) parley.TurnID {
	w.t.Helper()
	turn := w.ask(id, target(string(id)))
	w.change(closing(id, turn, says(turn, "m."+string(turn), text)))
	return turn
}

// delta is a piece of a reply.
func (w *world) delta(id parley.SessionID, turn parley.TurnID, n int, text string) {
	w.outbox.Feed(silent{}).Publish(parley.Delta{Session: id, Turn: turn, Stream: "m." + string(turn), N: n, Kind: parley.PartText, Text: text})
}

// silent is a feed that nobody reads.
type silent struct{ parley.Feed }

func (silent) Publish(parley.Delta) {}

// bodies gives the bodies of a session's events.
func (w *world) bodies(id parley.SessionID) (list []parley.EventBody) {
	w.t.Helper()
	events, err := w.store.Events(w.t.Context(), parley.SeeAll(), id, parley.EventQuery{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range events {
		body, err := e.Decode()
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, body)
	}
	return list
}

// said reports whether a session has a message.
func (w *world) said(id parley.SessionID, message string) bool {
	for _, b := range w.bodies(id) {
		if m, ok := b.(*parley.Message); ok && m.ID == message {
			return true
		}
	}
	return false
}
