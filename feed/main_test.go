package feed_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain runs the tests and finds goroutines they left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tenth gives a count, or a tenth of it in an ordinary run.
func tenth(count int) int {
	if os.Getenv("PARLEY_SOAK") == "1" {
		return count
	}
	return count / 10
}

// givenSeed gives PARLEY_SEED, if it is set.
func givenSeed(t *testing.T) (seed uint64, ok bool) {
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

// baseSeed gives the seed of a test's random choices: PARLEY_SEED, or a fresh
// one. It is logged, and PARLEY_SEED repeats it.
func baseSeed(t *testing.T) uint64 {
	t.Helper()
	seed, ok := givenSeed(t)
	if !ok {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("PARLEY_SEED=%d", seed)
	return seed
}
