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

	mu  sync.Mutex
	all map[string]*breaker // by provider; few
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
	return &breakers{cfg: cfg, clock: clock, all: map[string]*breaker{}}
}

// outcome is what a request taught about its provider.
type outcome int

const (
	unclear  outcome = iota // it was stopped before it could tell
	answered                // also if the answer was a refusal
	failed                  // in a way that passes
)

// enter asks for leave to send a request. If it is not given, wait says how long
// the breaker stays open. Who gets it reports the outcome, once; after is how
// long the provider wants to be left alone.
func (b *breakers) enter(provider string) (report func(o outcome, after time.Duration), wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	br := b.all[provider]
	if br == nil {
		br = &breaker{}
		b.all[provider] = br
	}
	now := b.clock.Now()
	if now.Before(br.until) {
		return nil, br.until.Sub(now), false
	}
	open := br.failures >= b.cfg.Failures
	if open && br.trying {
		return nil, b.cfg.Pause, false
	}
	br.trying = open
	return func(o outcome, after time.Duration) { b.report(br, open, o, after) }, 0, true
}

func (b *breakers) report(br *breaker, trial bool, o outcome, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		br.trying = false
	}
	switch o {
	case answered:
		br.failures, br.pause, br.until = 0, 0, time.Time{}
	case failed:
		br.failures++
		var pause time.Duration
		if br.failures >= b.cfg.Failures {
			// Those that were under way when it opened do not make it longer.
			if trial || br.pause == 0 {
				br.pause = min(max(2*br.pause, b.cfg.Pause), b.cfg.MaxPause)
			}
			pause = br.pause
		}
		if until := b.clock.Now().Add(max(pause, min(after, b.cfg.MaxPause))); until.After(br.until) {
			br.until = until
		}
	}
}
