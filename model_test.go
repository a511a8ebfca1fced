package parley_test

import (
	"errors"
	"math"
	"testing"

	"github.com/parley-run/parley"
)

func TestCost(t *testing.T) {
	t.Parallel()
	p := parley.Price{Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}
	tests := []struct {
		usage parley.Usage
		want  int64
	}{
		{parley.Usage{}, 0},
		{parley.Usage{InputTokens: 1}, 3},
		{parley.Usage{CacheReadTokens: 1}, 1}, // 0.3, rounded up
		{parley.Usage{InputTokens: 1000, OutputTokens: 100, CacheReadTokens: 10_000, CacheWriteTokens: 2000}, 3000 + 1500 + 3000 + 7500},
		{parley.Usage{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64}, 1 << 53},
		{parley.Usage{InputTokens: -5}, 0},
	}
	for _, test := range tests {
		if got := p.Cost(test.usage); got != test.want {
			t.Errorf("%+v costs %d, want %d", test.usage, got, test.want)
		}
	}
	if got := (parley.Price{Input: math.MaxInt64}).Cost(parley.Usage{InputTokens: math.MaxInt64}); got != 1<<53 {
		t.Errorf("too much is %d", got)
	}
}

func TestSuspendError(t *testing.T) {
	t.Parallel()
	err := error(&parley.SuspendError{After: 5, Err: parley.Errorf(parley.CodeUnavailable, "all down")})
	if !errors.Is(err, parley.ErrSuspended) || !errors.Is(err, parley.ErrUnavailable) || errors.Is(err, parley.ErrCanceled) {
		t.Errorf("%v", err)
	}
	if err.Error() != "turn suspended: all down" {
		t.Errorf("%v", err)
	}
}
