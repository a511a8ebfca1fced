package feed_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/sqlite"
)

const (
	home = parley.SessionID("cli:home")
	away = parley.SessionID("web:away")
	anna = parley.IdentityID("web:anna")
	bert = parley.IdentityID("web:bert")
)

var base = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a store with a feed over it, in a bubble of its own: settle waits
// until nothing moves any more.
type world struct {
	*testing.T
	path  string
	raw   parley.Store // without announcements
	store parley.Store
	feed  *feed.Feed
	cfg   feed.Config
	tails []*tail
}

// inBubble runs a test with a world.
func inBubble(t *testing.T, cfg feed.Config, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, cfg: cfg, path: filepath.Join(t.TempDir(), "parley.db")}
		w.open()
		defer w.shut()
		test(w)
	})
}

func (w *world) open() {
	w.Helper()
	store, err := sqlite.Open(w.Context(), w.path, sqlite.Config{})
	if err != nil {
		w.Fatal(err)
	}
	w.raw = store
	w.use(store)
}

// use makes a feed over a store.
func (w *world) use(store parley.Store) {
	w.feed = feed.New(store, w.cfg)
	w.store = feed.Announce(store, w.feed)
}

func (w *world) shut() {
	w.Helper()
	for _, tl := range w.tails {
		tl.stop()
	}
	w.feed.Close()
	if err := w.raw.Close(); err != nil {
		w.Error(err)
	}
}

// settle waits until nothing moves. SQLite pauses now and then, so a moment of
// the bubble's time has to pass, and it passes only when everybody waits.
func (w *world) settle() {
	<-time.After(time.Second)
	synctest.Wait()
}

func (w *world) commit(changes ...parley.SessionChange) parley.Result {
	w.Helper()
	res, err := w.store.Commit(w.Context(), parley.Batch{At: base, Sessions: changes})
	if err != nil {
		w.Fatal(err)
	}
	return res
}

// create makes a session that starts with its participants: one event for it,
// and one for each.
func (w *world) create(id parley.SessionID, people ...parley.IdentityID) {
	w.Helper()
	w.commit(creation(id, people...))
}

func creation(id parley.SessionID, people ...parley.IdentityID) parley.SessionChange {
	source := parley.Source{Kind: "cli"}
	c := parley.SessionChange{
		Session: id,
		Create:  &parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: source, Type: parley.SessionDirect},
		Events:  []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: source}}},
	}
	for _, p := range people {
		c.Events = append(c.Events, parley.NewEvent{Body: &parley.ParticipantChanged{Identity: p}})
	}
	return c
}

// add appends events and gives the seq of the last.
func (w *world) add(id parley.SessionID, bodies ...parley.EventBody) uint64 {
	w.Helper()
	return w.commit(events(id, bodies...)).Sessions[0].LastSeq
}

func events(id parley.SessionID, bodies ...parley.EventBody) parley.SessionChange {
	c := parley.SessionChange{Session: id}
	for _, b := range bodies {
		c.Events = append(c.Events, parley.NewEvent{Body: b, Turn: "t1"})
	}
	return c
}

func message(id, text string) *parley.Message {
	return &parley.Message{ID: id, Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(text)}}
}

func joins(who parley.IdentityID) *parley.ParticipantChanged {
	return &parley.ParticipantChanged{Identity: who}
}

func leaves(who parley.IdentityID) *parley.ParticipantChanged {
	return &parley.ParticipantChanged{Identity: who, Left: true}
}

// delta makes the n-th delta of a stream in home.
func delta(stream string, n int, after uint64, text string) parley.Delta {
	return parley.Delta{Session: home, Turn: "t1", Fence: 1, After: after, Stream: stream, N: n, Kind: parley.PartText, Text: text}
}

// tail is a reader that keeps what it gets.
type tail struct {
	cancel context.CancelFunc
	done   chan struct{}
	gate   chan struct{} // a paused reader takes nothing until it is closed

	mu      sync.Mutex // guards what follows
	updates []parley.Update
	err     error
}

// follow starts a reader.
func (w *world) follow(v parley.Visibility, id parley.SessionID, from parley.Position) *tail {
	tl := w.start(v, id, from, nil)
	w.settle()
	return tl
}

// pauseAfter starts a reader that stops taking after the first update.
func (w *world) pauseAfterOne(v parley.Visibility, id parley.SessionID, from parley.Position) *tail {
	tl := w.start(v, id, from, make(chan struct{}))
	w.settle()
	return tl
}

func (w *world) start(v parley.Visibility, id parley.SessionID, from parley.Position, gate chan struct{}) *tail {
	ctx, cancel := context.WithCancel(w.Context())
	tl := &tail{cancel: cancel, done: make(chan struct{}), gate: gate}
	w.tails = append(w.tails, tl)
	subscription := w.feed.Subscribe(ctx, v, id, from)
	go func() {
		defer close(tl.done)
		for u, err := range subscription {
			tl.take(u, err)
			if tl.gate != nil {
				<-tl.gate
			}
		}
	}()
	return tl
}

func (tl *tail) take(u parley.Update, err error) {
	tl.mu.Lock()
	defer tl.mu.Unlock()
	if err != nil {
		tl.err = err
		return
	}
	tl.updates = append(tl.updates, u)
}

// resume lets a paused reader take all it can get.
func (tl *tail) resume() {
	select {
	case <-tl.gate:
	default:
		close(tl.gate)
	}
}

func (tl *tail) stop() {
	tl.cancel()
	if tl.gate != nil {
		tl.resume()
	}
	<-tl.done
}

// ended reports whether the subscription is over.
func (tl *tail) ended() bool {
	select {
	case <-tl.done:
		return true
	default:
		return false
	}
}

// position is where the reader would go on from.
func (tl *tail) position() parley.Position {
	tl.mu.Lock()
	defer tl.mu.Unlock()
	if len(tl.updates) == 0 {
		return parley.Position{}
	}
	return tl.updates[len(tl.updates)-1].Position
}

// words says in short what the reader got since it was last asked.
func (tl *tail) words() string {
	tl.mu.Lock()
	defer tl.mu.Unlock()
	var words []string
	for _, u := range tl.updates {
		words = append(words, word(u))
	}
	tl.updates = slices.Clip(tl.updates[len(tl.updates):])
	if tl.err != nil {
		words = append(words, string(parley.CodeOf(tl.err)))
	}
	return strings.Join(words, " ")
}

// reply puts together what the reader got of a reply: whether it came as a snapshot or in
// deltas depends on who was faster.
func (tl *tail) reply() (text string) {
	tl.mu.Lock()
	defer tl.mu.Unlock()
	for _, u := range tl.updates {
		switch {
		case u.Snapshot != nil:
			text = textOf(u.Snapshot)
		case u.Delta != nil:
			text += u.Delta.Text
		}
	}
	return text
}

// word is an event's number, or name:n=text for a delta, and so on.
func word(u parley.Update) string {
	switch {
	case u.Event != nil:
		return fmt.Sprint(u.Event.Seq)
	case u.Delta != nil:
		return fmt.Sprintf("%s:%d=%s", u.Delta.Stream, u.Delta.N, u.Delta.Text)
	case u.Snapshot != nil:
		return fmt.Sprintf("%s:..%d=%s", u.Snapshot.Stream, u.Snapshot.N, textOf(u.Snapshot))
	}
	return string(u.Resync)
}

// textOf gives a snapshot's text, with the kinds of parts that are not text.
func textOf(s *parley.Snapshot) string {
	var b strings.Builder
	for _, p := range s.Parts {
		if p.Kind != parley.PartText {
			b.WriteString("<" + string(p.Kind) + ">")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// gets fails unless the reader got just this since it was last asked.
func (w *world) gets(who string, tl *tail, want string) {
	w.Helper()
	w.settle()
	if got := tl.words(); got != want {
		w.Errorf("%s got %q, want %q", who, got, want)
	}
}
