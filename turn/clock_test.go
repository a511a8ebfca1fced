package turn_test

import (
	"slices"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// manual is a clock that is set by hand.
type manual struct {
	mu     sync.Mutex
	now    time.Time
	timers []*manualTimer
	more   sync.Cond // a timer was set
}

type manualTimer struct {
	at time.Time
	f  func()
}

func newManual() *manual {
	c := &manual{now: start}
	c.more.L = &c.mu
	return c
}

func (c *manual) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manual) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &manualTimer{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	c.more.Broadcast()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.timers, t)
		if i >= 0 {
			c.timers = slices.Delete(c.timers, i, i+1)
		}
		return i >= 0
	}
}

// pass lets time pass, and calls what is due.
func (c *manual) pass(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []*manualTimer
	c.timers = slices.DeleteFunc(c.timers, func(t *manualTimer) bool {
		if t.at.After(c.now) {
			return false
		}
		due = append(due, t)
		return true
	})
	c.mu.Unlock()
	for _, t := range due {
		t.f()
	}
}

// wait waits until a timer runs that is due within d.
func (c *manual) wait(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !slices.ContainsFunc(c.timers, func(t *manualTimer) bool { return !t.at.After(c.now.Add(d)) }) {
		c.more.Wait()
	}
}

// resultsOf gives the tool results in messages, in their order.
func resultsOf(messages []parley.Message) []parley.ToolResult {
	var all []parley.ToolResult
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				all = append(all, *p.Result)
			}
		}
	}
	return all
}

// callStates gives how watchers saw each call end, in the order of their starts;
// empty: it runs for ever.
func (l *lab) callStates() []parley.CallState {
	l.t.Helper()
	var states []parley.CallState
	at := map[parley.CallID]int{}
	for _, e := range l.events() {
		body, err := e.Decode()
		if err != nil {
			l.t.Fatal(err)
		}
		switch b := body.(type) {
		case *parley.ToolStarted:
			at[b.Call] = len(states)
			states = append(states, "")
		case *parley.ToolCompleted:
			i, ok := at[b.Call]
			if !ok || states[i] != "" {
				l.t.Fatalf("call %s ends, and did not run", b.Call)
			}
			states[i] = b.State
		}
	}
	return states
}
