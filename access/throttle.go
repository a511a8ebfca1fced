package access

import (
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// ThrottleConfig says how often is too often.
type ThrottleConfig struct {
	Clock parley.Clock // nil: the machine's
	// Rate is how many requests a second a key may make on average, and Burst how
	// many at once; 0: 100 and 200.
	Rate  float64
	Burst int
	// Failures is how many a key may make before it has to wait; 0: 5. The first
	// pause is Pause, and each failure doubles it, up to MaxPause; 0: a second and a
	// minute. They are forgotten after ten minutes without one.
	Failures        int
	Pause, MaxPause time.Duration
	// Keys is how many keys are remembered, at most; 0: 100,000. If there are more,
	// those go that were not seen for longest.
	Keys int
}

// Throttle slows down who asks too often, or fails too often, each by a key such as
// the id of a token or a network address. It has a fixed bound of memory, and may be
// used from many goroutines.
type Throttle struct {
	cfg ThrottleConfig

	mu sync.Mutex
	// Keys that were seen of late, and those before them. When the first are half of
	// what is allowed, they take the place of the second.
	recent, older map[string]*tries
}

// tries is what is known about a key.
type tries struct {
	requests bucket
	failures int
	failedAt time.Time
	until    time.Time // nothing is let through before
}

// forgetAfter is how long failures count.
const forgetAfter = 10 * time.Minute

// NewThrottle makes a throttle that has seen nobody.
func NewThrottle(cfg ThrottleConfig) *Throttle {
	if cfg.Clock == nil {
		cfg.Clock = parley.SystemClock{}
	}
	if cfg.Rate == 0 {
		cfg.Rate = 100
	}
	if cfg.Burst == 0 {
		cfg.Burst = 200
	}
	if cfg.Failures == 0 {
		cfg.Failures = 5
	}
	if cfg.Pause == 0 {
		cfg.Pause = time.Second
	}
	if cfg.MaxPause == 0 {
		cfg.MaxPause = time.Minute
	}
	if cfg.Keys == 0 {
		cfg.Keys = 100_000
	}
	return &Throttle{cfg: cfg, recent: map[string]*tries{}}
}

// Request counts a request. It is [parley.CodeRateLimited], and says when to come
// back, if there were too many.
func (t *Throttle) Request(key string) error {
	now := t.cfg.Clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait := t.of(key).requests.take(now, t.cfg.Rate, t.cfg.Burst); wait > 0 {
		return tooOften("there are too many requests", wait)
	}
	return nil
}

// Wait is [parley.CodeRateLimited], and says when to come back, while the key has to
// wait because of its failures.
func (t *Throttle) Wait(key string) error {
	now := t.cfg.Clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of(key).wait(now)
}

// Failed counts a failure.
func (t *Throttle) Failed(key string) {
	now := t.cfg.Clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(key).fail(now, &t.cfg)
}

// attempt is [Throttle.Wait], and counts a failure until it is taken back: so many
// attempts at the same time are not more than one after the other.
func (t *Throttle) attempt(key string) error {
	now := t.cfg.Clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.of(key)
	if err := k.wait(now); err != nil {
		return err
	}
	k.fail(now, &t.cfg)
	return nil
}

// takeBack takes back an attempt that was no failure.
func (t *Throttle) takeBack(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.of(key); k.failures > 0 {
		k.failures--
		k.until = time.Time{}
	}
}

// of finds what is known about a key. The lock is held.
func (t *Throttle) of(key string) *tries {
	if k, ok := t.recent[key]; ok {
		return k
	}
	k, ok := t.older[key]
	if !ok {
		k = &tries{}
	}
	if len(t.recent) >= max(t.cfg.Keys/2, 1) {
		t.older, t.recent = t.recent, map[string]*tries{}
	}
	t.recent[key] = k
	return k
}

func (k *tries) wait(now time.Time) error {
	if wait := k.until.Sub(now); wait > 0 {
		return tooOften("there were too many failed attempts", wait)
	}
	return nil
}

func (k *tries) fail(now time.Time, cfg *ThrottleConfig) {
	if now.Sub(k.failedAt) > forgetAfter {
		k.failures = 0
	}
	k.failures++
	k.failedAt = now
	over := k.failures - cfg.Failures
	if over <= 0 {
		return
	}
	pause := cfg.MaxPause
	if over < 32 { // else it is beyond any pause
		pause = min(cfg.Pause<<(over-1), cfg.MaxPause)
	}
	k.until = now.Add(pause)
}

// bucket lets through so many at once, and so many a second thereafter. The zero
// value is full.
type bucket struct {
	taken float64
	at    time.Time
}

// take takes one, or says how long it takes until there is one again.
func (b *bucket) take(now time.Time, rate float64, burst int) (wait time.Duration) {
	b.refill(now, rate)
	if over := b.taken + 1 - float64(burst); over > 0 {
		return max(time.Duration(over/rate*float64(time.Second)), time.Nanosecond)
	}
	b.taken++
	return 0
}

// putBack gives back one that was taken.
func (b *bucket) putBack() { b.taken = max(b.taken-1, 0) }

func (b *bucket) refill(now time.Time, rate float64) {
	if passed := now.Sub(b.at); passed > 0 {
		b.taken = max(b.taken-passed.Seconds()*rate, 0)
		b.at = now
	}
}

func tooOften(what string, wait time.Duration) error {
	err := parley.Errorf(parley.CodeRateLimited, "%s; try again in %s", what, wait.Round(time.Second)+time.Second)
	err.RetryAfter = wait
	return err
}
