package chat_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// display is an output that can be looked at while it is written to.
type display struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newDisplay() *display { return &display{changed: make(chan struct{}, 1)} }

func (d *display) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
	return d.text.Write(b)
}

func (d *display) has(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Contains(d.text.String(), text)
}

// What begins and ends the alternate screen.
const screenOn, screenOff = "\x1b[?1049h", "\x1b[?1049l"

// running runs the program until it ends; ready is called once it has drawn something.
func running(ctx context.Context, b chat.Backend, out *display, ready func()) error {
	in, keys := io.Pipe()
	defer func() { _ = keys.Close() }() // nobody types any more
	done := make(chan error, 1)
	go func() {
		done <- chat.Run(ctx, b, chat.Config{
			Session: parley.Session{ID: "cli:a"}, In: in, Out: out, Environ: []string{"TERM=xterm-256color"}, Width: 80, Height: 24,
		})
	}()
	for {
		select {
		case <-out.changed:
			if ready != nil && out.has("A conversation with main") {
				ready()
				ready = nil
			}
		case err := <-done:
			return err
		}
	}
}

// TestRun: the program ends with its context, leaves nothing behind, and the terminal
// as it was.
func TestRun(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("cli:a")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := newDisplay()
	if err := running(ctx, f, out, stop); err != nil {
		t.Error(err)
	}
	if !out.has(screenOn) || !out.has(screenOff) {
		t.Error("the screen was not put back")
	}
	if err := chat.Run(t.Context(), f, chat.Config{}); !errors.Is(err, parley.ErrInvalid) {
		t.Errorf("without a session it says %v", err)
	}
}

// broken is a backend whose stream panics.
type broken struct {
	*fake
	when chan struct{}
}

func (b broken) Events(ctx context.Context, _ parley.SessionID, _ parley.Position) iter.Seq2[parley.Update, error] {
	return func(func(parley.Update, error) bool) {
		select {
		case <-b.when:
			panic("on purpose")
		case <-ctx.Done():
		}
	}
}

// TestRun_Panic: after a panic, also of a goroutine, the terminal is as it was.
func TestRun_Panic(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("cli:a")
	out := newDisplay()
	b := broken{f, make(chan struct{})}
	if err := running(t.Context(), b, out, func() { close(b.when) }); err == nil {
		t.Error("it is no error")
	}
	if !out.has(screenOff) {
		t.Error("the screen was not put back")
	}
}
