package channel_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

// fate is what becomes of a call to the fake platform.
type fate int

const (
	taken    fate = iota
	astray        // nothing arrives, and the caller is told
	doubtful      // it arrives, and the caller is not told
	vanished      // it does not arrive, and the caller is not told
	declined      // refused for good
	ugly          // refused because of its looks
	limited       // refused for now
)

// note is a message in a chat of the fake platform.
type note struct {
	id, key, text, replyTo string
	buttons                [][]channel.Button
	edits                  int
	media                  string // its bytes
}

// fakeChat is a platform in memory. It remembers what it took, whoever asks.
type fakeChat struct {
	can channel.Capabilities

	mu       sync.Mutex
	last     int
	chats    map[string][]*note
	inFlight map[string]int
	overlaps int
	calls    []string // what was called, in order
	// fateFunc decides about a call; nil: everything is taken.
	fateFunc func(call, chat, text string) fate
	// hangs are chats whose calls wait until the channel is closed.
	hangs map[string]chan struct{}
}

func newFakeChat() *fakeChat {
	return &fakeChat{
		chats: map[string][]*note{}, inFlight: map[string]int{}, hangs: map[string]chan struct{}{},
		can: channel.Capabilities{MaxUnits: 1000, Units: channel.Runes, Edits: true, EditEvery: time.Second, Buttons: true, MaxMedia: 1 << 20, MaxCaption: 200},
	}
}

func (f *fakeChat) Name() string                                      { return "fake" }
func (f *fakeChat) Account() string                                   { return "" }
func (f *fakeChat) Capabilities() channel.Capabilities                { return f.can }
func (f *fakeChat) Run(ctx context.Context, _ channel.Receiver) error { <-ctx.Done(); return nil }

// enter begins a call and says what becomes of it.
func (f *fakeChat) enter(ctx context.Context, call string, to parley.Target, text string) (fate, func(), error) {
	f.mu.Lock()
	f.calls = append(f.calls, call+" "+to.Chat)
	if f.inFlight[to.Chat]++; f.inFlight[to.Chat] > 1 {
		f.overlaps++
	}
	hang := f.hangs[to.Chat]
	decide := f.fateFunc
	f.mu.Unlock()
	leave := func() {
		f.mu.Lock()
		f.inFlight[to.Chat]--
		f.mu.Unlock()
	}
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return vanished, leave, ctx.Err()
		}
	}
	if decide == nil {
		return taken, leave, nil
	}
	return decide(call, to.Chat, text), leave, nil
}

func (f fate) err() error {
	switch f {
	case astray:
		return parley.Errorf(parley.CodeUnavailable, "connection refused")
	case doubtful, vanished:
		return fmt.Errorf("connection closed: %w", parley.ErrOutcomeUnknown)
	case declined:
		return parley.Errorf(parley.CodeForbidden, "the bot was blocked")
	case ugly:
		return parley.Errorf(parley.CodeInvalid, "cannot parse entities")
	case limited:
		return &channel.RetryError{After: 7 * time.Second}
	}
	return nil
}

func (f *fakeChat) Send(ctx context.Context, m channel.Outgoing) (string, error) {
	became, leave, err := f.enter(ctx, "send", m.Target, m.Text.Text)
	defer leave()
	if err != nil {
		return "", err
	}
	if became == ugly && len(m.Text.Spans) == 0 {
		became = taken
	}
	if became != taken && became != doubtful {
		return "", became.err()
	}
	var media []byte
	if m.Media != nil {
		if media, err = io.ReadAll(m.Media.Body); err != nil {
			return "", err
		}
		if int64(len(media)) != m.Media.Size {
			return "", parley.Errorf(parley.CodeInvalid, "%d bytes came of %d", len(media), m.Media.Size)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.can.Idempotent > 0 {
		for _, n := range f.chats[m.Target.Chat] {
			if n.key == m.Key {
				return n.id, became.err()
			}
		}
	}
	f.last++
	n := &note{id: fmt.Sprint(f.last), key: m.Key, text: m.Text.Text, replyTo: m.Target.ReplyTo, buttons: m.Buttons, media: string(media)}
	f.chats[m.Target.Chat] = append(f.chats[m.Target.Chat], n)
	return n.id, became.err()
}

func (f *fakeChat) Edit(ctx context.Context, id string, m channel.Outgoing) error {
	became, leave, err := f.enter(ctx, "edit", m.Target, m.Text.Text)
	defer leave()
	if err != nil {
		return err
	}
	if became != taken && became != doubtful {
		return became.err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.chats[m.Target.Chat] {
		if n.id == id {
			n.text, n.buttons = m.Text.Text, m.Buttons
			n.edits++
			return became.err()
		}
	}
	return parley.Errorf(parley.CodeNotFound, "message to edit not found")
}

func (f *fakeChat) Typing(ctx context.Context, to parley.Target) error {
	became, leave, err := f.enter(ctx, "typing", to, "")
	leave()
	if err != nil {
		return err
	}
	return became.err()
}

// readable is a fake platform whose chats can be read back.
type readable struct{ *fakeChat }

func (r readable) Find(_ context.Context, m channel.Outgoing, _ time.Time) (string, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.chats[m.Target.Chat] {
		if n.key == m.Key {
			return n.id, true, nil
		}
	}
	return "", false, nil
}

// texts gives what a chat shows.
func (f *fakeChat) texts(chat string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for _, n := range f.chats[chat] {
		list = append(list, n.text)
	}
	return list
}

func (f *fakeChat) note(t testing.TB, chat string, i int) note {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if i >= len(f.chats[chat]) {
		t.Fatalf("chat %s has %d messages", chat, len(f.chats[chat]))
	}
	return *f.chats[chat][i]
}

func (f *fakeChat) called() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// decide sets what becomes of calls.
func (f *fakeChat) decide(fates func(call, chat, text string) fate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fateFunc = fates
}

// inTurn gives the fates one after the other to calls of a kind, then everything is
// taken.
func inTurn(call string, fates ...fate) func(string, string, string) fate {
	var mu sync.Mutex
	return func(called, _, _ string) fate {
		mu.Lock()
		defer mu.Unlock()
		if called != call || len(fates) == 0 {
			return taken
		}
		next := fates[0]
		fates = fates[1:]
		return next
	}
}

const againMark = "↻"

func isMarked(text string) bool { return strings.HasPrefix(text, againMark) }
