package soak_test

import (
	"fmt"
	"testing"

	"github.com/parley-run/parley/internal/soak"
)

// recorded is a test that says what became of it, and goes on.
type recorded struct {
	testing.TB
	outcome string
}

func (r *recorded) Helper()          {}
func (r *recorded) Skip(args ...any) { r.outcome += "skipped: " + fmt.Sprint(args...) }
func (r *recorded) Fatalf(format string, args ...any) {
	r.outcome += "failed: " + fmt.Sprintf(format, args...)
}

func TestSkipOrFail(t *testing.T) {
	for value, want := range map[string]string{
		"":  "skipped: there is no tmux",
		"0": "skipped: there is no tmux",
		"1": "failed: there is no tmux, and with PARLEY_NO_SKIPS=1 that is no reason to skip",
	} {
		t.Setenv("PARLEY_NO_SKIPS", value)
		r := &recorded{TB: t}
		soak.SkipOrFail(r, "there is no %s", "tmux")
		if r.outcome != want {
			t.Errorf("PARLEY_NO_SKIPS=%q: %q, want %q", value, r.outcome, want)
		}
	}
}
