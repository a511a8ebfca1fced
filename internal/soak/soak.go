// Package soak says how much tests do: how often a random one repeats and where its choices start, and whether one may
// be skipped.
//
// PARLEY_SOAK=1 asks for full counts; a normal run does a part of them.
// PARLEY_COUNT asks for another count, PARLEY_SEED repeats a run. With PARLEY_NO_SKIPS=1 a test fails for want of
// something that the machine could have. The package is for tests, starts no goroutine, and imports nothing of the module.
package soak

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// On reports whether full counts are asked for.
func On() bool { return os.Getenv("PARLEY_SOAK") == "1" }

// Count gives how often a test repeats: so often in a normal run, and so often
// with full counts. PARLEY_COUNT, if it is set to a number, says otherwise.
func Count(normal, full int) int {
	if n, err := strconv.Atoi(os.Getenv("PARLEY_COUNT")); err == nil && n > 0 {
		return n
	}
	if On() {
		return full
	}
	return normal
}

// Repeat gives PARLEY_SEED, if a run is to be repeated.
func Repeat(t testing.TB) (seed uint64, ok bool) {
	t.Helper()
	text := os.Getenv("PARLEY_SEED")
	if text == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("PARLEY_SEED=%q is not a number", text)
	}
	return seed, true
}

// Seed gives the seed of a test's random choices: PARLEY_SEED, or a fresh one.
// It is logged.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, ok := Repeat(t)
	if !ok {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("PARLEY_SEED=%d", seed)
	return seed
}

// SkipOrFail is for a test that lacks what this machine could have, such as a program: it skips the test and says why.
// Nobody sees that in a run that only says ok, so with PARLEY_NO_SKIPS=1 it fails the test.
func SkipOrFail(t testing.TB, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	if os.Getenv("PARLEY_NO_SKIPS") == "1" {
		t.Fatalf("%s, and with PARLEY_NO_SKIPS=1 that is no reason to skip", why)
	} else {
		t.Skip(why)
	}
}
