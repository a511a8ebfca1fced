package channel_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
)

func TestPaced(t *testing.T) {
	t.Parallel()
	f := newFakeChat()
	f.can.Limits.PerChat = channel.Rate{N: 1, Per: 10 * time.Second}
	w := newWorld(t, f, f)
	w.begin(-1)
	w.session("fake:a")
	w.answer("fake:a", "reply")
	w.settled()
	p := w.outbox.Paced(f)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	m := channel.Outgoing{Target: parley.Target{Channel: "fake", Chat: "fake:a"}, Text: channel.Plain("aside")}
	if _, err := p.Send(ctx, m); err == nil {
		t.Fatal("it did not wait for the limit of the chat")
	}
	sent := make(chan error, 1)
	go func() {
		_, err := p.Send(t.Context(), m)
		sent <- err
	}()
	w.until("it is sent", func() bool { return len(f.texts("fake:a")) == 2 })
	if err := <-sent; err != nil || !slices.Equal(f.texts("fake:a"), []string{"reply", "aside"}) {
		t.Errorf("the chat shows %q, %v", f.texts("fake:a"), err)
	}
}

// What a platform refuses for now holds up deliveries as well.
func TestPaced_RetryAfter(t *testing.T) {
	t.Parallel()
	w := oneChat(t)
	w.session("fake:a")
	w.chat.decide(func(string, string, string) fate { return limited })
	to := parley.Target{Channel: "fake", Chat: "fake:a"}
	if _, err := w.outbox.Paced(w.chat).Send(t.Context(), channel.Outgoing{Target: to, Text: channel.Plain("aside")}); err == nil {
		t.Fatal("it was taken")
	}
	w.chat.decide(nil)
	refused := w.clock.Now()
	w.answer("fake:a", "reply")
	w.settled()
	if waited := w.clock.Now().Sub(refused); waited < 7*time.Second {
		t.Errorf("the reply went out after %s", waited)
	}
}

func TestPaced_Unknown(t *testing.T) {
	t.Parallel()
	o, err := channel.New(nil, channel.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if f := newFakeChat(); o.Paced(f) != channel.Platform(f) {
		t.Error("a platform that is not the outbox's is another")
	}
}
