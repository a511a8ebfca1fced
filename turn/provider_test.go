package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/parleytest"
	"github.com/parley-run/parley/turn"
)

// This file has what a runner learns about providers from its requests, and what it
// must not take for a lesson.

var errDown = parley.Errorf(parley.CodeUnavailable, "down")

// TestSameProviderFallsBack has a model ask to be left alone: another one of the
// same provider is asked all the same.
func TestSameProviderFallsBack(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	one := plays(fails(&parley.Error{Code: parley.CodeRateLimited, Message: "slow down", RetryAfter: 7 * time.Second}))
	two := plays(says(text("two")), says(text("two again")))
	one.name, two.name = "a/big", "a/small"
	r := runner(t, turn.Agent{Models: models(one, two)}, func(c *turn.Config) { c.Clock = parleytest.NewClock(start) })
	for range 2 { // the second time it is known, and not asked
		if end := l.run(r, l.ask(parley.TextPart("Hi"))); end.Last == nil || end.Last.Model != "a/small" {
			t.Errorf("%+v", end)
		}
	}
	if len(one.asked) != 1 || len(two.asked) != 2 {
		t.Errorf("asked %d and %d times", len(one.asked), len(two.asked))
	}
}

// TestBrokenModel has the trial request to a provider that was down end in a panic
// of the model's package: the turn ends and says so, and the next one is let through.
func TestBrokenModel(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	clock := parleytest.NewClock(start)
	m := plays(
		fails(errDown),
		func(context.Context, func(parley.ModelPiece, error) bool) { panic("boom") },
		says(text("ok")),
	)
	r := runner(t, turn.Agent{Models: models(m)}, func(c *turn.Config) {
		c.Clock = clock
		c.Breaker = turn.BreakerConfig{Failures: 1, Pause: time.Minute}
	})
	id := l.ask(parley.TextPart("Go"))
	for range 2 { // the second time the breaker is open
		if _, err := r.Run(t.Context(), l.context(id)); !errors.Is(err, parley.ErrSuspended) || len(m.asked) != 1 {
			t.Fatalf("asked %d times, %v", len(m.asked), err)
		}
	}
	clock.Advance(time.Minute)
	end := l.run(r, id)
	if e := end.Completed.Error; len(m.asked) != 2 || e == nil || !strings.Contains(e.Message, "boom") || end.Completed.StopReason != parley.StopError {
		t.Fatalf("asked %d times, %+v", len(m.asked), end.Completed)
	}
	if end := l.run(r, l.ask(parley.TextPart("And now?"))); end.Last == nil || parley.PlainText(end.Last.Parts) != "ok" {
		t.Errorf("%+v", end)
	}
}

// brokenBudget cannot be read.
type brokenBudget struct{}

func (brokenBudget) Reserve(context.Context, int64) (func(int64), error) {
	return nil, parley.Errorf(parley.CodeUnavailable, "the store is busy")
}

// TestRequestsThatWereNotMade says nothing about the provider: neither that it
// answered, nor that it is down.
func TestRequestsThatWereNotMade(t *testing.T) {
	t.Parallel()
	const failures = 2
	tests := []struct {
		name   string
		budget parley.Budget
		want   string // of the run with it
	}{
		{"no money", &purse{left: 1}, "budget_exceeded"},
		{"no books", brokenBudget{}, "the store is busy"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			m := plays()
			for range failures {
				m.answers = append(m.answers, fails(errDown))
			}
			m.info.Price = &parley.Price{Input: 1_000_000, Output: 1_000_000_000}
			r := runner(t, turn.Agent{Models: models(m)}, func(c *turn.Config) {
				c.Clock = parleytest.NewClock(start)
				c.Breaker = turn.BreakerConfig{Failures: failures, Pause: time.Hour}
			})
			tc := l.context(l.ask(parley.TextPart("Go")))
			without := tc
			without.Budget = test.budget
			for made := range failures {
				for range failures { // enough to open or to close a breaker
					end, err := r.Run(t.Context(), without)
					got := ""
					if err != nil {
						got = err.Error()
					} else if e := end.Completed.Error; e != nil {
						got = e.Code
					}
					if !strings.Contains(got, test.want) || len(m.asked) != made {
						t.Fatalf("asked %d times, %+v, %v", len(m.asked), end.Completed, err)
					}
				}
				if _, err := r.Run(t.Context(), tc); !errors.Is(err, parley.ErrSuspended) || len(m.asked) != made+1 {
					t.Fatalf("asked %d times, %v", len(m.asked), err)
				}
			}
			// By now it has failed often enough in a row.
			if _, err := r.Run(t.Context(), tc); !errors.Is(err, parley.ErrSuspended) || len(m.asked) != failures {
				t.Errorf("asked %d times, %v", len(m.asked), err)
			}
		})
	}
}
