package access_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/parleytest"
)

func newThrottle(cfg access.ThrottleConfig) (*access.Throttle, *parleytest.Clock) {
	clock := parleytest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	cfg.Clock = clock
	return access.NewThrottle(cfg), clock
}

// pause fails the test unless err says to come back later, and gives when.
func pause(t testing.TB, what string, err error) time.Duration {
	t.Helper()
	code(t, what, parley.CodeRateLimited, err)
	e, ok := errors.AsType[*parley.Error](err)
	if !ok || e.RetryAfter <= 0 {
		t.Fatalf("%s: %+v does not say when to come back", what, err)
	}
	return e.RetryAfter
}

func TestThrottleRequests(t *testing.T) {
	t.Parallel()
	throttle, clock := newThrottle(access.ThrottleConfig{Rate: 2, Burst: 4})
	for range 4 {
		must(t, throttle.Request("a"))
	}
	wait := pause(t, "the fifth at once", throttle.Request("a"))
	if wait > 500*time.Millisecond {
		t.Errorf("told to wait for %v at two a second", wait)
	}
	must(t, throttle.Request("b"))
	clock.Advance(wait)
	must(t, throttle.Request("a"))
	pause(t, "the next", throttle.Request("a"))
	clock.Advance(time.Hour)
	for range 4 {
		must(t, throttle.Request("a"))
	}
	pause(t, "no more than a burst is saved up", throttle.Request("a"))
	must(t, throttle.Wait("a")) // requests are no failures
}

func TestThrottleFailures(t *testing.T) {
	t.Parallel()
	throttle, clock := newThrottle(access.ThrottleConfig{Failures: 2, Pause: time.Second, MaxPause: 5 * time.Second})
	for range 2 {
		throttle.Failed("a")
		must(t, throttle.Wait("a"))
	}
	for _, seconds := range []int{1, 2, 4, 5, 5} {
		want := time.Duration(seconds) * time.Second
		throttle.Failed("a")
		got := pause(t, "after a failure", throttle.Wait("a"))
		if got > want || got < want-time.Millisecond {
			t.Errorf("told to wait for %v, want %v", got, want)
		}
		must(t, throttle.Wait("b"))
		clock.Advance(got)
		must(t, throttle.Wait("a"))
	}
	for range 100 { // a pause does not grow out of bounds
		throttle.Failed("a")
	}
	if got := pause(t, "after many", throttle.Wait("a")); got > 5*time.Second {
		t.Errorf("told to wait for %v", got)
	}
	clock.Advance(11 * time.Minute)
	throttle.Failed("a")
	must(t, throttle.Wait("a"))
}

// TestThrottleForgets: memory is bounded, and who comes again is still known.
func TestThrottleForgets(t *testing.T) {
	t.Parallel()
	throttle, _ := newThrottle(access.ThrottleConfig{Failures: 1, Pause: time.Minute, Keys: 100})
	for range 2 {
		throttle.Failed("bad")
		throttle.Failed("quiet")
	}
	for i := range 1000 {
		must(t, throttle.Request(fmt.Sprint(i)))
		pause(t, "who comes all the time", throttle.Wait("bad"))
	}
	must(t, throttle.Wait("quiet")) // so much happened since
	if n := throttle.Keys(); n > 100 {
		t.Errorf("%d keys are remembered, want 100 at most", n)
	}
}
