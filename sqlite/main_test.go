package sqlite_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain runs the tests and finds goroutines they left behind; or, started
// again by a crash test, it is the process that gets killed.
func TestMain(m *testing.M) {
	if plan := os.Getenv(helperEnv); plan != "" {
		if err := crashHelper(plan); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// rounds says how often a random test repeats: the number for a normal run, the
// one for PARLEY_SOAK=1, or what the variable says.
func rounds(t *testing.T, variable string, normal, soak int) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n > 0 {
		return n
	}
	if os.Getenv("PARLEY_SOAK") == "1" {
		return soak
	}
	return normal
}

// baseSeed gives the seed of a test's random choices: PARLEY_SEED, or a fresh
// one. It is logged, and PARLEY_SEED repeats it.
func baseSeed(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(os.Getenv("PARLEY_SEED"), 10, 64)
	if err != nil {
		n = uint64(time.Now().UnixNano())
	}
	t.Logf("PARLEY_SEED=%d", n)
	return n
}
