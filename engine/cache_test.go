package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

// shop counts what is made and closed.
type shop struct {
	mu     sync.Mutex
	made   int
	closed []int
	clock  *clock
	cache  *engine.Cache[int]
}

func newShop(size int) *shop {
	s := &shop{clock: newClock()}
	s.cache = engine.NewCache(engine.CacheConfig[int]{Size: size, Clock: s.clock, CloseFunc: func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed = append(s.closed, n)
	}})
	return s
}

func (s *shop) use(t *testing.T, id parley.SessionID, version string) (int, func()) {
	t.Helper()
	n, release, err := s.cache.Use(t.Context(), id, version, func(context.Context) (int, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made++
		return s.made, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, release
}

func (s *shop) check(t *testing.T, made int, closed ...int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made != made || fmt.Sprint(s.closed) != fmt.Sprint(closed) {
		t.Errorf("made %d and closed %v, want %d and %v", s.made, s.closed, made, closed)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	s := newShop(2)
	one, release := s.use(t, "cli:a", "v1")
	if again, done := s.use(t, "cli:a", "v1"); again != one {
		t.Errorf("%d is not %d", again, one)
	} else {
		done()
	}
	s.check(t, 1)
	// Another configuration: the old value goes when its turn is done with it.
	two, releaseTwo := s.use(t, "cli:a", "v2")
	if two == one {
		t.Error("the old configuration was used")
	}
	s.check(t, 2)
	release()
	s.check(t, 2, 1)
	// The one used longest ago goes, unless it is in use.
	_, releaseThree := s.use(t, "cli:b", "v1")
	releaseThree()
	_, releaseFour := s.use(t, "cli:c", "v1")
	releaseFour()
	s.check(t, 4, 1, 3)
	releaseTwo()
	releaseTwo() // once
	s.cache.Forget("cli:a")
	s.check(t, 4, 1, 3, 2)
	// After an hour without a use.
	s.clock.Advance(59 * time.Minute)
	s.check(t, 4, 1, 3, 2)
	s.clock.WaitForTimer(16 * time.Minute)
	s.clock.Advance(16 * time.Minute)
	s.check(t, 4, 1, 3, 2, 4)
	_, releaseFive := s.use(t, "cli:d", "v1")
	s.cache.Close()
	s.check(t, 5, 1, 3, 2, 4)
	releaseFive()
	s.check(t, 5, 1, 3, 2, 4, 5)
	_, releaseSix := s.use(t, "cli:d", "v1")
	releaseSix()
	s.check(t, 6, 1, 3, 2, 4, 5, 6)
}

// TestCacheMakesOnce has many turns ask for the same value.
func TestCacheMakesOnce(t *testing.T) {
	t.Parallel()
	s := newShop(10)
	var work sync.WaitGroup
	for i := range 200 {
		work.Go(func() {
			_, release := s.use(t, parley.SessionID(fmt.Sprintf("cli:%d", i%10)), "v")
			release()
		})
	}
	work.Wait()
	s.check(t, 10)
	s.cache.Close()
	if len(s.closed) != 10 {
		t.Errorf("closed %v", s.closed)
	}
}

func TestCacheKeepsNoErrors(t *testing.T) {
	t.Parallel()
	s := newShop(10)
	boom := errors.New("boom")
	_, _, err := s.cache.Use(t.Context(), "cli:a", "v", func(context.Context) (int, error) { return 0, boom })
	if !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	_, release := s.use(t, "cli:a", "v")
	release()
	s.cache.Close()
	s.check(t, 1, 1)
}
