package channel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/internal/soak"
	"github.com/parley-run/parley/parleytest"
)

var limits = channel.Limits{
	Overall:  channel.Rate{N: 30, Per: time.Second},
	PerChat:  channel.Rate{N: 3, Per: 3 * time.Second},
	PerGroup: channel.Rate{N: 20, Per: time.Minute},
}

func isGroup(to parley.Target) bool { return strings.HasPrefix(to.Chat, "-") }

func newLimiter(limits channel.Limits, clock parley.Clock) *channel.Limiter {
	return channel.NewLimiter(channel.Capabilities{Limits: limits, GroupFunc: isGroup}, clock)
}

func to(chat string) parley.Target { return parley.Target{Channel: "chat", Chat: chat} }

// counter is the platform's side: it counts messages when they arrive.
type counter struct {
	mu      sync.Mutex
	arrived map[string][]time.Time // by chat; "" is all of them
}

func (c *counter) count(chat string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.arrived == nil {
		c.arrived = make(map[string][]time.Time)
	}
	now := time.Now()
	c.arrived[chat] = append(c.arrived[chat], now)
	c.arrived[""] = append(c.arrived[""], now)
}

// exceeded gives where more arrived in a stretch of time, both ends included, than a
// rate allows.
func exceeded(times []time.Time, rate channel.Rate) error {
	if rate.N == 0 {
		return nil
	}
	slices.SortFunc(times, time.Time.Compare)
	for i := rate.N; i < len(times); i++ {
		if d := times[i].Sub(times[i-rate.N]); d <= rate.Per {
			return fmt.Errorf("%d messages within %s, allowed are %d in %s", rate.N+1, d, rate.N, rate.Per)
		}
	}
	return nil
}

func (c *counter) check(t *testing.T, limits channel.Limits) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for chat, times := range c.arrived {
		rates := []channel.Rate{limits.PerChat}
		switch {
		case chat == "":
			rates = []channel.Rate{limits.Overall}
		case isGroup(to(chat)):
			rates = append(rates, limits.PerGroup)
		}
		for _, rate := range rates {
			if err := exceeded(times, rate); err != nil {
				t.Errorf("chat %q: %v", chat, err)
			}
		}
	}
}

// TestLimiter_NeverExceeds has many chats send as fast as they may, over a network
// that takes its time, edits and failures and pauses among them.
func TestLimiter_NeverExceeds(t *testing.T) {
	t.Parallel()
	seed := soak.Seed(t)
	for round := range soak.Count(20, 500) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, uint64(round)))
			limits := limits
			limits.Overall = channel.Rate{N: 1 + random.IntN(30), Per: time.Duration(1+random.IntN(2000)) * time.Millisecond}
			limits.PerChat = channel.Rate{N: random.IntN(4), Per: time.Duration(1+random.IntN(3000)) * time.Millisecond}
			limits.Settle = 500 * time.Millisecond
			limiter := newLimiter(limits, nil)
			var platform counter
			var chats sync.WaitGroup
			for i := range 1 + random.IntN(20) {
				chat := fmt.Sprint(i)
				if random.IntN(3) == 0 {
					chat = "-" + chat
				}
				mine := rand.New(rand.NewPCG(seed, uint64(1000*round+i)))
				chats.Go(func() { sendMany(t, limiter, &platform, chat, mine) })
			}
			chats.Wait()
			platform.check(t, limits)
		})
	}
}

func sendMany(t *testing.T, limiter *channel.Limiter, platform *counter, chat string, random *rand.Rand) {
	t.Helper()
	for range 25 {
		ctx, cancel := context.WithCancel(t.Context())
		if random.IntN(5) == 0 {
			ctx, cancel = context.WithTimeout(t.Context(), time.Duration(random.IntN(3000))*time.Millisecond)
		}
		var done func()
		var err error
		if random.IntN(6) == 0 {
			done, _ = limiter.Try(to(chat), random.IntN(3))
		} else {
			done, err = limiter.Wait(ctx, to(chat))
		}
		cancel()
		if err != nil || done == nil {
			pass(time.Duration(random.IntN(100)) * time.Millisecond)
			continue
		}
		pass(time.Duration(random.IntN(250)) * time.Millisecond) // the way there
		platform.count(chat)
		switch random.IntN(8) {
		case 0: // the answer is lost, and nobody says so
			continue
		case 1:
			limiter.Pause(to(chat), time.Duration(random.IntN(3000))*time.Millisecond)
		case 2:
			limiter.PauseAll(time.Duration(random.IntN(300)) * time.Millisecond)
		}
		pass(time.Duration(random.IntN(250)) * time.Millisecond) // the way back
		done()
	}
}

// pass lets the bubble's time pass.
func pass(d time.Duration) { <-time.After(d) }

func TestLimiter_ManyChatsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(limits, nil)
		var platform counter
		start := time.Now()
		var chats sync.WaitGroup
		const count = 1000
		for i := range count {
			chats.Go(func() {
				done, err := limiter.Wait(t.Context(), to(fmt.Sprint(i)))
				if err != nil {
					t.Error(err)
					return
				}
				platform.count(fmt.Sprint(i))
				pass(20 * time.Millisecond)
				done()
			})
		}
		chats.Wait()
		platform.check(t, limits)
		allowed := time.Duration(count-30) * time.Second / 30
		if took := time.Since(start); took > allowed*12/10 {
			t.Errorf("took %s, the limits allow %s", took, allowed)
		}
	})
}

func TestLimiter_LimitedChatDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(limits, nil)
		limiter.Pause(to("limited"), time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		var limited sync.WaitGroup
		for range 100 {
			limited.Go(func() {
				if _, err := limiter.Wait(ctx, to("limited")); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v from a chat that pauses", err)
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		for _, chat := range []string{"a", "b", "c", "a", "b", "c"} {
			done, err := limiter.Wait(t.Context(), to(chat))
			if err != nil {
				t.Fatal(err)
			}
			done()
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("others waited %s", took)
		}
		if next := limiter.Next(to("limited")).Sub(start); next != time.Hour {
			t.Errorf("the limited chat may go on in %s, want an hour", next)
		}
		cancel()
		limited.Wait()
	})
}

// TestLimiter_HungCallsDelayNoOther has more calls hang than may be sent at once.
func TestLimiter_HungCallsDelayNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(limits, nil)
		for i := range 30 {
			if _, err := limiter.Wait(t.Context(), to(fmt.Sprint("hangs", i))); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		if _, err := limiter.Wait(t.Context(), to("other")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 2100*time.Millisecond {
			t.Errorf("another chat waited %s", took)
		}
	})
}

// TestLimiter_Fair has one chat with much to say beside others with little.
func TestLimiter_Fair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(channel.Limits{Overall: channel.Rate{N: 1, Per: time.Second}}, nil)
		var mu sync.Mutex
		var order []string
		var senders sync.WaitGroup
		send := func(chat string) {
			senders.Go(func() {
				done, err := limiter.Wait(t.Context(), to(chat))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, chat)
				mu.Unlock()
				done()
			})
			synctest.Wait()
		}
		for range 3 {
			send("loud")
		}
		pass(time.Millisecond)
		send("quiet")
		pass(time.Millisecond)
		send("later")
		senders.Wait()
		want := []string{"loud", "loud", "quiet", "later", "loud"}
		if !slices.Equal(order, want) {
			t.Errorf("served %v, want %v", order, want)
		}
	})
}

func TestLimiter_Pauses(t *testing.T) {
	t.Parallel()
	clock := parleytest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	limiter := newLimiter(limits, clock)
	served := make(chan string, 2)
	limiter.PauseAll(10 * time.Second)
	limiter.PauseAll(time.Second) // does not shorten the longer one
	for _, chat := range []string{"a", "b"} {
		go func() {
			if _, err := limiter.Wait(t.Context(), to(chat)); err == nil {
				served <- chat
			}
		}()
	}
	clock.WaitForTimer(11 * time.Second)
	clock.Advance(9 * time.Second)
	select {
	case chat := <-served:
		t.Errorf("%s was served during the pause", chat)
	default:
	}
	clock.Advance(2 * time.Second)
	got := []string{<-served, <-served}
	slices.Sort(got)
	if !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("served %v after the pause", got)
	}
}

func TestLimiter_CancelledWaitCountsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(channel.Limits{PerChat: channel.Rate{N: 1, Per: time.Second}}, nil)
		done, err := limiter.Wait(t.Context(), to("a"))
		if err != nil {
			t.Fatal(err)
		}
		done()
		done()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := limiter.Wait(ctx, to("a")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		if _, err := limiter.Wait(ctx, to("b")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v for a context that had ended, want its error", err)
		}
		pass(1100 * time.Millisecond)
		for _, chat := range []string{"a", "b"} {
			if next := limiter.Next(to(chat)); next.After(time.Now()) {
				t.Errorf("%s has to wait until %s, though nothing was sent", chat, next)
			}
		}
	})
}

func TestLimiter_TryLeavesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(channel.Limits{PerChat: channel.Rate{N: 5, Per: time.Minute}}, nil)
		took := 0
		for range 10 {
			if done, ok := limiter.Try(to("a"), 2); ok {
				took++
				done()
			}
		}
		if took != 3 {
			t.Errorf("edits took %d of 5, want 3", took)
		}
		start := time.Now()
		for range 2 {
			if _, err := limiter.Wait(t.Context(), to("a")); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("what was left had to wait %s", waited)
		}
		if _, ok := limiter.Try(to("a"), 0); ok {
			t.Error("a sixth message went out")
		}
	})
}

func TestLimiter_ForgetsIdleChats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(channel.Limits{PerChat: channel.Rate{N: 1, Per: time.Second}}, nil)
		for i := range 50_000 {
			done, err := limiter.Wait(t.Context(), to(fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			done()
			pass(time.Millisecond)
		}
		if known := limiter.Known(); known > 5000 {
			t.Errorf("knows %d chats, of which 1001 were active in the last second", known)
		}
	})
}
