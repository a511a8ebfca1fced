package turn

import (
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// BreakerConfig says when a provider is left alone. A zero field is its default.
type BreakerConfig struct {
	// Failures in a row, of the kind that passes, open the breaker. 0: 5.
	Failures int
	// Pause is how long it stays open at first; each time the provider fails the
	// trial that follows, it is twice as long. 0: 5 seconds.
	Pause time.Duration
	// MaxPause is the longest pause. 0: 2 minutes.
	MaxPause time.Duration
}

// breakers keeps one breaker per provider, so that turns that wait do not all
// burn their patience on a provider that is down.
type breakers struct {
	cfg   BreakerConfig
	clock parley.Clock

	mu     sync.Mutex
	all    map[string]*breaker  // by provider; few
	paused map[string]time.Time // models that asked to be left alone, and until when
}

// breaker is closed while failures is below the limit. Once open, it lets one
// request at a time try whether the provider is back.
type breaker struct {
	failures int
	pause    time.Duration
	until    time.Time // no requests before
	trying   bool
}

func newBreakers(cfg BreakerConfig, clock parley.Clock) *breakers {
	set(&cfg.Failures, 5)
	set(&cfg.Pause, 5*time.Second)
	set(&cfg.MaxPause, 2*time.Minute)
	return &breakers{cfg: cfg, clock: clock, all: map[string]*breaker{}, paused: map[string]time.Time{}}
}

// Breakers says of each provider that was asked how its breaker stands: "closed",
// "open" while the provider is left alone, or "half_open" when the next request
// tries whether it is back.
func (r *Runner) Breakers() map[string]string { return r.breakers.states() }

func (b *breakers) states() map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	states := make(map[string]string, len(b.all))
	for provider, br := range b.all {
		switch {
		case br.failures < b.cfg.Failures:
			states[provider] = "closed"
		case now.Before(br.until):
			states[provider] = "open"
		default:
			states[provider] = "half_open"
		}
	}
	return states
}

// outcome is what a request taught about its provider.
type outcome int

const (
	unclear  outcome = iota // it was stopped before it could tell
	answered                // also if the answer was a refusal
	failed                  // in a way that passes
)

// enter asks for leave to send a request to a model. If it is not given, wait says
// how long to stay away. Who gets it reports the outcome, once; after is how long the
// model wants to be left alone, which says nothing about others of its provider.
func (b *breakers) enter(model parley.ModelInfo) (report func(o outcome, after time.Duration), wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	provider := model.Provider()
	br := b.all[provider]
	if br == nil {
		br = &breaker{}
		b.all[provider] = br
	}
	now := b.clock.Now()
	if until := b.paused[model.Name]; now.Before(until) {
		return nil, until.Sub(now), false
	}
	delete(b.paused, model.Name)
	if now.Before(br.until) {
		return nil, br.until.Sub(now), false
	}
	open := br.failures >= b.cfg.Failures
	if open && br.trying {
		return nil, b.cfg.Pause, false
	}
	br.trying = open
	return func(o outcome, after time.Duration) { b.report(br, model.Name, open, o, after) }, 0, true
}

func (b *breakers) report(br *breaker, model string, trial bool, o outcome, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		br.trying = false
	}
	switch o {
	case answered:
		br.failures, br.pause, br.until = 0, 0, time.Time{}
	case failed:
		now := b.clock.Now()
		if after > 0 {
			b.paused[model] = now.Add(min(after, b.cfg.MaxPause))
		}
		br.failures++
		// Those that were under way when it opened do not make it longer.
		if br.failures >= b.cfg.Failures && (trial || br.pause == 0) {
			br.pause = min(max(2*br.pause, b.cfg.Pause), b.cfg.MaxPause)
			br.until = now.Add(br.pause)
		}
	}
}
