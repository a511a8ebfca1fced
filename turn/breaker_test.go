package turn

import (
	"maps"
	"testing"
	"time"

	"github.com/parley-run/parley"
)

// hand is a clock that is set by hand.
type hand struct{ now time.Time }

func (h *hand) Now() time.Time { return h.now }

func (h *hand) AfterFunc(time.Duration, func()) func() bool { panic("no timers here") }

func TestBreaker(t *testing.T) {
	t.Parallel()
	clock := &hand{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b := newBreakers(BreakerConfig{Failures: 3, Pause: 10 * time.Second, MaxPause: 30 * time.Second}, clock)
	try := func(want bool) func(outcome, time.Duration) {
		t.Helper()
		report, wait, ok := b.enter(parley.ModelInfo{Name: "p/m"})
		if ok != want || !ok && wait <= 0 {
			t.Fatalf("enter: %v, wait %s; want %v", ok, wait, want)
		}
		return report
	}
	for range 2 {
		try(true)(failed, 0)
	}
	try(true)(answered, 0) // counts from the start again
	for range 3 {
		try(true)(failed, 0)
	}
	try(false)
	if _, _, ok := b.enter(parley.ModelInfo{Name: "q/m"}); !ok {
		t.Error("another provider is not concerned")
	}
	for _, seconds := range []int{10, 20, 30, 30} {
		clock.now = clock.now.Add(time.Duration(seconds)*time.Second - 1)
		try(false)
		clock.now = clock.now.Add(1)
		trial := try(true)
		try(false) // one at a time
		trial(failed, 0)
	}
	clock.now = clock.now.Add(30 * time.Second)
	try(true)(unclear, 0) // somebody stopped it: the next one tries
	try(true)(answered, 0)
	try(true)(failed, 0)
	try(true)(answered, 0)
	// A provider that says how long is left alone so long, within bounds.
	try(true)(failed, 20*time.Second)
	clock.now = clock.now.Add(19 * time.Second)
	try(false)
	clock.now = clock.now.Add(time.Second)
	other, _, ok := b.enter(parley.ModelInfo{Name: "p/other"})
	if !ok {
		t.Fatal("another model of the provider is not concerned")
	}
	other(answered, 0)
	try(true)(failed, time.Hour)
	clock.now = clock.now.Add(30 * time.Second)
	try(true)(answered, 0)
}

// TestBreakerOpensOnce has requests under way when the breaker opens: their
// failures do not make the pause longer.
func TestBreakerOpensOnce(t *testing.T) {
	t.Parallel()
	clock := &hand{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b := newBreakers(BreakerConfig{Failures: 2, Pause: 10 * time.Second}, clock)
	var reports []func(outcome, time.Duration)
	for range 5 {
		report, _, ok := b.enter(parley.ModelInfo{Name: "p/m"})
		if !ok {
			t.Fatal("closed too early")
		}
		reports = append(reports, report)
	}
	for _, report := range reports {
		report(failed, 0)
	}
	if _, wait, ok := b.enter(parley.ModelInfo{Name: "p/m"}); ok || wait != 10*time.Second {
		t.Errorf("%v, wait %s", ok, wait)
	}
}

func TestBreakerStates(t *testing.T) {
	t.Parallel()
	clock := &hand{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b := newBreakers(BreakerConfig{Failures: 2, Pause: 10 * time.Second}, clock)
	try := func(model string) func(outcome, time.Duration) {
		t.Helper()
		report, _, ok := b.enter(parley.ModelInfo{Name: model})
		if !ok {
			t.Fatalf("%s is left alone", model)
		}
		return report
	}
	want := func(states map[string]string) {
		t.Helper()
		if got := b.states(); !maps.Equal(got, states) {
			t.Errorf("got %v, want %v", got, states)
		}
	}
	want(map[string]string{})
	try("q/m")(answered, 0)
	try("p/m")(failed, 0)
	want(map[string]string{"p": "closed", "q": "closed"})
	try("p/m")(failed, 0)
	want(map[string]string{"p": "open", "q": "closed"})
	clock.now = clock.now.Add(10 * time.Second)
	want(map[string]string{"p": "half_open", "q": "closed"})
	trial := try("p/m")
	want(map[string]string{"p": "half_open", "q": "closed"})
	trial(failed, 0)
	want(map[string]string{"p": "open", "q": "closed"})
	clock.now = clock.now.Add(20 * time.Second)
	try("p/other")(answered, 0)
	want(map[string]string{"p": "closed", "q": "closed"})
}
